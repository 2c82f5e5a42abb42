import MartletEngine

extension RealmContext {
    /// Makes and adds an object from a dictionary, an array in schema order, or another object.
    func create(_ model: ModelClass, _ value: Any, _ policy: Realm.UpdatePolicy, isEmbedded: Bool = false) -> ObjectBase {
        let table = table(model.metatype)
        _ = requireWrite("a '\(table.type.name)'")
        if let existing = existing(model, value, policy) {
            existing.assign(value, policy)
            return existing
        }
        let object = model.unmanaged(value)
        if isEmbedded { return object }
        return table.object(adopt(object, policy == .error ? .error : policy))
    }

    /// The row that a dictionary or array with a primary key means, when updating is allowed.
    private func existing(_ model: ModelClass, _ value: Any, _ policy: Realm.UpdatePolicy) -> ObjectBase? {
        guard policy != .error, let index = model.schema.primaryKey else { return nil }
        let property = model.schema.properties[index]
        guard let given = UntypedInput(value, model.schema).value(of: property),
            let stored = UntypedValue.stored(UntypedValue.unwrapped(given), property.element, isOptional: property.isOptional)
        else { return nil }
        let table = table(model.metatype)
        return key(primaryKey: stored, table).map { table.object($0) }
    }

    /// Gives `target` the values of `source` that differ.
    func copyDifferences(from source: ObjectBase, to target: ObjectBase, _ policy: Realm.UpdatePolicy) {
        let (old, new) = (RowEncoder.values(of: target), RowEncoder.values(of: source))
        for property in target._model.schema.properties where property.index != target._model.schema.primaryKey {
            let isPlain = !property.isCollection && !property.isLink
            if !isPlain || policy == .all || !old[property.index].isIdentical(to: new[property.index]) {
                source.copyProperty(property, to: target, policy)
            }
        }
    }
}

extension ModelClass {
    /// An unmanaged object with the given values and, for the others, defaults.
    func unmanaged(_ value: Any) -> ObjectBase {
        let object = metatype.init()
        object.assign(value, .error)
        return object
    }
}

extension ObjectBase {
    /// Assigns the values that a dictionary, array or object gives.
    final func assign(_ value: Any, _ policy: Realm.UpdatePolicy) {
        let schema = _model.schema
        let input = UntypedInput(value, schema)
        for property in schema.properties {
            if case .linkingObjects = property.kind { continue }
            guard let given = input.value(of: property) else { continue }
            if _state != .unmanaged && property.index == schema.primaryKey { continue }
            if policy == .modified, _state != .unmanaged, isEqual(property, given) { continue }
            setUntyped(property, given, policy)
        }
    }

    private final func isEqual(_ property: PropertySchema, _ given: Any?) -> Bool {
        let given = UntypedValue.unwrapped(given)
        if property.isCollection { return false }
        if property.isLink {
            guard let object = given as? ObjectBase else { return given == nil && untypedValue(property) == nil }
            return (untypedValue(property) as? ObjectBase)?.isSameObject(as: object) ?? false
        }
        let stored = UntypedValue.stored(given, property.element, isOptional: property.isOptional)
        return stored?.isIdentical(to: RowEncoder.values(of: self)[property.index]) ?? false
    }
}

/// Values for an object from outside: by name, by position, or from another object.
struct UntypedInput {
    private let dictionary: [String: Any]?
    private let array: [Any]?
    private let object: ObjectBase?

    init(_ value: Any, _ schema: ObjectTypeSchema) {
        dictionary = value as? [String: Any]
        array = dictionary == nil ? value as? [Any] : nil
        object = value as? ObjectBase
        if let dictionary {
            for name in dictionary.keys.sorted() where schema[name] == nil {
                Misuse.unknownProperty(name, of: schema.name, known: schema.properties.map(\.name))
            }
        }
        if dictionary == nil && array == nil && object == nil {
            Misuse.wrongValue(value, property: schema.name, expected: "a dictionary, an array in schema order, or an object")
        }
    }

    /// Nil when nothing is said about the property; `.some(nil)` when it is said to be nil.
    func value(of property: PropertySchema) -> Any?? {
        if let dictionary { return dictionary[property.name].map { .some($0) } }
        if let array { return property.index < array.count ? .some(array[property.index]) : nil }
        if let object, object._model.schema[property.name] != nil { return .some(object.value(forKey: property.name)) }
        return nil
    }
}
