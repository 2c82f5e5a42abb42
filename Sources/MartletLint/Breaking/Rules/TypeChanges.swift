import MartletSchema

/// Finds object types that were removed, were renamed, or changed between top-level and embedded.
struct TypeChanges: BreakingRule {
    func changes(in schemas: SchemaPair) -> [BreakingChange] {
        let search = SuccessorSearch(schemas)
        let clashes = clashes(in: schemas)
        let removed = schemas.removedObjects.filter { old in !clashes.contains { $0.old.name == old.name } }
        return removed.map { self.removed($0, search) } + clashes.map { clash($0, schemas) }
            + schemas.objects.flatMap(changes)
    }

    /// Pairs of an old and a new type that do not correspond to each other, although their names differ only in case.
    /// The runtime does not open a file that contains such an old type.
    private func clashes(in schemas: SchemaPair) -> [(old: ObjectModel, new: ObjectModel)] {
        let old = Dictionary(schemas.old.objects.map { ($0.name.lowercased(), $0) }) { first, _ in first }
        return schemas.new.objects.compactMap { new in
            guard schemas.old.object(named: new.name) == nil, let similar = old[new.name.lowercased()],
                schemas.object(formerly: similar.name)?.new.name != new.name
            else { return nil }
            return (similar, new)
        }
    }

    private func clash(_ pair: (old: ObjectModel, new: ObjectModel), _ schemas: SchemaPair) -> BreakingChange {
        let canDeclareRename = schemas.object(formerly: pair.old.name) == nil && pair.new.renamedFrom == nil
        return BreakingChange(
            .data,
            "type '\(pair.new.name)' differs only in case from '\(pair.old.name)', and a file that contains "
                + "'\(pair.old.name)' cannot be opened; "
                + (canDeclareRename ? "use the old name, or add 'renamedFrom: \(pair.old.name)'" : "use another name"),
            at: pair.new.nameSpan, was: pair.old.nameSpan)
    }

    private func removed(_ old: ObjectModel, _ search: SuccessorSearch) -> BreakingChange {
        BreakingChange(
            .data, "type '\(old.name)' was removed, and its stored objects cannot be read; declare it again", at: nil,
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
