package import MartletSQLite
import MartletValues

// The table of targets is ordered by target, not by owner. All targets of one owner are therefore found by reading the
// elements of the owner. Whether the owner links to one target is found in the table.
extension TableLayout.Collection {
    /// The keys of the rows to which the stored collection of an owner links. Each key occurs once, in ascending order.
    ///
    /// Complexity: O(n) for a collection of n elements, independent of other collections.
    package func storedTargets(of owner: ObjectKey, _ connection: Connection) throws -> [ObjectKey] {
        guard targetTable != nil else { return [] }
        // Keys of maps are strings, so only targets are integers.
        return Set(
            try storedElements(of: owner, connection).compactMap { element -> ObjectKey? in
                if case .integer(let target) = element { target } else { nil }
            }
        ).sorted()
    }

    /// The stored elements of an owner. In a map, keys and values alternate.
    func storedElements(of owner: ObjectKey, _ connection: Connection) throws -> [SQLValue] {
        var elements = try ChunkedElements(owner: owner, table: chunkTable, connection)
        return try elements.all { ordinal, count in
            try ChunkedElements.load(owner: owner, ordinal: ordinal, count: count, table: chunkTable, connection)
        }
    }

    /// The number of links from the stored collection of an owner to a target. Complexity: O(log n).
    package func storedCount(of target: ObjectKey, owner: ObjectKey, _ connection: Connection) throws -> Int {
        guard let targetTable else { return 0 }
        let statement = try connection.statement("SELECT count FROM \(targetTable) WHERE target = ?1 AND owner = ?2")
        statement.bind(target, at: 1)
        statement.bind(owner, at: 2)
        guard try statement.step() else { return 0 }
        defer { statement.reset() }
        let count = statement.integer(0)
        guard count > 0, count <= Int64(Int32.max) else {
            throw EngineError.damaged(EngineError.miscountedLink, path: connection.options.path)
        }
        return Int(count)
    }

    /// Deletes the stored elements of an owner. `known` contains the keys of all rows to which the elements link.
    package func removeStored(of owner: ObjectKey, targets known: [ObjectKey], _ connection: Connection) throws {
        try connection.run("DELETE FROM \(chunkTable) WHERE owner = ?1", [.integer(owner)])
        guard let targetTable, !known.isEmpty else { return }
        let delete = try connection.statement("DELETE FROM \(targetTable) WHERE target = ?1 AND owner = ?2")
        for target in known {
            delete.bind(target, at: 1)
            delete.bind(owner, at: 2)
            try delete.run()
        }
    }

    /// Writes the changes in the number of links from the collection of an owner. Returns the targets with a changed
    /// number of links.
    ///
    /// For each target, this method first tries to insert or delete the row in the table of targets. If no row was
    /// inserted or deleted, it updates the count of the existing row. A `RETURNING` clause would report which rows are
    /// new, but would double the cost.
    package func write(_ counts: TargetCounts, of owner: ObjectKey, _ connection: Connection) throws -> [ObjectKey] {
        guard let targetTable, !counts.isEmpty else { return [] }
        let create = try connection.statement("INSERT INTO \(targetTable) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING")
        let remove = try connection.statement(
            "DELETE FROM \(targetTable) WHERE target = ?1 AND owner = ?2 AND count <= ?3")
        let count = try connection.statement(
            "UPDATE \(targetTable) SET count = count + ?3 WHERE target = ?1 AND owner = ?2")
        var changedTargets: [ObjectKey] = []
        // Writes in the order of the table's primary key, because this order is the fastest.
        for (target, change) in counts.changes() {
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
            // The target is recorded even if other links to it remain, because linking objects have one entry for each
            // link.
            changedTargets.append(target)
        }
        return changedTargets
    }
}
