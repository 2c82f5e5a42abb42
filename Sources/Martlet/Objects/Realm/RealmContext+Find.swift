import MartletEngine
import MartletValues

extension RealmContext {
    /// The object with the given primary key; nil if there is none. One SQL statement finds the row and reads its
    /// values.
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
                let object = table.object(row.integer(table.rows.wholeRow.keyPosition) ?? 0)
                if object._state == .stale { fill(object, row, table) }
                return object
            }
        }
    }

    /// Decodes a row into a stale accessor.
    func fill(_ object: ObjectBase, _ row: RowColumns, _ table: ObjectTable) {
        var decoder = RowDecoder(row, table.rows.wholeRow)
        object._decode(&decoder)
        if decoder.damagedProperty >= 0 { refuseDamaged(decoder, object._key, table) }
        object._loaded = .none
        object._state = .live
        object._guard = guardWord
    }
}

// MARK: The targets of links

extension RealmContext {
    /// Traps if the open write has deleted the target of a link that is about to be stored. An observer that was called
    /// before the link is stored may have deleted the target.
    func requireTarget(_ key: ObjectKey, _ table: ObjectTable) {
        guard pending.deletionCount > 0, table.identity.object(key) == nil,
            transaction?.recorder.hasDeleted(key, in: table.id) == true
        else { return }
        // Another row may have been added with this key after the deletion.
        if !table.exists(key) { Misuse.invalidated(table.type.name, "with the key \(key)") }
    }

    /// Traps if the open write has deleted the target of a link in an `AnyRealmValue`.
    func requireTarget(_ link: AnyLink) { requireTarget(link.key, table(link.table)) }

    /// Traps if the open write has deleted a target of the links in the value of a property.
    func requireTargets(_ value: SQLValue, _ property: PropertySchema) {
        guard pending.deletionCount > 0 else { return }
        if property.isLink, case .integer(let key) = value, let table = property.element.target.flatMap(table(named:)) {
            requireTarget(key, table)
        }
        if property.isAny { recordingFailure { try AnyLink.counts(in: value).keys.forEach(requireTarget) } }
    }
}
