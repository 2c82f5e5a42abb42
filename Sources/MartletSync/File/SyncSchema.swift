package import MartletEngine

/// The types that a client synchronizes, and the numbers of types and properties that messages contain.
///
/// A type has the position of its name in the order of the names, a property has its position in the type. Embedded types
/// have no number, because an embedded object is a value of its owner.
package struct SyncSchema: Sendable {
    /// The synchronized types, by their numbers.
    package let types: [ObjectTypeSchema]
    private let numbers: [String: Int]
    private let embedded: [String: ObjectTypeSchema]

    /// - Parameters:
    ///   - synced: the names of the synchronized types.
    ///   - all: all types of the program or of the file.
    ///   - path: the path of the file, for the error.
    /// - Throws: `.invalidInput` if the types have properties that cannot be synchronized. The message names all of them.
    package init(_ synced: Set<String>, in all: [ObjectTypeSchema], path: String) throws(EngineError) {
        types = all.filter { synced.contains($0.name) }.sorted { $0.name < $1.name }
        numbers = Dictionary(types.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        embedded = Dictionary(
            all.filter(\.isEmbedded).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let missing = synced.subtracting(types.map(\.name)).sorted().map { "'\($0)' is not a type of the program" }
        let problems = missing + SyncableTypes(synced: synced, embedded: embedded).problems(all)
        guard problems.isEmpty else {
            throw EngineError(
                .invalidInput, path: path,
                "these types cannot be synchronized; nothing was changed:" + problems.map { "\n  - \($0)" }.joined())
        }
    }

    package func number(of type: String) -> Int? { numbers[type] }

    /// The type with a number; nil if there is none.
    package subscript(number: Int) -> ObjectTypeSchema? { types.indices.contains(number) ? types[number] : nil }

    package func embeddedType(_ name: String) -> ObjectTypeSchema? { embedded[name] }

    /// The names of the types and properties in the order of their numbers. The file contains this text, so that the
    /// numbers in its outbox can be translated after a change of the schema.
    package var numbering: String {
        var used: [String: ObjectTypeSchema] = [:]
        for type in types { addEmbedded(of: type, to: &used) }
        let all = types + used.values.sorted { $0.name < $1.name }
        return all.map { type in
            ([type.isEmbedded ? "embedded" : "object", type.name] + type.properties.map(\.name)).joined(separator: " ")
        }.joined(separator: "\n")
    }

    private func addEmbedded(of type: ObjectTypeSchema, to used: inout [String: ObjectTypeSchema]) {
        for property in type.properties {
            guard case .embedded(let name) = property.element, used[name] == nil, let inner = embedded[name] else {
                continue
            }
            used[name] = inner
            addEmbedded(of: inner, to: &used)
        }
    }
}

/// Finds what cannot be synchronized.
private struct SyncableTypes {
    let synced: Set<String>
    let embedded: [String: ObjectTypeSchema]

    func problems(_ all: [ObjectTypeSchema]) -> [String] {
        all.sorted { $0.name < $1.name }.flatMap { type in
            if synced.contains(type.name) { return problems(of: type) }
            // An embedded type is checked for each type that contains it.
            return type.isEmbedded ? [] : type.properties.compactMap { localProblem($0, type) }
        }
    }

    private func problems(of type: ObjectTypeSchema) -> [String] {
        if type.isEmbedded { return ["'\(type.name)' is embedded; synchronize the types that contain it"] }
        let key = type.primaryKey == nil ? ["'\(type.name)' has no primary key; give it one"] : []
        var visited: Set<String> = []
        return key + type.properties.flatMap { problems(of: $0, type, &visited) }
    }

    private func problems(
        of property: PropertySchema, _ type: ObjectTypeSchema, _ visited: inout Set<String>
    ) -> [String] {
        let name = "'\(type.name).\(property.name)'"
        if case .linkingObjects = property.kind { return [] }
        if property.isCollection { return ["\(name) is a collection, and collections are not synchronized yet"] }
        if property.isAny { return ["\(name) has values of any type, which are not synchronized yet"] }
        switch property.element {
        case .link(let target) where !synced.contains(target):
            return ["\(name) links to '\(target)', which is not synchronized; synchronize it, too"]
        case .embedded(let target):
            guard let inner = embedded[target], visited.insert(target).inserted else { return [] }
            return inner.properties.flatMap { problems(of: $0, inner, &visited) }
        default: return []
        }
    }

    // A local object may link to a synchronized one. When the target leaves the file, a single link becomes nil and is
    // remembered. This is not possible for other values.
    private func localProblem(_ property: PropertySchema, _ type: ObjectTypeSchema) -> String? {
        let name = "'\(type.name).\(property.name)'"
        if property.isAny {
            return "\(name) may link to synchronized objects, which values of any type cannot do yet"
        }
        if property.isCollection, case .link(let target) = property.element, synced.contains(target) {
            return "\(name) is a collection of links to '\(target)', which is synchronized; this is not supported yet"
        }
        return nil
    }
}
