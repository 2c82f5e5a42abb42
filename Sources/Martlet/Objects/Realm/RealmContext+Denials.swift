import MartletEngine

extension RealmContext {
    /// Throws if a rule denies a deletion of the open write.
    func requireAllowedDeletions() throws(EngineError) {
        if pending.denials.isEmpty { return }
        if let denial = pending.denials.firstHolder {
            let table = table(denial.row.table)
            let property = table.type.properties[denial.property]
            throw deletionDenied(
                "\(denial.target) cannot be deleted while \(name(of: denial.row)) has it in "
                    + "'\(table.type.name).\(property.name)', which has 'onDelete: deny'; "
                    + "the whole write was rolled back; remove the link, or delete its holder, in the same write")
        }
        if let denial = pending.denials.firstTarget {
            throw deletionDenied(
                "\(denial.holder) cannot be deleted while it has \(name(of: denial.row)) in '\(denial.property)', "
                    + "which has 'deleteRule: deny'; the whole write was rolled back; remove the link first, or "
                    + "delete its target in the same write")
        }
    }

    private func deletionDenied(_ message: String) -> EngineError {
        EngineError(.deletionDenied, path: coordinator.path, message)
    }

    /// The name of a row in messages.
    func name(of row: RowID) -> String { read { try schema[row.table].name(of: row.key, $0) } }
}
