import MartletEngine

/// A key path for key-value observation: links, and at the end a property, the `@count` of a collection, or
/// `isInvalidated` of an object or a collection.
struct KeyValuePath {
    let text: String
    /// The index of the property at each level, or `KeyValueObservers.invalidation` at the end.
    private(set) var steps: [Int] = []
    /// The property at the end; nil for `isInvalidated`.
    private(set) var end: PropertySchema?
    /// Whether the path ends in `@count` of the collection `end`.
    private(set) var isCount = false
    /// True if the path ends in `isInvalidated` of an embedded object that the root object owns, or of a collection of
    /// such an embedded object. Both are deleted together with the root object.
    private(set) var endsInInvalidationOfOwned = false

    static let count = "@count"

    /// Traps if a component does not exist, or if the path leads through a collection or to linking objects.
    init(_ names: [String], from object: ObjectBase) {
        text = names.joined(separator: ".")
        var type = object._model.schema
        var isOwned = true
        for (position, name) in names.enumerated() {
            let rest = names[(position + 1)...]
            if name == KeyValueObservers.invalidationName, rest.isEmpty {
                steps.append(KeyValueObservers.invalidation)
                endsInInvalidationOfOwned = isOwned && position > 0
                return
            }
            guard let property = type[name] else { Misuse.unknownKeyPath(text, component: name, type: type.name) }
            if case .linkingObjects = property.kind { Misuse.observeLinkingObjects("\(type.name).\(name)") }
            steps.append(property.index)
            guard let next = rest.first else {
                end = property
                return
            }
            if property.isCollection {
                if next == KeyValueObservers.invalidationName, rest.count == 1 {
                    // A collection is invalidated together with its owner.
                    steps[position] = KeyValueObservers.invalidation
                    endsInInvalidationOfOwned = isOwned && position > 0
                    return
                }
                guard next == Self.count, rest.count == 1 else {
                    Misuse.observeThroughCollection(text, "\(type.name).\(name)")
                }
                end = property
                isCount = true
                return
            }
            guard let target = property.element.target, let model = object.targetModel(target) else {
                Misuse.unknownKeyPath(text, component: next, type: property.typeDescription)
            }
            type = model.schema
            isOwned = isOwned && property.element.isEmbedded
        }
        Misuse.unknownKeyPath(text, component: text, type: type.name)
    }
}
