import MartletSchema

/// Object types that were removed or renamed, or changed between top-level and embedded.
struct TypeChanges: BreakingRule {
    func changes(in schemas: SchemaPair) -> [BreakingChange] {
        let search = SuccessorSearch(schemas)
        return schemas.removedObjects.map { removed($0, search) } + schemas.objects.flatMap(changes)
    }

    private func removed(_ old: ObjectModel, _ search: SuccessorSearch) -> BreakingChange {
        BreakingChange(
            .data, "type '\(old.name)' is gone, and its stored objects cannot be read; declare it again", at: nil,
            was: old.nameSpan, renames: search.candidates(for: old))
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
                    "'\(pair.new.name)' was \(before) and is \(after); change it back, or add a type with another name",
                    at: pair.new.nameSpan, was: pair.old.nameSpan))
        }
        return changes
    }
}
