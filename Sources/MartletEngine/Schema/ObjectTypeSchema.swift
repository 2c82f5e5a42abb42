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

    /// True when code made for `other` can use tables made for this type: the same properties in the same order, stored
    /// and deleted alike, and words indexed where `other` searches for them. Words beyond those are written by all who
    /// follow the file; other indexes, unique sets and former names may differ.
    package func isLaidOut(for other: ObjectTypeSchema) -> Bool {
        name == other.name && isEmbedded == other.isEmbedded && primaryKey == other.primaryKey
            && properties.count == other.properties.count
            && zip(properties, other.properties).allSatisfy {
                $0.name == $1.name && $0.kind == $1.kind && $0.element == $1.element && $0.isOptional == $1.isOptional
                    && $0.onDelete == $1.onDelete && $0.deleteRule == $1.deleteRule && ($0.isFullText || !$1.isFullText)
            }
    }

    /// The same type after the types it leads to were renamed.
    package func retargeted(_ name: (String) -> String) -> ObjectTypeSchema {
        var type = self
        type.properties = properties.map { $0.retargeted(name) }
        return type
    }
}
