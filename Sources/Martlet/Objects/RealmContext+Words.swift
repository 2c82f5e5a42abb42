import MartletEngine
import MartletSQLite

extension RealmContext {
    /// Brings the full-text indexes of a row up to date with those of its properties that are in `mask`.
    func writeWords(
        of object: ObjectBase, _ key: ObjectKey, _ table: ObjectTable, mask: UInt64, _ connection: Connection
    ) throws(SQLiteError) {
        guard !table.words.isEmpty else { return }
        let values = RowEncoder.values(of: object)
        for words in table.words where mask & (1 << UInt64(min(words.property, 63))) != 0 {
            if case .text = values[words.property] {
                try connection.run(words.replace, [.integer(key), values[words.property]])
            } else {
                try connection.run(words.delete, [.integer(key)])
            }
        }
    }
}
