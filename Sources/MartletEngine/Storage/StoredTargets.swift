package import MartletSQLite

// The table of targets is ordered by target. The targets of one owner are therefore found by reading its elements.
extension TableLayout.Collection {
    /// The keys of the rows that the stored collection of an owner links to, each once, in ascending order.
    ///
    /// Complexity: O(n) for a collection of n elements, independent of other collections.
    package func storedTargets(of owner: ObjectKey, _ connection: Connection) throws -> [ObjectKey] {
        guard targets != nil else { return [] }
        var elements = try ChunkedElements(owner: owner, table: chunks, connection)
        let stored = try elements.all { ordinal, count in
            try ChunkedElements.load(owner: owner, ordinal: ordinal, count: count, table: chunks, connection)
        }
        // Keys of maps are texts, so only targets are integers.
        return Set(
            stored.compactMap { element -> ObjectKey? in
                if case .integer(let target) = element { target } else { nil }
            }
        ).sorted()
    }

    /// Deletes the stored elements of an owner. `known` contains the keys of all rows that they link to.
    package func removeStored(of owner: ObjectKey, targets known: [ObjectKey], _ connection: Connection) throws {
        try connection.run("DELETE FROM \(chunks) WHERE owner = ?1", [.integer(owner)])
        guard let targets, !known.isEmpty else { return }
        let delete = try connection.statement("DELETE FROM \(targets) WHERE target = ?1 AND owner = ?2")
        for target in known {
            delete.bind(target, at: 1)
            delete.bind(owner, at: 2)
            try delete.run()
        }
    }
}
