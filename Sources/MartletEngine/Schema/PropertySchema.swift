/// One property of an object type.
package struct PropertySchema: Sendable, Equatable {
    package let name: String
    package let index: PropertyIndex
    package private(set) var kind: PropertyKind
    package internal(set) var element: ElementType
    package let isOptional: Bool
    package var isIndexed = false
    package var isFullText = false
    package var renamedFrom: String?
    /// What happens to the object with the property when a target of the property is deleted.
    package var onDelete = DeletionRule.nullify
    /// What happens to the targets of the property when the object with the property is deleted.
    package var deleteRule = DeletionRule.nullify
    /// True for a property of a synchronized type whose values stay in the local file (`sync: none`).
    package var isLocal = false
    /// True for a counter (`merge: add`): the differences of concurrent changes are added.
    package var isCounter = false
    /// The condition under which a user may change the property. It is a query text that can contain `$user.<claim>`.
    package var writeRule: String?

    /// The type in the notation of the schema language, for messages.
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

    /// True for a property that is stored in a column of the table of its object type.
    package var isColumn: Bool { kind == .single }

    package var isCollection: Bool { kind == .list || kind == .set || kind == .map }

    package var isLink: Bool { element.target != nil }

    /// True for `AnyRealmValue` values. They may be links, or contain links.
    package var isAny: Bool { element == .scalar(.any) }

    /// A copy of this property with the name of the target type converted by `name`. It is used if the program has
    /// renamed types.
    func retargeted(_ name: (String) -> String) -> PropertySchema {
        var property = self
        if case .linkingObjects(let type, let origin) = kind {
            property.kind = .linkingObjects(type: name(type), property: origin)
        }
        switch element {
        case .link(let type): property.element = .link(name(type))
        case .embedded(let type): property.element = .embedded(name(type))
        default: break
        }
        return property
    }
}
