/// A row of a table.
package struct RowID: Hashable, Sendable {
    package let table: TableID
    package let key: ObjectKey

    package init(table: TableID, key: ObjectKey) {
        self.table = table
        self.key = key
    }
}
