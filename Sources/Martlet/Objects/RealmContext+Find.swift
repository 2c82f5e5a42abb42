import MartletEngine
import MartletValues

extension RealmContext {
    /// The object with a primary key; nil if there is none. One SQL statement finds the row and reads its values.
    func find(primaryKey value: SQLValue, _ table: ObjectTable) -> ObjectBase? {
        if table.integerKey >= 0, case .integer(let key) = value, let known = table.identity.object(key),
            known._state == .live
        {
            return known
        }
        if isFrozen { return key(primaryKey: value, table, usesIdentityMap: false).map(table.object) }
        flushForQuery()
        trackReadsIfObserved()
        if table.type.primaryKey == nil { Misuse.noPrimaryKey(table.type.name) }
        return read { connection in
            try table.rows.withRow(primaryKey: value, connection) { row in
                let object = table.object(row.integer(table.rows.keyPosition) ?? 0)
                if object._state == .stale { fill(object, row, table) }
                return object
            }
        }
    }

    /// Decodes a row into a stale accessor.
    func fill(_ object: ObjectBase, _ row: RowColumns, _ table: ObjectTable) {
        var decoder = RowDecoder(row, specialsAt: table.rows.specialsPosition)
        object._decode(&decoder)
        if decoder.damaged >= 0 { refuseDamaged(decoder, object._key, table) }
        object._state = .live
        object._guard = guardWord
    }
}
