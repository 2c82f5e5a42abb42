import MartletEngine

/// A key path to observe by key and value: links, and at its end a property, a collection's `@count`, or `isInvalidated` of
/// an object or a collection.
struct KeyValuePath {
    let text: String
    /// The property at each level, or `KeyValueObservers.invalidation` at the end.
    private(set) var steps: [Int] = []
    /// The property at the end; nil for `isInvalidated`.
    private(set) var end: PropertySchema?
    /// The end is the number of elements of `end`.
    private(set) var isCount = false
    /// Whether it ends in `isInvalidated` of an object that goes with the one it begins at.
    private(set) var isOfOwned = false

    static let count = "@count"

    /// Traps on a path that leads nowhere, through a collection, or to linking objects.
    init(_ names: [String], from object: ObjectBase) {
        text = names.joined(separator: ".")
        var type = object._model.schema
        var isOwned = true
        for (position, name) in names.enumerated() {
            let rest = names[(position + 1)...]
            if name == KeyValueObservers.invalidationName, rest.isEmpty {
                steps.append(KeyValueObservers.invalidation)
                isOfOwned = isOwned && position > 0
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
                    // A collection goes with its owner.
                    steps[position] = KeyValueObservers.invalidation
                    isOfOwned = isOwned && position > 0
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
