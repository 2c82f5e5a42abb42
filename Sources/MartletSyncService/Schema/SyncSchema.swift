package import MartletEngine
package import MartletSyncProtocol

/// The reason why the facts of a schema cannot be used for synchronization.
package struct SyncSchemaError: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// The types of the objects that clients and the service exchange.
///
/// The text of a schema consists of the schema facts of its types (`SchemaFactsParser` in MartletEngine), separated by
/// empty lines. Types without the fact `sync` are ignored. The canonical text contains the synchronized types and the
/// embedded types that they contain, in the order of their numbers. It does not contain indexes and former names,
/// because they do not affect the data.
package struct SyncSchema: Sendable {
    /// Defines the numbers of types and properties.
    package let agreed: AgreedSchema

    /// - Parameter facts: the facts of the types of a schema, in any order. `martlet facts` writes them.
    package init(facts: String) throws(SyncSchemaError) {
        var all: [ObjectTypeSchema] = []
        for paragraph in Self.paragraphs(facts) {
            guard let type = SchemaFactsParser.storedType(paragraph) else {
                throw SyncSchemaError(
                    "the schema facts cannot be read: '\(paragraph.prefix(60))'; write them again with 'martlet facts'")
            }
            all.append(type)
        }
        guard Set(all.map(\.name)).count == all.count else {
            throw SyncSchemaError("two types of the schema have the same name")
        }
        let synced = Set(all.filter { $0.syncMode != .none && !$0.isEmbedded }.map(\.name))
        guard !synced.isEmpty else {
            throw SyncSchemaError(
                "no type of the schema is synchronized; write 'sync: both' into the YAML of each type whose objects "
                    + "programs exchange, or 'sync: upload' if they only send them, and write the facts again with "
                    + "'martlet facts'")
        }
        agreed = AgreedSchema(synced: synced, in: all)
        for type in agreed.types { try checkTargets(type) }
    }

    /// The synchronized types and the embedded types that they contain, in the order of their numbers.
    package var types: [ObjectTypeSchema] { agreed.types }

    /// The names of the synchronized types.
    package var objectTypeNames: [String] { types.filter { !$0.isEmbedded }.map(\.name) }

    package func number(of name: String) -> Int? { agreed.number(of: name) }

    /// The canonical text of the schema.
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

    private func checkTargets(_ type: ObjectTypeSchema) throws(SyncSchemaError) {
        for property in type.properties where !property.isLocal && (property.isColumn || property.isCollection) {
            switch property.element {
            case .link(let target) where number(of: target) == nil:
                throw SyncSchemaError(
                    "'\(type.name).\(property.name)' links to '\(target)', which is not synchronized; write 'sync: both' "
                        + "into the YAML of '\(target)', or 'sync: none' into that of the property")
            case .embedded(let target) where number(of: target) == nil:
                throw SyncSchemaError("'\(type.name).\(property.name)' names the unknown type '\(target)'")
            default: break
            }
            guard !property.isCollection || property.onDelete != .cascade else {
                throw SyncSchemaError(
                    "'\(type.name).\(property.name)' is a collection with 'onDelete: cascade', which cannot be "
                        + "synchronized yet; remove the rule"
                        + (type.isEmbedded ? "" : ", or write 'sync: none' into the YAML of the property"))
            }
        }
    }

    private static func paragraphs(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .split { $0.allSatisfy(\.isWhitespace) }
            .map { $0.joined(separator: "\n") }
    }
}
