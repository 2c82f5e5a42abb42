package import MartletValues

/// The denials of deletions in the open write. A deletion is denied by `onDelete: deny` or `deleteRule: deny`. Later
/// changes of the same write can remove a denial. If a denial remains at the commit, the write fails.
package struct DeletionDenials {
    /// The denials by `onDelete`: for each row and each of its properties, the names of the deleted targets to which
    /// the property linked. The innermost dictionary of a map property contains the keys of the map that had a deleted
    /// target, each with its target. For any other property, it contains only the first target, under the key `null`.
    private var holders: [RowID: [PropertyIndex: [SQLValue: String]]] = [:]
    /// The denials by `deleteRule`: for each target, the name and the property of the first deleted row that linked to
    /// this target.
    private var targets: [RowID: (holder: String, property: String)] = [:]
    package private(set) var isEmpty = true

    package init() {}

    /// Records a denial by `onDelete`: the row with the name `target` is deleted although a property of `holder` links
    /// to it. For a map, `key` is the key that had the target; for any other property, `key` is `null`.
    package mutating func deny(_ target: String, by holder: RowID, _ property: PropertyIndex, key: SQLValue = .null) {
        isEmpty = false
        if holders[holder]?[property]?[key] == nil {
            holders[holder, default: [:]][property, default: [:]][key] = target
        }
    }

    /// Records a denial by `deleteRule`: the row with the name `holder` is deleted although its property links to
    /// `target`.
    package mutating func denyByDeleteRule(_ holder: String, _ property: String, by target: RowID) {
        isEmpty = false
        if targets[target] == nil { targets[target] = (holder, property) }
    }

    /// Removes the denials that no longer apply because a row was deleted: the denials by `onDelete` of properties of
    /// this row, and the denials by `deleteRule` of which this row is the target.
    package mutating func rowWasDeleted(_ row: RowID) {
        if isEmpty { return }
        #if MARTLET_SEEDED_BUGS
            if SeededBug.isOn(.denialOfDeleted) { return }
        #endif
        holders[row] = nil
        targets[row] = nil
        isEmpty = holders.isEmpty && targets.isEmpty
    }

    /// Removes the denials of a property to which the program has assigned a value.
    package mutating func propertyWasAssigned(_ property: PropertyIndex, of row: RowID) {
        if isEmpty { return }
        holders[row]?[property] = nil
        removeIfEmpty(row)
    }

    /// Removes the denial of a key of a map. The program has removed the key or assigned a value to it.
    package mutating func keyWasAssigned(_ key: SQLValue, _ property: PropertyIndex, of row: RowID) {
        if isEmpty { return }
        holders[row]?[property]?[key] = nil
        if holders[row]?[property]?.isEmpty == true { holders[row]?[property] = nil }
        removeIfEmpty(row)
    }

    private mutating func removeIfEmpty(_ row: RowID) {
        if holders[row]?.isEmpty == true { holders[row] = nil }
        isEmpty = holders.isEmpty && targets.isEmpty
    }

    /// The denial by `onDelete` that is reported: the denial with the lowest row, property and name of a target, so
    /// that the message is deterministic.
    package var firstHolder: (row: RowID, property: PropertyIndex, target: String)? {
        guard let (row, properties) = holders.min(by: { Self.isBefore($0.key, $1.key) }),
            let (property, targets) = properties.min(by: { $0.key < $1.key }), let target = targets.values.min()
        else { return nil }
        return (row, property, target)
    }

    /// The denial by `deleteRule` that is reported: the denial with the lowest row.
    package var firstTarget: (row: RowID, holder: String, property: String)? {
        targets.min { Self.isBefore($0.key, $1.key) }.map { ($0.key, $0.value.holder, $0.value.property) }
    }

    private static func isBefore(_ left: RowID, _ right: RowID) -> Bool {
        (left.table, left.key) < (right.table, right.key)
    }
}
