import MartletSchema

/// Finds changes of primary keys and of `unique` lists.
struct UniquenessChanges: BreakingRule {
    func changes(in schemas: SchemaPair) -> [BreakingChange] {
        schemas.objects.flatMap { primaryKeyChanges($0) + uniqueSetChanges($0) }
    }

    private func primaryKeyChanges(_ pair: ObjectPair) -> [BreakingChange] {
        let before = pair.old.primaryKey.map { pair.currentName($0.value) }
        let after = pair.new.primaryKey?.value
        guard before != after else { return [] }
        let words = { (name: String?) in name.map { "'\($0)'" } ?? "absent" }
        return [
            BreakingChange(
                .data,
                "the primary key of '\(pair.new.name)' was \(words(pair.old.primaryKey?.value)) and is "
                    + "\(words(after)); undo this change, or add a type with another name",
                at: pair.new.primaryKey?.span ?? pair.new.nameSpan, was: pair.old.primaryKey?.span)
        ]
    }

    private func uniqueSetChanges(_ pair: ObjectPair) -> [BreakingChange] {
        let before = pair.old.unique.map { Set($0.map { pair.currentName($0.value) }) }
        let after = pair.new.unique.map { Set($0.map(\.value)) }
        let added = pair.new.unique.filter { list in
            let names = Set(list.map(\.value))
            // If the values of a set of properties are unique together, the values of every superset are unique too.
            return !before.contains { $0.isSubset(of: names) } && !names.contains(pair.new.primaryKey?.value ?? "")
        }
        let gone = pair.old.unique.filter { list in !after.contains(Set(list.map { pair.currentName($0.value) })) }
        return added.map { list in
            BreakingChange(
                .data,
                "\(text(list.map(\.value), pair)) must be unique now, and a file whose objects share values does not open; "
                    + "take the list out of 'unique', or make the values differ first",
                at: list.first.map { $0.span.union(list[list.count - 1].span) })
        }
            + gone.map { list in
                let names = list.map { pair.currentName($0.value) }
                return BreakingChange(
                    .query, "\(text(names, pair)) need not be unique any more; keep the list in 'unique'",
                    at: pair.new.nameSpan, was: list.first.map { $0.span.union(list[list.count - 1].span) })
            }
    }

    /// - Parameter names: the new names of properties.
    private func text(_ names: [String], _ pair: ObjectPair) -> String {
        names.map { "'\(pair.new.name).\($0)'" }.joined(separator: " and ")
    }
}
