import MartletSchema

/// Object types that are gone, have another name, or are embedded now and were not.
struct TypeChanges: BreakingRule {
    private static let maximumCandidates = 3

    func changes(in schemas: SchemaPair) -> [BreakingChange] {
        schemas.goneObjects.map { gone($0, schemas) } + schemas.objects.flatMap(changes)
    }

    private func gone(_ old: ObjectModel, _ schemas: SchemaPair) -> BreakingChange {
        BreakingChange(
            .data, "type '\(old.name)' is gone, and with it the objects stored of it; declare it again", at: nil,
            was: old.nameSpan, renames: candidates(for: old, schemas))
    }

    /// New types that have at least half of the properties; those that have most of them first.
    private func candidates(for old: ObjectModel, _ schemas: SchemaPair) -> [RenameCandidate] {
        let shape = shape(of: old) { $0 == old.name ? nil : schemas.currentName($0) }
        let likely = schemas.addedObjects.compactMap { new -> (model: ObjectModel, score: Int)? in
            guard new.isEmbedded == old.isEmbedded, new.renamedFrom == nil else { return nil }
            let other = self.shape(of: new) { $0 == new.name ? nil : $0 }
            let common = shape.intersection(other).count
            return common > 0 && common * 2 >= max(shape.count, other.count) ? (new, common) : nil
        }
        return likely.enumerated().sorted { ($1.element.score, $0.offset) < ($0.element.score, $1.offset) }
            .prefix(Self.maximumCandidates).map { RenameCandidate(old, $0.element.model) }
    }

    /// Names and types of the properties; `name` says how types are called, nil for the type itself.
    private func shape(of object: ObjectModel, name: (String) -> String?) -> Set<[String]> {
        Set(
            object.properties.filter { !$0.type.isLinkingObjects }.map { property in
                let type = property.type
                return [
                    property.name, "\(type.kind)", name(type.value.name) ?? "itself", type.isOptional ? "?" : "",
                ]
            })
    }

    private func changes(_ pair: ObjectPair) -> [BreakingChange] {
        var changes: [BreakingChange] = []
        if pair.old.name != pair.new.name {
            changes.append(
                BreakingChange(
                    .source, "type '\(pair.old.name)' is '\(pair.new.name)' now; rename it in code that uses it",
                    at: pair.new.nameSpan, was: pair.old.nameSpan))
        }
        if pair.old.isEmbedded != pair.new.isEmbedded {
            let words = ("a top-level type", "an embedded type")
            let (before, after) = pair.old.isEmbedded ? (words.1, words.0) : words
            changes.append(
                BreakingChange(
                    .data,
                    "'\(pair.new.name)' is \(after) and was \(before); keep what it is, or add a type with another name",
                    at: pair.new.nameSpan, was: pair.old.nameSpan))
        }
        return changes
    }
}
