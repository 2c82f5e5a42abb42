import MartletEngine
import MartletSQLite

// What is read of a damaged file is an error of the file. A property cannot throw, so it stops the program, and says where
// the damage is. All of this is out of the way of what reads a sound file.
extension RealmContext {
    /// Stops the program over a row of which a value does not fit the schema.
    @inline(never)
    func refuseDamaged(_ row: RowDecoder, _ key: ObjectKey, _ table: ObjectTable) -> Never {
        readFailed(damage(in: row, key, table))
    }

    /// The error of a row of which a value does not fit the schema.
    @inline(never)
    func damage(in row: RowDecoder, _ key: ObjectKey, _ table: ObjectTable) -> EngineError {
        let property = table.type.properties[row.damaged]
        let column = table.layout.columns.firstIndex { $0.property == property.index }
        let (value, isValid) = column.map(row.found) ?? (.null, true)
        let damage =
            isValid
            ? DamagedValue(table.type.name, property, key, holds: value)
            : DamagedValue(notUTF8In: table.type.name, property, key)
        return damage.error(path: coordinator.path)
    }

    func refuse(_ damage: DamagedValue) -> Never { readFailed(damage.error(path: coordinator.path)) }

    /// Stops the program over a value of any type of a row.
    func refuseDamagedAny(_ key: ObjectKey, _ table: ObjectTable) -> Never {
        let found = search { search in
            try table.anyColumns.lazy.compactMap { try search.value(of: $0, in: table.id, key: key) }.first
        }
        if let found { refuse(found) }
        refuseDamagedAny()
    }

    /// The same where the row is not known.
    func refuseDamagedAny() -> Never {
        readFailed(EngineError.damaged("a value of any type cannot be read", path: coordinator.path))
    }

    /// Stops the program over a link in a value of any type that leads to no type of the file.
    func refuseUnknownTarget(_ link: AnyLink) -> Never {
        if let found = search({ try $0.anyLink(link) }) { refuse(found) }
        readFailed(
            EngineError.damaged(
                "a value of any type leads to the row \(link.key) of the type number \(link.table), which does not exist",
                path: coordinator.path))
    }

    /// Stops the program over a value that an aggregate, or an observer, has met somewhere in a column.
    func refuseDamaged(_ property: PropertyIndex, in table: TableID) -> Never {
        if let found = search({ try $0.value(of: property, in: table) }) { refuse(found) }
        let type = schema[table].type
        readFailed(
            EngineError.damaged(
                "'\(type.name).\(type.properties[property].name)' holds a value that does not fit the schema",
                path: coordinator.path))
    }

    /// Stops the program over an object whose row is not there: the file is damaged where a link leads to it, otherwise the
    /// program uses what was deleted.
    func refuseMissing(_ object: ObjectBase) -> Never {
        if let table = object._table, let found = search({ try $0.link(to: object._key, in: table.id) }) {
            refuse(found)
        }
        Misuse.invalidated(object._typeName, object._keyDescription)
    }

    /// What failed, with the place of the collection where one could not be read.
    func located(_ error: any Error) -> any Error {
        guard let failure = error as? SQLiteError, failure.message.contains(EngineError.unreadableCollection),
            let found = search({ try $0.collection() })
        else { return error }
        return found.error(path: coordinator.path)
    }

    // A search that fails finds nothing: the first failure is the one to report.
    private func search(_ body: (DamageSearch) throws -> DamagedValue?) -> DamagedValue? {
        try? handle.read { try body(DamageSearch(schema, $0)) }
    }
}
