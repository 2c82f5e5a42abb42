import MartletEngine
import MartletSQLite

extension CollectionCore {
    /// Writes the changes since the last call.
    func write(_ connection: Connection) throws {
        guard isQueued else { return }
        isQueued = false
        try elements?.write(owner: owner, table: layout.chunks, connection)
        if !anyLinkChanges.isEmpty, let transaction = context.transaction {
            let holder = AnyLinkIndex.Holder(table.id, property.index, owner)
            try transaction.createAnyLinks(connection).addCounts(anyLinkChanges, of: holder)
            anyLinkChanges = [:]
        }
        try writeTargets(connection)
    }

    /// Updates how often the collection links to each object.
    ///
    /// `RETURNING` would report which rows are new, but it doubles the cost.
    private func writeTargets(_ connection: Connection) throws {
        guard let targets = layout.targets, !targetCounts.isEmpty else { return }
        let create = try connection.statement("INSERT INTO \(targets) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING")
        let remove = try connection.statement("DELETE FROM \(targets) WHERE target = ?1 AND owner = ?2 AND count <= ?3")
        let count = try connection.statement(
            "UPDATE \(targets) SET count = count + ?3 WHERE target = ?1 AND owner = ?2")
        var relinked: [ObjectKey] = []
        // In the order of the table's primary key, which is the cheapest order.
        for (target, change) in targetCounts.changes() {
            func changesRow(_ statement: Statement, by number: Int) throws -> Bool {
                statement.bind(target, at: 1)
                statement.bind(owner, at: 2)
                statement.bind(Int64(number), at: 3)
                try statement.run()
                return connection.changedRows > 0
            }
            if try change < 0 ? changesRow(remove, by: -change) : changesRow(create, by: change) {
                #if MARTLET_SEEDED_BUGS
                    if change < 0, SeededBug.isOn(.linkLossUnrecorded) { continue }
                #endif
            } else {
                _ = try changesRow(count, by: change)
                #if MARTLET_SEEDED_BUGS
                    if SeededBug.isOn(.linkCountUnrecorded) { continue }
                #endif
            }
            // Recorded even if other links to the target remain, because linking objects contain one entry for each link.
            relinked.append(target)
        }
        targetCounts = TargetCounts()
        context.transaction?.recorder.relink(relinked, LinkID(table: table.id, property: property.index))
    }
}
