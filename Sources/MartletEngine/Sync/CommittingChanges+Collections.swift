import MartletSQLite
package import MartletValues

extension CommittingChanges {
    /// The edits of a collection since the version before the transaction. Nil if there are no edits. Only collections
    /// whose owner existed before the transaction have edits.
    package func edits(of collection: CollectionID) -> ListEditScript? { changes.collections[collection] }

    /// The elements of a collection. In a map, keys and values alternate.
    package func elements(of row: RowID, _ property: PropertyIndex) throws -> [SQLValue] {
        try Self.elements(of: row, property, schema, connection)
    }

    /// The elements of a collection before the transaction. The array is empty if the owner did not exist.
    package func previousElements(of row: RowID, _ property: PropertyIndex) throws -> [SQLValue] {
        try readPrevious { try Self.elements(of: row, property, schema, $0) }
    }

    private static func elements(
        of row: RowID, _ property: PropertyIndex, _ schema: DatabaseSchema, _ connection: Connection
    ) throws -> [SQLValue] {
        let table = schema[row.table]
        let elements = try table.layout.collection(of: property).storedElements(of: row.key, connection)
        guard table.type.properties[property].element.isFloating else { return elements }
        return elements.map(FloatingSpecials.decodedElement)
    }

    /// True if the transaction has created a row, or has deleted it and created it again.
    package func isCreated(_ row: RowID) -> Bool { changes.tables[row.table]?.inserted.contains(row.key) ?? false }

    package var positions: ListPositions { ListPositions(connection) }

    /// Removes the stored positions of all lists of deleted objects.
    package func forgetPositions(of keys: KeySet, in table: TableID) throws {
        for key in keys { try positions.remove(of: RowID(table: table, key: key)) }
    }
}
