package import MartletSQLite
package import MartletValues

extension RowStore {
    /// Inserts a row and updates its indexes.
    ///
    /// - Parameter bind: binds the columns, and returns the key of the row.
    /// - Parameter values: the values of all properties. Called only if an index needs them.
    package func insert(
        in transaction: WriteTransaction, _ bind: (RowBinder) -> ObjectKey, values: () -> [SQLValue]
    ) throws -> ObjectKey {
        try transaction.handle.read { connection in
            let statement = try insertStatement(connection)
            let key = bind(RowBinder(statement, texts))
            try statement.run()
            try writeIndexes(of: key, mask: .all, in: transaction, connection, values)
            return key
        }
    }

    /// Writes the columns of the properties in `mask` and updates their indexes.
    ///
    /// - Parameter bind: binds the columns, and returns the position of the SQL parameter for the key.
    /// - Parameter values: the values of all properties. Called only if an index needs them.
    package func update(
        _ key: ObjectKey, mask: PropertyMask, in transaction: WriteTransaction, _ connection: Connection,
        _ bind: (RowBinder) -> Int, values: () -> [SQLValue]
    ) throws {
        guard let statement = try updateStatement(mask, connection) else { return }
        statement.bind(key, at: bind(RowBinder(statement, texts)))
        try statement.run()
        try writeIndexes(of: key, mask: mask, in: transaction, connection, values)
    }

    /// Deletes a row and its entries in the full-text indexes.
    package func delete(_ key: ObjectKey, _ connection: Connection) throws {
        try connection.run(layout.delete, [.integer(key)])
        for index in fullTextIndexes { try connection.run(index.delete, [.integer(key)]) }
    }

    /// Deletes all rows of the type, with their collections and their entries in the full-text indexes.
    package func deleteAll(_ connection: Connection) throws {
        try connection.run("DELETE FROM \(layout.table)")
        for index in fullTextIndexes { try connection.run("DELETE FROM \(index.table)") }
        for collection in layout.collections {
            try connection.run("DELETE FROM \(collection.chunkTable)")
            if let targets = collection.targetTable { try connection.run("DELETE FROM \(targets)") }
        }
    }

    // MARK: Indexes

    private func writeIndexes(
        of key: ObjectKey, mask: PropertyMask, in transaction: WriteTransaction, _ connection: Connection,
        _ values: () -> [SQLValue]
    ) throws {
        if fullTextIndexes.isEmpty && anyRealmValueColumns.isEmpty { return }
        let texts = fullTextIndexes.filter { mask.contains($0.property) }
        let anyProperties = anyRealmValueColumns.filter { mask.contains($0) }
        if texts.isEmpty && anyProperties.isEmpty { return }
        let row = values()
        for index in texts {
            if case .text = row[index.property] {
                try connection.run(index.replace, [.integer(key), row[index.property]])
            } else {
                try connection.run(index.delete, [.integer(key)])
            }
        }
        for property in anyProperties {
            try writeLinks(in: row[property], of: AnyLinkIndex.Source(table, property, key), transaction, connection)
        }
    }

    /// Replaces the entries of the index of links for one `AnyRealmValue` property of one row.
    private func writeLinks(
        in value: SQLValue, of holder: AnyLinkIndex.Source, _ transaction: WriteTransaction, _ connection: Connection
    ) throws {
        let links = try AnyLink.counts(in: value)
        if try transaction.hasAnyLinks(connection) { try AnyLinkIndex(connection).remove(holder) }
        if !links.isEmpty { try transaction.createAnyLinks(connection).addCounts(links, of: holder) }
    }

    /// Removes a link from the `AnyRealmValue` property of a row. Throws `.corrupt` if its value cannot be decoded.
    package func remove(
        _ link: AnyLink, from property: PropertySchema, of key: ObjectKey, in transaction: WriteTransaction,
        _ connection: Connection
    ) throws {
        guard let column = layout.column(of: property.index) else { return }
        let value = try value(of: property.index, key, connection) ?? .null
        guard let rest = try? link.removed(from: value) else {
            throw DamagedValue(type.name, property, key, holds: value).error(path: connection.options.path)
        }
        try connection.run(
            "UPDATE \(layout.table) SET \(column.name) = ?2 WHERE \(layout.keyColumn) = ?1", [.integer(key), rest])
        try writeLinks(in: rest, of: AnyLinkIndex.Source(table, property.index, key), transaction, connection)
    }
}

extension WriteTransaction {
    /// Calls `body` with the index of links in `AnyRealmValue` values, if the file has one.
    package func withAnyLinks(_ body: (AnyLinkIndex) throws -> Void) throws {
        try handle.read { connection in
            if try hasAnyLinks(connection) { try body(AnyLinkIndex(connection)) }
        }
    }

    /// False if SQLite has ended the transaction because of an error.
    package var isStillInTransaction: Bool { handle.read { $0.isInTransaction } }
}
