package import MartletSQLite
import MartletValues

// The table of targets is ordered by target and then by owner. One look-up in the table finds whether an owner links to
// a given target. To find all targets of an owner, the elements of the owner are read instead.
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
    package func write(_ counts: TargetCounts, of owner: ObjectKey, _ connection: Connection) throws -> [ObjectKey] {
        guard let targetTable, !counts.isEmpty else { return [] }
        // Writes in the order of the table's primary key, because this order is the fastest.
        let changes = counts.changes()
        #if MARTLET_SEEDED_BUGS
            let forgotten = try changes.filter { try isForgotten($0.target, $0.change, owner, connection) }.map(
                \.target)
        #endif
        try add(changes.filter { $0.change > 0 }, to: targetTable, of: owner, connection)
        let remove = try connection.statement(
            "DELETE FROM \(targetTable) WHERE target = ?1 AND owner = ?2 AND count <= ?3")
        let reduce = try connection.statement(
            "UPDATE \(targetTable) SET count = count - ?3 WHERE target = ?1 AND owner = ?2")
        for (target, change) in changes where change < 0 {
            for statement in [remove, reduce] {
                statement.bind(target, at: 1)
                statement.bind(owner, at: 2)
                statement.bind(Int64(-change), at: 3)
                try statement.run()
                if connection.changedRows > 0 { break }
            }
        }
        #if MARTLET_SEEDED_BUGS
            if !forgotten.isEmpty { return changes.map(\.target).filter { !forgotten.contains($0) } }
        #endif
        // A target is recorded even if other links to it remain, because linking objects have one entry for each link.
        return changes.map(\.target)
    }

    #if MARTLET_SEEDED_BUGS
        private func isForgotten(
            _ target: ObjectKey, _ change: Int, _ owner: ObjectKey, _ connection: Connection
        ) throws -> Bool {
            guard let targetTable else { return false }
            let count = try connection.integer(
                "SELECT count FROM \(targetTable) WHERE target = ?1 AND owner = ?2",
                [.integer(target), .integer(owner)])
            if Int(count ?? 0) + change <= 0 { return SeededBug.isOn(.linkLossUnrecorded) }
            return count != nil && SeededBug.isOn(.linkCountUnrecorded)
        }
    #endif

    /// Adds links. Writes up to 64 targets with one statement, which takes less than half of the time of one statement
    /// for each target.
    private func add(
        _ changes: [(target: ObjectKey, change: Int)], to table: String, of owner: ObjectKey, _ connection: Connection
    ) throws {
        var rest = changes[...]
        for size in [64, 8, 1] where rest.count >= size {
            let rows = (0..<size).map { "(?\(2 * $0 + 2), ?1, ?\(2 * $0 + 3))" }.joined(separator: ", ")
            let statement = try connection.statement(
                "INSERT INTO \(table) VALUES \(rows) "
                    + "ON CONFLICT (target, owner) DO UPDATE SET count = count + excluded.count")
            statement.bind(owner, at: 1)
            while rest.count >= size {
                for (row, change) in rest.prefix(size).enumerated() {
                    statement.bind(change.target, at: 2 * row + 2)
                    statement.bind(Int64(change.change), at: 2 * row + 3)
                }
                try statement.run()
                rest.removeFirst(size)
            }
        }
    }
}
