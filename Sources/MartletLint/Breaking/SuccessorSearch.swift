import MartletSchema

/// Finds added types that are similar to a removed type, and may be this type with another name.
struct SuccessorSearch {
    /// The name and type of a property, in a form that is equal for an unchanged property in both schemas. If the type
    /// of the property is the containing type, the form does not contain its name, because the containing type may have
    /// been renamed.
    private struct ComparedProperty: Hashable {
        let name: String
        let kind: PropertyTypeModel.Kind
        let value: String
        let isOptional: Bool
    }

    private static let maximumCandidates = 3

    private let schemas: SchemaPair
    private let added: [ObjectModel]
    private var comparedPropertyCounts: [Int] = []
    /// For each compared property, the positions in `added` of the types that have it.
    private var owners: [ComparedProperty: [Int]] = [:]

    init(_ schemas: SchemaPair) {
        self.schemas = schemas
        added = schemas.addedObjects.filter { $0.renamedFrom == nil }
        for (position, object) in added.enumerated() {
            let comparedProperties = comparedProperties(of: object) { $0 }
            comparedPropertyCounts.append(comparedProperties.count)
            for property in comparedProperties { owners[property, default: []].append(position) }
        }
    }

    /// At most three added types that may be `old` with another name, the most similar first. A candidate must share
    /// properties with `old`: at least half of the properties of the larger type.
    func candidates(for old: ObjectModel) -> [RenameCandidate] {
        let comparedProperties = comparedProperties(of: old, name: schemas.currentName)
        var common = [Int](repeating: 0, count: added.count)
        for property in comparedProperties {
            for position in owners[property] ?? [] { common[position] += 1 }
        }
        let likely = added.indices.filter { position in
            added[position].isEmbedded == old.isEmbedded && common[position] > 0
                && common[position] * 2 >= max(comparedProperties.count, comparedPropertyCounts[position])
        }
        return likely.sorted { (common[$1], $0) < (common[$0], $1) }.prefix(Self.maximumCandidates)
            .map { RenameCandidate(old, added[$0]) }
    }

    private func comparedProperties(of object: ObjectModel, name: (String) -> String) -> [ComparedProperty] {
        object.properties.filter { !$0.type.isLinkingObjects }.map { property in
            let type = property.type
            // An empty name represents the containing type.
            let value = type.value.name == object.name ? "" : name(type.value.name)
            return ComparedProperty(name: property.name, kind: type.kind, value: value, isOptional: type.isOptional)
        }
    }
}
