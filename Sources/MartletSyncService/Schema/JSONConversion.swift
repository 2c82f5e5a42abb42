package import MartletEngine
package import MartletPostgres
package import MartletSyncProtocol
import MartletValues

/// Converts values of embedded objects and of `AnyRealmValue` to JSON and back.
///
/// Every value has one JSON form, and the conversion back is exact. If another program has written JSON with SQL, parts
/// of the JSON may not fit the schema. Such a part becomes zero if it is a required member, and nil otherwise.
/// `Decoded.problems` describes each such part. Elements of collections that do not fit are described in
/// `JSONConversion+Collections`.
package struct JSONConversion: Sendable {
    let schema: SyncSchema

    package init(_ schema: SyncSchema) { self.schema = schema }

    /// The JSON text of a value of the property; nil if the value is nil.
    package func text(_ value: SyncValue, _ property: PropertySchema) throws(UnencodableValue) -> String? {
        if value == .null { return nil }
        return try json(value, property.element, isOptional: true).text
    }

    /// The properties that the path names, from the outermost to the innermost; nil if the type has no such path.
    package func properties(at path: ValuePath, in type: ObjectTypeSchema) -> [PropertySchema]? {
        var type = type
        var found: [PropertySchema] = []
        for (depth, index) in path.properties.enumerated() {
            if depth > 0 {
                guard found[depth - 1].isColumn, let inner = embeddedType(found[depth - 1].element) else { return nil }
                type = inner
            }
            guard type.properties.indices.contains(index) else { return nil }
            let property = type.properties[index]
            guard depth == 0 || property.isColumn || property.isCollection else { return nil }
            found.append(property)
        }
        return found
    }

    func embeddedType(_ element: ElementType) -> ObjectTypeSchema? {
        guard case .embedded(let name) = element, let number = schema.number(of: name) else { return nil }
        return schema.types[number]
    }

    // MARK: To JSON

    /// The JSON of a value of a property of an embedded object.
    package func json(_ value: SyncValue, _ property: PropertySchema) throws(UnencodableValue) -> JSONValue {
        if property.isCollection { return try collection(value, property) }
        return try json(value, property.element, isOptional: property.isOptional || property.isLink)
    }

    func json(
        _ value: SyncValue, _ element: ElementType, isOptional: Bool
    ) throws(UnencodableValue) -> JSONValue {
        if element == .scalar(.any) { return try anyJSON(value, depth: 0) }
        switch (element, value) {
        case (_, .null):
            guard isOptional else { throw UnencodableValue("a required value is missing") }
            return .null
        case (.embedded(let name), .embedded(let values)): return try object(values, name)
        case (.link(let name), .link(let target)) where target.type == schema.number(of: name):
            return try key(of: target)
        case (.link, _), (.embedded, _): throw Self.otherKind
        case (_, .scalar(let scalar)) where element.accepts(scalar): return try JSONScalar.json(scalar, element)
        default: throw Self.otherKind
        }
    }

    static let otherKind = UnencodableValue("a value has another kind than its property")

    private func object(_ values: [SyncValue], _ name: String) throws(UnencodableValue) -> JSONValue {
        guard let type = embeddedType(.embedded(name)), values.count == type.properties.count else {
            throw UnencodableValue("an embedded object has another number of values than its type")
        }
        var members: [JSONMember] = []
        for property in type.properties where property.isColumn || property.isCollection {
            members.append(JSONMember(property.name, try json(values[property.index], property)))
        }
        return .object(members)
    }

    /// The primary key of the target of a link.
    func key(of target: ObjectAddress) throws(UnencodableValue) -> JSONValue {
        guard let property = keyProperty(of: target.type), property.element.accepts(target.key) else {
            throw Self.otherKind
        }
        return try JSONScalar.json(target.key, property.element)
    }

    func keyProperty(of type: Int) -> PropertySchema? {
        guard schema.types.indices.contains(type) else { return nil }
        return schema.types[type].primaryKey.map { schema.types[type].properties[$0] }
    }

    // MARK: From JSON

    /// The value of a column, and its parts that do not fit the schema.
    package struct Decoded: Sendable {
        package var value: SyncValue
        /// One text for each part that does not fit the schema. The texts contain no values.
        package var problems: [String] = []
    }

    /// Decodes the JSON text of a column as a value of the property.
    package func value(_ text: String, _ property: PropertySchema) -> Decoded {
        // An embedded object in a list is never nil.
        let isOptional = !property.element.isEmbedded || property.accepts(.null)
        var decoded = Decoded(value: .null)
        do throws(MalformedJSON) {
            let json = try JSONValue(parsing: text)
            decoded.value = value(json, property.element, isOptional: isOptional, property.name, &decoded.problems)
        } catch {
            decoded.value = replacement(property.element, isOptional: isOptional)
            decoded.problems = ["'\(property.name)' is nested too deeply, or is not JSON"]
        }
        return decoded
    }

    func value(
        _ json: JSONValue, _ element: ElementType, isOptional: Bool, _ path: String, _ problems: inout [String]
    ) -> SyncValue {
        if element == .scalar(.any) { return anyValue(json, path, &problems) }
        if case .null = json, isOptional { return .null }
        switch (element, json) {
        case (.embedded, .object(let members)):
            if let type = embeddedType(element) { return object(members, type, path, &problems) }
        case (.link(let name), _):
            if let number = schema.number(of: name), let target = target(json, number) { return .link(target) }
        case (.embedded, _): break
        default: if let scalar = JSONScalar.value(json, element) { return .scalar(scalar) }
        }
        problems.append("'\(path)' is \(json.kind), which does not fit its property")
        return replacement(element, isOptional: isOptional)
    }

    /// The value that stands for JSON that does not fit: nil if the value is optional, and zero otherwise. The zero of
    /// an embedded object has the zero of each required member.
    private func replacement(_ element: ElementType, isOptional: Bool) -> SyncValue {
        if isOptional { return .null }
        var problems: [String] = []
        return embeddedType(element).map { object([], $0, "", &problems) } ?? .scalar(TableLayout.zero(of: element))
    }

    private func object(
        _ members: [JSONMember], _ type: ObjectTypeSchema, _ path: String, _ problems: inout [String]
    ) -> SyncValue {
        var values = [SyncValue](repeating: .null, count: type.properties.count)
        for property in type.properties where property.isColumn || property.isCollection {
            // If several members have the same name, the last member is used, as in PostgreSQL.
            let json = members.last { $0.isNamed(property.name) }?.value ?? .null
            let path = path + "." + property.name
            values[property.index] =
                property.isCollection
                ? collection(json, property, path, &problems)
                : value(
                    json, property.element, isOptional: property.isOptional || property.isLink, path, &problems)
        }
        return .embedded(values)
    }

    func target(_ key: JSONValue, _ type: Int) -> ObjectAddress? {
        guard let property = keyProperty(of: type), let value = JSONScalar.value(key, property.element) else {
            return nil
        }
        return ObjectAddress(type: type, key: value)
    }
}
