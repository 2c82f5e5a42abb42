package import MartletEngine

/// The object types on which a client and the service agreed. Messages and conditions contain the position of a type in
/// `types` (its number) and the index of a property in its type, instead of names.
package struct AgreedSchema: Sendable {
    package let types: [ObjectTypeSchema]
    private let numbers: [String: Int]

    /// - Parameter types: the types of one schema, in the order of their numbers. Their names are unique.
    package init(_ types: [ObjectTypeSchema]) {
        self.types = types
        numbers = Dictionary(types.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Selects the synchronized types and the embedded types that they contain, and sorts them by the code points of
    /// their names. So the client and the service get the same numbers, even if one of them has further types that are
    /// not synchronized.
    ///
    /// - Parameters:
    ///   - synced: the names of the synchronized types.
    ///   - all: all types of a program, of a file, or of the facts of a schema.
    package init(synced: Set<String>, in all: [ObjectTypeSchema]) {
        let known = Dictionary(all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var used: [String: ObjectTypeSchema] = [:]
        var waiting = synced.sorted()
        while let name = waiting.popLast() {
            guard used[name] == nil, let type = known[name] else { continue }
            used[name] = type
            for case .embedded(let inner) in type.properties.map(\.element) { waiting.append(inner) }
        }
        self.init(used.values.sorted { $0.name.unicodeScalars.lexicographicallyPrecedes($1.name.unicodeScalars) })
    }

    /// The number of the type with this name; nil if there is no such type.
    package func number(of name: String) -> Int? { numbers[name] }

    /// The type with this number; nil if there is no such type.
    package func type(_ number: Int) -> ObjectTypeSchema? { types.indices.contains(number) ? types[number] : nil }

    package func type(named name: String) -> ObjectTypeSchema? { numbers[name].map { types[$0] } }

    /// The primary key of the type with this name; nil if there is no such type, or if it has no primary key.
    package func primaryKey(of name: String) -> PropertySchema? {
        type(named: name).flatMap { type in type.primaryKey.map { type.properties[$0] } }
    }

    /// The part of the schema that must be equal in the client and in the service, so that they can decode each other's
    /// messages. This text consists of the schema facts of all types, without the parts that concern only one side:
    /// rules, indexes, unique values, deletion rules and former names. The message `hello` contains the hash of the
    /// text.
    package var agreement: String {
        types.map { type in
            var agreed = ObjectTypeSchema(name: type.name, isEmbedded: type.isEmbedded)
            agreed.primaryKey = type.primaryKey
            agreed.syncMode = type.syncMode
            agreed.properties = type.properties.map { property in
                var property = property
                property.isIndexed = false
                property.isFullText = false
                property.renamedFrom = nil
                property.onDelete = .nullify
                property.deleteRule = .nullify
                property.writeRule = nil
                return property
            }
            return SchemaFactsWriter.facts(agreed)
        }.joined(separator: "\n\n") + "\n"
    }
}
