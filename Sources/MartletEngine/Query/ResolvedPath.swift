/// One step of a path. It leads from the objects of one type to the objects of the same type or another type.
package enum PathStep: Sendable, Equatable {
    /// A to-one link or embedded object.
    case link(table: TableID, property: PropertyIndex, target: TableID)
    /// A list, set or map of objects.
    case collection(table: TableID, property: PropertyIndex, target: TableID)
    /// The objects of the type `origin` that link to the row through `property`.
    case linkingObjects(table: TableID, origin: TableID, property: PropertyIndex)
    /// The objects of one type to which the values of an `AnyRealmValue` property link. The links can be nested in
    /// lists and maps.
    case anyLink(table: TableID, property: PropertyIndex, target: TableID)

    package var source: TableID {
        switch self {
        case .link(let table, _, _), .collection(let table, _, _), .linkingObjects(let table, _, _),
            .anyLink(let table, _, _):
            table
        }
    }

    package var target: TableID {
        switch self {
        case .link(_, _, let target), .collection(_, _, let target), .anyLink(_, _, let target): target
        case .linkingObjects(_, let origin, _): origin
        }
    }
}

/// A path whose components have been resolved in the schema.
package struct ResolvedPath: Sendable {
    /// The part of a map to which the end of a path refers. It is `whole` for all other properties.
    package enum Part: Sendable, Equatable {
        case whole, keys
        case entry(String)
    }

    package var steps: [PathStep] = []
    /// For each step, the number of components up to its end.
    package var componentEnds: [Int] = []
    /// The keys of the map entries through which steps lead. Each is stored under the position of its step.
    package var entries: [Int: String] = [:]
    /// The property at the end of the path. Nil if the path ends at a row.
    package var end: (table: TableID, property: PropertyIndex)?
    package var part = Part.whole

    /// A component that does not exist, with the type in which it was looked up.
    package struct Failure: Error, Sendable {
        package let type: String
        package let name: String
        /// The position of the component in the path.
        package let position: Int
    }

    package init(_ path: PropertyPath, from table: TableID, in schema: DatabaseSchema) throws(Failure) {
        var current = table
        var position = 0
        let components = path.components
        while position < components.count {
            let type = schema[current].type
            let component = components[position]
            switch component {
            case .backlinks(let origin, let name):
                guard let source = schema[origin], let property = source.type[name], property.leads(to: type.name)
                else { throw Failure(type: type.name, name: component.text, position: position) }
                position += 1
                append(.linkingObjects(table: current, origin: source.id, property: property.index), position)
                current = source.id
            case .keys, .entry, .type:
                throw Failure(type: type.name, name: component.text, position: position)
            case .property(let name):
                guard let property = type[name] else {
                    throw Failure(type: type.name, name: name, position: position)
                }
                position += 1
                let part = try Self.part(components, &position, of: property, type)
                guard position < components.count else {
                    end = (current, property.index)
                    self.part = part
                    return
                }
                if property.isAny, case .type(let name) = components[position], let target = schema[name] {
                    position += 1
                    append(.anyLink(table: current, property: property.index, target: target.id), position)
                    current = target.id
                    continue
                }
                guard part != .keys, let step = Self.step(property, of: current, in: schema) else {
                    throw Failure(type: "\(type.name).\(name)", name: components[position].text, position: position)
                }
                if case .entry(let key) = part { entries[steps.count] = key }
                append(step, position)
                current = step.target
            }
        }
    }

    private mutating func append(_ step: PathStep, _ componentEnd: Int) {
        steps.append(step)
        componentEnds.append(componentEnd)
    }

    private static func part(
        _ components: [PropertyPath.Component], _ position: inout Int, of property: PropertySchema,
        _ type: ObjectTypeSchema
    ) throws(Failure) -> Part {
        guard position < components.count else { return .whole }
        let part: Part
        switch components[position] {
        case .keys: part = .keys
        case .entry(let key): part = .entry(key)
        default: return .whole
        }
        guard property.kind == .map else {
            throw Failure(
                type: "\(type.name).\(property.name)", name: components[position].text, position: position)
        }
        position += 1
        return part
    }

    /// True if the step at this position can lead to several rows.
    package func isToMany(_ position: Int) -> Bool {
        if case .link = steps[position] { return false }
        return entries[position] == nil
    }

    /// If this path ends at a collection of objects or at linking objects, returns the path to these objects. Otherwise
    /// returns this path.
    package func enteringCollection(in schema: DatabaseSchema, componentCount: Int) -> ResolvedPath {
        guard let end, part == .whole, case let property = schema[end.table].type.properties[end.property],
            property.kind != .single, let step = Self.step(property, of: end.table, in: schema)
        else { return self }
        var entered = self
        entered.append(step, componentCount)
        entered.end = nil
        return entered
    }

    /// The step for a `property` after which a path continues. Nil if the property does not refer to objects.
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

extension PropertySchema {
    fileprivate func leads(to type: String) -> Bool {
        if case .linkingObjects = kind { return false }
        return element.target == type
    }
}
