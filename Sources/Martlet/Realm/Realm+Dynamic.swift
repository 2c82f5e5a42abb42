import MartletEngine

// Objects of types that are named at run time: those of the schema, and those of the file that the program has no class for,
// whose objects are `StoredObject`s.
extension Realm {
    /// All objects of a type: live, lazy, in the order of their keys. Traps on a type that neither the schema
    /// nor the file has.
    public func dynamicObjects(_ typeName: String) -> DynamicResults {
        let table = table(named: typeName)
        return DynamicResults(Results(ResultsStorage(context, table, QueryPlan(table: table.id))))
    }

    /// The object with a primary key; nil when there is none.
    ///
    /// Traps on a type that neither the schema nor the file has, on one without primary key, and on a key of another type.
    public func dynamicObject(ofType typeName: String, forPrimaryKey key: Any) -> DynamicObject? {
        let table = table(named: typeName)
        guard let position = table.type.primaryKey else { Misuse.noPrimaryKey(table.type.name) }
        let property = table.type.properties[position]
        guard let value = UntypedValue.stored(key, property.element, isOptional: false) else {
            Misuse.wrongValue(
                key, property: "\(table.type.name).\(property.name)", expected: "'\(property.typeDescription)'")
        }
        return context.find(primaryKey: value, table).map { DynamicObject($0) }
    }

    /// Makes and adds an object, as `create(_:value:update:)` does. Inside a write transaction only.
    @discardableResult
    public func dynamicCreate(
        _ typeName: String, value: Any = [String: Any](), update: UpdatePolicy = .error
    ) -> DynamicObject {
        let table = table(named: typeName)
        if table.type.isEmbedded { Misuse.embeddedAtTopLevel(typeName) }
        if update != .error, table.type.primaryKey == nil { Misuse.noPrimaryKey(typeName) }
        return DynamicObject(context.create(table.anyModel, DynamicObject.unwrapped(value) ?? value, update))
    }

    private func table(named name: String) -> ObjectTable {
        context.confinement.require("a Realm")
        guard let table = context.table(named: name) else { Misuse.unknownType(name) }
        return table
    }
}
