import MartletEngine

/// A path of a query, converted to the operand of a condition. The operand contains the numbers of properties in
/// `AgreedSchema` instead of their names.
struct ConditionPath {
    let operand: ConditionOperand
    /// True if the path ends in a collection. The elements of the collection are then compared.
    let isCollection: Bool
    /// The type of the objects that the path refers to; nil if the path refers to values. Objects are compared by their
    /// primary keys.
    let target: String?
    /// The name of the path, for errors.
    let name: String

    /// - Parameter type: the number of the type in which the path starts.
    init(_ path: PropertyPath, from type: Int, in schema: AgreedSchema) throws(UnsupportedQuery) {
        var resolver = PathResolver(schema: schema, name: path.text)
        guard let start = schema.type(type) else {
            throw UnsupportedQuery("the type of the query is not synchronized; subscribe to a synchronized type")
        }
        self = try resolver.result(path.components, start)
    }

    fileprivate init(operand: ConditionOperand, isCollection: Bool, target: String?, name: String) {
        self.operand = operand
        self.isCollection = isCollection
        self.target = target
        self.name = name
    }
}

/// Replaces the names of the properties in a path by their numbers, from the first property to the last.
private struct PathResolver {
    let schema: AgreedSchema
    let name: String
    private var numbers: [Int] = []

    init(schema: AgreedSchema, name: String) {
        self.schema = schema
        self.name = name
    }

    mutating func result(
        _ components: [PropertyPath.Component], _ start: ObjectTypeSchema
    ) throws(UnsupportedQuery) -> ConditionPath {
        guard !components.isEmpty else { return try itself(start) }
        var type = start
        var rest = components[...]
        while case .property(let propertyName)? = rest.popFirst() {
            guard let property = type[propertyName] else {
                throw UnsupportedQuery(
                    "'\(type.name).\(propertyName)' is not synchronized; compare a synchronized property")
            }
            numbers.append(property.index)
            if property.kind == .single, case .embedded(let inner) = property.element, !rest.isEmpty {
                guard let next = schema.type(named: inner) else {
                    throw UnsupportedQuery("'\(inner)' is not synchronized; compare another property")
                }
                type = next
                continue
            }
            return try end(property, rest)
        }
        throw UnsupportedQuery(
            "'\(name)' contains linking objects, which a subscription cannot contain; compare a property of "
                + "'\(start.name)'")
    }

    // Returns the path for the object itself, which is compared by its primary key.
    private func itself(_ type: ObjectTypeSchema) throws(UnsupportedQuery) -> ConditionPath {
        guard let number = type.primaryKey, let kind = ConditionKind(type.properties[number].element, in: schema) else {
            throw UnsupportedQuery("'\(type.name)' has no primary key, so a subscription cannot compare its objects")
        }
        return ConditionPath(
            operand: ConditionOperand(ValuePath(number), kind), isCollection: false, target: type.name,
            name: type.properties[number].name)
    }

    private func end(
        _ property: PropertySchema, _ rest: ArraySlice<PropertyPath.Component>
    ) throws(UnsupportedQuery) -> ConditionPath {
        try checkKind(property, rest)
        guard let kind = ConditionKind(property.element, in: schema) else {
            throw UnsupportedQuery(
                "'\(name)' leads to a type without a primary key, which a subscription cannot compare; add a primary "
                    + "key to the type")
        }
        guard case .link(let target) = property.element, let key = schema.primaryKey(of: target) else {
            return try value(property, kind, rest)
        }
        guard rest.isEmpty || rest.elementsEqual([.property(key.name)]) else {
            throw UnsupportedQuery(
                "'\(name)' leads through a link; a subscription can compare a link only with nil, with an object, or by "
                    + "the primary key of its target ('\(key.name)'): store the value in the queried type, too")
        }
        return ConditionPath(
            operand: ConditionOperand(ValuePath(numbers), kind), isCollection: property.isCollection,
            target: rest.isEmpty ? target : nil, name: name)
    }

    private func checkKind(
        _ property: PropertySchema, _ rest: ArraySlice<PropertyPath.Component>
    ) throws(UnsupportedQuery) {
        switch rest.first {
        case .keys, .entry:
            throw UnsupportedQuery(
                "'\(name)' compares the keys of a map or the value of one key, which a subscription cannot contain; "
                    + "compare its values, or store the value in a property")
        default: break
        }
        if case .linkingObjects = property.kind {
            throw UnsupportedQuery(
                "'\(name)' contains linking objects, which a subscription cannot contain; compare a property of the "
                    + "queried type")
        }
        if property.isCollection && numbers.count > 1 {
            throw UnsupportedQuery(
                "'\(name)' is a collection of an embedded object, which a subscription cannot contain; compare a "
                    + "collection of the queried type")
        }
    }

    private func value(
        _ property: PropertySchema, _ kind: ConditionKind, _ rest: ArraySlice<PropertyPath.Component>
    ) throws(UnsupportedQuery) -> ConditionPath {
        if property.isCollection && kind == .object {
            throw UnsupportedQuery(
                "'\(name)' is a collection of embedded objects, which a subscription cannot contain; compare a "
                    + "collection of values or of links")
        }
        guard rest.isEmpty else {
            throw UnsupportedQuery(
                "'\(name)' continues after a property that contains values, which have no properties; end the path at "
                    + "that property")
        }
        return ConditionPath(
            operand: ConditionOperand(ValuePath(numbers), kind), isCollection: property.isCollection, target: nil,
            name: name)
    }
}
