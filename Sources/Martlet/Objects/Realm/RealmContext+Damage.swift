import MartletEngine
import MartletValues

// Errors for damaged values in the file. The getters of properties do not throw, so reading a damaged value stops the
// program. The message says where the damage is.
extension RealmContext {
    /// Stops the program because a value of a row does not fit the schema.
    @inline(never)
    func refuseDamaged(_ row: RowDecoder, _ key: ObjectKey, _ table: ObjectTable) -> Never {
        readFailed(damage(in: row, key, table))
    }

    /// The error for a row with a value that does not fit the schema.
    @inline(never)
    func damage(in row: RowDecoder, _ key: ObjectKey, _ table: ObjectTable) -> EngineError {
        let property = table.type.properties[row.damagedProperty]
        let column = table.layout.columns.firstIndex { $0.property == property.index }
        let (value, isValid) = column.map(row.storedValue) ?? (.null, true)
        let damage =
            isValid
            ? DamagedValue(table.type.name, property, key, holds: value)
            : DamagedValue(notUTF8In: table.type.name, property, key)
        return damage.error(path: coordinator.path)
    }

    func refuse(_ damage: DamagedValue) -> Never { readFailed(damage.error(path: coordinator.path)) }

    /// Stops the program because an `AnyRealmValue` in a row is damaged.
    func refuseDamagedAny(_ key: ObjectKey, _ table: ObjectTable) -> Never {
        let found = search { search in
            try table.rows.anyRealmValueColumns.lazy.compactMap { try search.value(of: $0, in: table.id, key: key) }
                .first
        }
        if let found { refuse(found) }
        refuseDamagedAny()
    }

    /// Stops the program because an `AnyRealmValue` is damaged. The row that contains it is unknown.
    func refuseDamagedAny() -> Never {
        readFailed(EngineError.damaged("an 'AnyRealmValue' cannot be read", path: coordinator.path))
    }

    /// Stops the program because a link in an `AnyRealmValue` refers to a type that is not in the file.
    func refuseUnknownTarget(_ link: AnyLink) -> Never {
        if let found = search({ try $0.anyLink(link) }) { refuse(found) }
        readFailed(
            EngineError.damaged(
                "an 'AnyRealmValue' links to the row \(link.key) of the type number \(link.table), which does not exist",
                path: coordinator.path))
    }

    /// Stops the program because an aggregate or an observer has found a damaged value in a column.
    func refuseDamaged(_ property: PropertyIndex, in table: TableID) -> Never {
        if let found = search({ try $0.value(of: property, in: table) }) { refuse(found) }
        let type = schema[table].type
        readFailed(
            EngineError.damaged(
                "'\(type.name).\(type.properties[property].name)' contains a value that does not fit the schema",
                path: coordinator.path))
    }

    /// Stops the program because the row of an object does not exist. If the file contains a link to the row, the file
    /// is damaged. Otherwise the program has used a deleted object.
    func refuseMissing(_ object: ObjectBase) -> Never {
        if let table = object._table, let found = search({ try $0.link(to: object._key, in: table.id) }) {
            refuse(found)
        }
        Misuse.invalidated(object._typeName, object._keyDescription)
    }

    /// The error to report. If a collection could not be read, the error contains its location. If the stored count of
    /// a link is wrong, the error says that the file is damaged.
    func located(_ error: any Error) -> any Error {
        if EngineError.isMiscountedLink(error) {
            return EngineError.damaged(EngineError.miscountedLink, path: coordinator.path)
        }
        guard EngineError.isUnreadableCollection(error), let found = search({ try $0.collection() })
        else { return error }
        return found.error(path: coordinator.path)
    }

    // Ignores errors of the search, because the caller reports the original error.
    private func search(_ body: (DamageSearch) throws -> DamagedValue?) -> DamagedValue? {
        try? handle.read { try body(DamageSearch(schema, $0)) }
    }
}
