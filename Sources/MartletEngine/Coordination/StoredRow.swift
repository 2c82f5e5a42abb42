package import MartletSQLite
package import MartletValues

/// A row as it is stored, with the exact bits of its floating-point values.
package struct StoredRow: Sendable {
    private let layout: TableLayout
    private let columns: [SQLValue]
    private let specials: [UInt8]

    /// Reads the row with the given key. Returns nil if there is no such row.
    package init?(_ key: ObjectKey, _ layout: TableLayout, _ connection: Connection) throws {
        let statement = try connection.statement(layout.selectByKey)
        statement.bind(key, at: 1)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        let position = layout.columns.count
        self.layout = layout
        specials = layout.hasSpecials && !statement.isNull(position) ? statement.blob(position) : []
        columns = layout.columns.indices.map { statement.value($0) }
    }

    /// The stored value of a property. Null for collections and linking objects.
    package func value(_ property: PropertyIndex) -> SQLValue {
        guard let position = layout.columns.firstIndex(where: { $0.property == property }) else { return .null }
        if !specials.isEmpty, let bits = FloatingSpecials.bits(specials, property) {
            return .real(Double(bitPattern: bits))
        }
        return columns[position]
    }

    /// The columns in schema order, as `RowImages` stores them. Floating-point values that a column cannot represent
    /// are blobs of their bits.
    package var image: [SQLValue] {
        if specials.isEmpty { return columns }
        return zip(layout.columns, columns).map { column, value in
            guard let bits = FloatingSpecials.bits(specials, column.property) else { return value }
            return FloatingSpecials.encodedElement(.real(Double(bitPattern: bits)))
        }
    }
}

/// An element that was removed from a collection, with its former value.
package struct RemovedElement: Sendable {
    /// The former position of the element in the collection.
    package let position: Int
    /// The former element: a value, or the key of a row.
    package let element: SQLValue
    /// The row as it was stored before the removal; nil for values.
    package let row: StoredRow?
}

extension WriteTransaction {
    /// Called before each change of a row. Stores the previous row in memory, so that observers can use it together
    /// with the change set. Does nothing if the process has no observers, if a previous row is already stored for the
    /// key, or if `RowImages.limit` is reached.
    package func keepOldRow(_ key: ObjectKey, _ layout: TableLayout, in table: TableID) throws {
        guard keepsOldRows, !oldRows.isFull, oldRows.row(key, in: table) == nil else { return }
        guard let row = try handle.read({ try StoredRow(key, layout, $0) }) else { return }
        oldRows.insertIfAbsent(row.image, of: key, in: table)
    }
}
