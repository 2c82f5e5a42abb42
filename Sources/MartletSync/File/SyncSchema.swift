package import MartletEngine
package import MartletSyncProtocol

/// The types that a client synchronizes, with the numbers of types and properties that messages contain.
package struct SyncSchema: Sendable {
    package let agreed: AgreedSchema
    /// The names of the types and properties in the order of their numbers. The file contains this text, so that the
    /// numbers in its outbox can be translated after a change of the schema.
    package let numbering: String

    /// - Parameters:
    ///   - synced: the names of the synchronized types.
    ///   - all: all types of the program or of the file.
    ///   - path: the path of the file, for the error.
    /// - Throws: `.invalidInput` if a type or property cannot be synchronized. The message names all of these types and
    ///   properties.
    package init(_ synced: Set<String>, in all: [ObjectTypeSchema], path: String) throws(EngineError) {
        agreed = AgreedSchema(synced: synced, in: all)
        numbering = agreed.types.map { type in
            ([type.isEmbedded ? "embedded" : "object", type.name] + type.properties.map(\.name)).joined(separator: " ")
        }.joined(separator: "\n")
        let names = Set(all.map(\.name))
        let embedded = Dictionary(
            all.filter(\.isEmbedded).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let missing = synced.subtracting(names).sorted().map { "'\($0)' is not a type of the program" }
        let problems = missing + SyncableTypes(synced: synced, embedded: embedded).problems(all)
        guard problems.isEmpty else {
            throw EngineError(
                .invalidInput, path: path,
                "these types cannot be synchronized; nothing was changed:" + problems.map { "\n  - \($0)" }.joined())
        }
    }

    /// The synchronized types and the embedded types that they contain, by their numbers.
    package var types: [ObjectTypeSchema] { agreed.types }

    package func number(of type: String) -> Int? { agreed.number(of: type) }

    /// The type with a number; nil if no type has the number.
    package subscript(number: Int) -> ObjectTypeSchema? { agreed.type(number) }

    package func embeddedType(_ name: String) -> ObjectTypeSchema? {
        agreed.type(named: name).flatMap { $0.isEmbedded ? $0 : nil }
    }
}

/// Finds the types and properties that cannot be synchronized.
private struct SyncableTypes {
    let synced: Set<String>
    let embedded: [String: ObjectTypeSchema]

    func problems(_ all: [ObjectTypeSchema]) -> [String] {
        all.sorted { $0.name < $1.name }.flatMap { type in
            if synced.contains(type.name) { return problems(of: type) }
            // An embedded type is checked with each synchronized type that contains it.
            return type.isEmbedded ? [] : type.properties.compactMap { localProblem($0, type) }
        }
    }

    private func problems(of type: ObjectTypeSchema) -> [String] {
        if type.isEmbedded { return ["'\(type.name)' is embedded; synchronize the types that contain it"] }
        let key = type.primaryKey == nil ? ["'\(type.name)' has no primary key; give it one"] : []
        var visited: Set<String> = []
        return key
            + type.properties.flatMap { property in
                property.isLocal
                    ? localProblem(property, type).map { [$0] } ?? [] : problems(of: property, type, &visited)
            }
    }

    private func problems(
        of property: PropertySchema, _ type: ObjectTypeSchema, _ visited: inout Set<String>
    ) -> [String] {
        let name = "'\(type.name).\(property.name)'"
        if case .linkingObjects = property.kind { return [] }
        if property.isCollection, property.onDelete == .cascade {
            return ["\(name) is a collection with 'onDelete: cascade', which is not synchronized yet"]
        }
        switch property.element {
        case .link(let target) where !synced.contains(target):
            return ["\(name) links to '\(target)', which is not synchronized; synchronize it, too"]
        case .embedded(let target):
            guard let inner = embedded[target], visited.insert(target).inserted else { return [] }
            return inner.properties.flatMap { problems(of: $0, inner, &visited) }
        default: return []
        }
    }

    // A local property, or a property of a type that is not synchronized, may link to a synchronized object. When the
    // target leaves the file, a to-one link becomes nil and is stored in `martlet_unresolved`. Links in local
    // collections and in local `AnyRealmValue` properties cannot be stored there, so these properties are refused.
    private func localProblem(_ property: PropertySchema, _ type: ObjectTypeSchema) -> String? {
        let name = "'\(type.name).\(property.name)'"
        if property.isAny {
            return "\(name) is local and has values of type AnyRealmValue, which could be links to synchronized "
                + "objects; this is not supported yet"
        }
        if property.isCollection, case .link(let target) = property.element, synced.contains(target) {
            return "\(name) is a collection of links to '\(target)', which is synchronized; this is not supported yet"
        }
        return nil
    }
}
