import MartletEngine
import MartletValues

/// The deletions of the open write that a rule denies. The write may still remove the reason for a denial. If a denial
/// remains at the end, the write fails.
struct DeletionDenials {
    typealias Row = RowDeletion.Row

    /// For each holder and property, the first target that was deleted although `onDelete` denies it.
    private var holders: [Row: [PropertyIndex: String]] = [:]
    /// For each target, the holder that was deleted although its `deleteRule` denies that while it has targets.
    private var targets: [Row: (holder: String, property: String)] = [:]
    private(set) var isEmpty = true

    mutating func deny(_ target: String, by holder: Row, _ property: PropertyIndex) {
        isEmpty = false
        if holders[holder]?[property] == nil { holders[holder, default: [:]][property] = target }
    }

    mutating func deny(_ holder: String, _ property: String, by target: Row) {
        isEmpty = false
        if targets[target] == nil { targets[target] = (holder, property) }
    }

    /// Removes the denials of a deleted row, which is neither a holder nor a target any more.
    mutating func rowWasDeleted(_ row: Row) {
        if isEmpty { return }
        #if MARTLET_SEEDED_BUGS
            if SeededBug.isOn(.denialOfDeleted) { return }
        #endif
        holders[row] = nil
        targets[row] = nil
        isEmpty = holders.isEmpty && targets.isEmpty
    }

    /// Removes the denials of a property to which the program has assigned a value.
    mutating func propertyWasAssigned(_ property: PropertyIndex, of row: Row) {
        if isEmpty { return }
        holders[row]?[property] = nil
        if holders[row]?.isEmpty == true { holders[row] = nil }
        isEmpty = holders.isEmpty && targets.isEmpty
    }

    /// The denial by `onDelete` with the lowest row and property, so that messages do not vary.
    var firstHolder: (row: Row, property: PropertyIndex, target: String)? {
        guard let (row, properties) = holders.min(by: { Self.isBefore($0.key, $1.key) }),
            let (property, target) = properties.min(by: { $0.key < $1.key })
        else { return nil }
        return (row, property, target)
    }

    /// The denial by `deleteRule` with the lowest row.
    var firstTarget: (row: Row, holder: String, property: String)? {
        targets.min { Self.isBefore($0.key, $1.key) }.map { ($0.key, $0.value.holder, $0.value.property) }
    }

    private static func isBefore(_ left: Row, _ right: Row) -> Bool {
        (left.table, left.key) < (right.table, right.key)
    }
}

extension RealmContext {
    /// Throws if a rule denies a deletion of the open write.
    func requireAllowedDeletions() throws(EngineError) {
        if pending.denials.isEmpty { return }
        if let denial = pending.denials.firstHolder {
            let table = table(denial.row.table)
            let property = table.type.properties[denial.property]
            throw deletionDenied(
                "\(denial.target) cannot be deleted while \(name(of: denial.row)) has it in "
                    + "'\(table.type.name).\(property.name)', which has 'onDelete: deny'; nothing of the write was kept; "
                    + "take it out of there, or delete its holder, in the same write")
        }
        if let denial = pending.denials.firstTarget {
            throw deletionDenied(
                "\(denial.holder) cannot be deleted while it has \(name(of: denial.row)) in '\(denial.property)', "
                    + "which has 'deleteRule: deny'; nothing of the write was kept; take it out of there first, or delete "
                    + "it in the same write")
        }
    }

    private func deletionDenied(_ message: String) -> EngineError {
        EngineError(.deletionDenied, path: coordinator.path, message)
    }

    /// The name of a row in messages.
    func name(of row: RowDeletion.Row) -> String { read { try schema[row.table].name(of: row.key, $0) } }
}
