/// One step of a path from an object type to a property of its own or a type it leads to.
package enum PathStep: Sendable, Equatable {
    /// A to-one link or embedded object.
    case link(table: TableID, property: PropertyIndex, target: TableID)
    /// A list, set or map of objects.
    case collection(table: TableID, property: PropertyIndex, target: TableID)
    /// The objects whose `property` leads here.
    case linkingObjects(table: TableID, origin: TableID, property: PropertyIndex)

    package var source: TableID {
        switch self {
        case .link(let table, _, _), .collection(let table, _, _), .linkingObjects(let table, _, _): table
        }
    }

    package var target: TableID {
        switch self {
        case .link(_, _, let target), .collection(_, _, let target): target
        case .linkingObjects(_, let origin, _): origin
        }
    }
}

/// A path held against the schema.
package struct ResolvedPath: Sendable {
    package var steps: [PathStep] = []
    /// The property the path ends in; nil for the row itself.
    package var end: (table: TableID, property: PropertyIndex)?

    /// What does not exist, with the type that lacks it.
    package struct Failure: Error, Sendable {
        package let type: String
        package let name: String
    }

    package init(_ path: PropertyPath, from table: TableID, in schema: DatabaseSchema) throws(Failure) {
        var current = table
        for (offset, name) in path.names.enumerated() {
            let type = schema[current].type
            guard let property = type[name] else { throw Failure(type: type.name, name: name) }
            if offset == path.names.count - 1 {
                end = (current, property.index)
            } else {
                guard let step = Self.step(property, of: current, in: schema) else {
                    throw Failure(type: "\(type.name).\(name)", name: path.names[offset + 1])
                }
                steps.append(step)
                current = step.target
            }
        }
    }

    /// The step that `property` makes when a path goes on behind it; nil when it leads nowhere.
    package static func step(_ property: PropertySchema, of table: TableID, in schema: DatabaseSchema) -> PathStep? {
        if case .linkingObjects(let type, let name) = property.kind {
            guard let origin = schema[type], let source = origin.type[name] else { return nil }
            return .linkingObjects(table: table, origin: origin.id, property: source.index)
        }
        guard let name = property.element.target, let target = schema[name] else { return nil }
        return property.kind == .single
            ? .link(table: table, property: property.index, target: target.id)
            : .collection(table: table, property: property.index, target: target.id)
    }
}
