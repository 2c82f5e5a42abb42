/// One object type: what the runtime knows of a generated class.
package struct ObjectTypeSchema: Sendable, Equatable {
    package let name: String
    package let isEmbedded: Bool
    package var renamedFrom: String?
    package var primaryKey: PropertyIndex?
    package var uniques: [[PropertyIndex]] = []
    package var properties: [PropertySchema] = []
    private var positions: [String: PropertyIndex] = [:]

    package init(name: String, isEmbedded: Bool) {
        self.name = name
        self.isEmbedded = isEmbedded
    }

    mutating func append(_ property: PropertySchema) {
        positions[property.name] = property.index
        properties.append(property)
    }

    package subscript(name: String) -> PropertySchema? { positions[name].map { properties[$0] } }

    /// True when the primary key is an integer and so serves as the object key itself.
    package var hasIntegerKey: Bool {
        guard let primaryKey, case .scalar(let scalar) = properties[primaryKey].element else { return false }
        return scalar.isInteger
    }
}
