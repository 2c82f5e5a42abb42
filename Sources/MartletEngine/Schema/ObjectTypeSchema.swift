/// One object type, as described by its generated class or by the catalog of a file.
package struct ObjectTypeSchema: Sendable, Equatable {
    package let name: String
    package let isEmbedded: Bool
    package var renamedFrom: String?
    package var primaryKey: PropertyIndex?
    package var uniques: [[PropertyIndex]] = []
    package var syncMode = SyncMode.none
    /// The rules of the type in the order of the schema facts. Each scope occurs at most once.
    package internal(set) var rules: [SyncRule] = []
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

    /// True if the primary key is an integer. It is then also the object key.
    package var hasIntegerKey: Bool {
        guard let primaryKey, case .scalar(let scalar) = properties[primaryKey].element else { return false }
        return scalar.isInteger
    }

    /// True if code generated for `other` can use tables created for this type. Both types must have the same
    /// properties in the same order, with the same types and deletion rules. This type must have a full-text index for
    /// every property that has one in `other`. It may have further full-text indexes, because a program also maintains
    /// those that only the file declares. Other indexes, unique constraints and former names may differ.
    package func isStorageCompatible(with other: ObjectTypeSchema) -> Bool {
        name == other.name && isEmbedded == other.isEmbedded && primaryKey == other.primaryKey
            && properties.count == other.properties.count
            && zip(properties, other.properties).allSatisfy {
                $0.name == $1.name && $0.kind == $1.kind && $0.element == $1.element && $0.isOptional == $1.isOptional
                    && $0.onDelete == $1.onDelete && $0.deleteRule == $1.deleteRule && ($0.isFullText || !$1.isFullText)
            }
    }

    /// True if an index begins with the property.
    func isFirstInIndex(_ property: PropertyIndex) -> Bool {
        properties[property].isIndexed || properties[property].isLink || primaryKey == property
            || uniques.contains { $0.first == property }
    }

    /// True if an index contains the property, at its beginning or after other properties.
    func hasIndex(_ property: PropertyIndex) -> Bool {
        properties[property].isIndexed || properties[property].isLink || primaryKey == property
            || uniques.contains { $0.contains(property) }
    }

    /// The rule with this scope.
    package func rule(_ scope: SyncRule.Scope) -> SyncRule? { rules.first { $0.scope == scope } }

    /// A copy of this type with the names of the target types converted by `name`. It is used if the program has
    /// renamed types.
    package func retargeted(_ name: (String) -> String) -> ObjectTypeSchema {
        var type = self
        type.properties = properties.map { $0.retargeted(name) }
        return type
    }
}
