package import MartletEngine

/// Why the facts of a schema cannot be used for synchronization.
package struct SyncSchemaError: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// The types that a client and the service agree on.
///
/// Its text form consists of the schema facts of all types (`SchemaFactsParser` in MartletEngine), separated by empty
/// lines. The canonical text has the types in the order of their names, without what does not affect the data: indexes,
/// and the former names. The number of a type is its place in this order, and the number of a property is its place in
/// the type.
package struct SyncSchema: Sendable {
    /// All types, also embedded ones, in the order of their names.
    package let types: [ObjectTypeSchema]
    private let numbers: [String: Int]

    /// - Parameter facts: the facts of all types, in any order.
    package init(facts: String) throws(SyncSchemaError) {
        var types: [ObjectTypeSchema] = []
        for paragraph in Self.paragraphs(facts) {
            guard let type = SchemaFactsParser.storedType(paragraph) else {
                throw SyncSchemaError("the schema facts cannot be read: '\(paragraph.prefix(60))'; generate them again")
            }
            types.append(type)
        }
        // By code points, so that the order does not depend on the locale.
        types.sort { $0.name.unicodeScalars.lexicographicallyPrecedes($1.name.unicodeScalars) }
        self.types = types
        numbers = Dictionary(types.indices.map { (types[$0].name, $0) }) { first, _ in first }
        guard numbers.count == types.count else { throw SyncSchemaError("two types of the schema have the same name") }
        for type in types {
            for property in type.properties {
                guard let target = property.element.target, numbers[target] == nil else { continue }
                throw SyncSchemaError("'\(type.name).\(property.name)' names the unknown type '\(target)'")
            }
        }
    }

    package func number(of name: String) -> Int? { numbers[name] }

    /// The canonical text.
    package var facts: String {
        types.map { type in
            var type = type
            type.renamedFrom = nil
            for index in type.properties.indices {
                type.properties[index].isIndexed = false
                type.properties[index].isFullText = false
                type.properties[index].renamedFrom = nil
            }
            return SchemaFactsWriter.facts(type)
        }.joined(separator: "\n\n") + "\n"
    }

    private static func paragraphs(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .split { $0.allSatisfy(\.isWhitespace) }
            .map { $0.joined(separator: "\n") }
    }
}
