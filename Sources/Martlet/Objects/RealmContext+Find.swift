import MartletEngine
import MartletSQLite

extension RealmContext {
    /// The object with a primary key; nil if there is none. Finds the row and reads its values with one statement.
    func find(primaryKey value: SQLValue, _ table: ObjectTable) -> ObjectBase? {
        if table.integerKey >= 0, case .integer(let key) = value, let known = table.identity.object(key),
            known._state == .live
        {
            return known
        }
        if isFrozen { return key(primaryKey: value, table, asksAccessors: false).map(table.object) }
        flushForQuery()
        trackReadsIfObserved()
        return read { connection in
            let statement = try table.findStatement(connection)
            statement.bind(value, at: 1)
            guard try statement.step() else { return nil }
            defer { statement.reset() }
            let object = table.object(statement.integer(table.keyPosition))
            if object._state == .stale {
                var decoder = RowDecoder(statement, specialsAt: table.specialsPosition)
                object._decode(&decoder)
                if decoder.damaged >= 0 { refuseDamaged(decoder, object._key, table) }
                object._state = .live
                object._guard = guardWord
            }
            return object
        }
    }
}
