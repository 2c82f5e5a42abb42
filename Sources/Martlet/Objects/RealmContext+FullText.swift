import MartletEngine
import MartletSQLite

extension RealmContext {
    /// Updates the full-text indexes for the properties of a row in `mask`.
    func writeFullTextIndexes(
        of object: ObjectBase, _ key: ObjectKey, _ table: ObjectTable, mask: UInt64, _ connection: Connection
    ) throws(SQLiteError) {
        guard !table.fullTextIndexes.isEmpty else { return }
        let values = RowEncoder.values(of: object)
        for index in table.fullTextIndexes where mask & (1 << UInt64(min(index.property, 63))) != 0 {
            if case .text = values[index.property] {
                try connection.run(index.replace, [.integer(key), values[index.property]])
            } else {
                try connection.run(index.delete, [.integer(key)])
            }
        }
    }
}
