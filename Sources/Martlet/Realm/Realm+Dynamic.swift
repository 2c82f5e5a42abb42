import MartletEngine

// Access to types that are named at run time: types of the schema, and types of the file for which the program has no
// class. Objects of a type without a class are `StoredObject`s.
extension Realm {
    /// All objects of a type, as live, lazy results in the order of their object keys. Traps if neither the schema nor
    /// the file contains the type.
    public func dynamicObjects(_ typeName: String) -> DynamicResults {
        let table = table(named: typeName)
        return DynamicResults(Results(ResultsStorage(context, table, QueryPlan(table: table.id))))
    }

    /// The object with the given primary key; nil if there is none.
    ///
    /// Traps if neither the schema nor the file contains the type, if the type has no primary key, or if `key` does not
    /// have the type of the primary key.
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

    /// Creates and adds an object, as `create(_:value:update:)` does. Traps outside of a write transaction.
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
