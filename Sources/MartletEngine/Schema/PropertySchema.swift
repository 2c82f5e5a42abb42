/// One property of an object type.
package struct PropertySchema: Sendable, Equatable {
    package let name: String
    package let index: PropertyIndex
    package let kind: PropertyKind
    package let element: ElementType
    package let isOptional: Bool
    package var isIndexed = false
    package var isFullText = false
    package var renamedFrom: String?
    package var onDelete = DeletionRule.nullify

    /// The type as the schema language writes it, for messages.
    package var typeDescription: String {
        let optional = isOptional ? "?" : ""
        let name: String =
            switch element {
            case .scalar(let scalar): scalar.rawValue + optional
            case .intEnum: "Int enum" + optional
            case .stringEnum: "String enum" + optional
            case .link(let type), .embedded(let type): type + optional
            }
        return switch kind {
        case .single: name
        case .list: "List<\(name)>"
        case .set: "Set<\(name)>"
        case .map: "Map<\(name)>"
        case .linkingObjects(let type, let property): "LinkingObjects<\(type).\(property)>"
        }
    }

    /// True for what lies in a column of the object type's own table.
    package var isColumn: Bool { kind == .single }

    package var isCollection: Bool { kind == .list || kind == .set || kind == .map }

    package var isLink: Bool { element.target != nil }

    /// True when a file written with `other` can be read as this without touching a row.
    package func isStoredLike(_ other: PropertySchema) -> Bool {
        kind == other.kind && element == other.element && (isOptional == other.isOptional || isLink)
    }
}
