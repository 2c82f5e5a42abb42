import MartletSchema

/// Finds declarations whose `renamedFrom` was removed. A file still contains the old name if no program has opened the
/// file while `renamedFrom` existed.
struct RemovedRenames: BreakingRule {
    func changes(in schemas: SchemaPair) -> [BreakingChange] {
        schemas.objects.flatMap { pair in
            let type = change(
                "'\(pair.new.name)'", (pair.old.name, pair.old.renamedFrom),
                (pair.new.name, pair.new.nameSpan, pair.new.renamedFrom))
            let properties = pair.properties.map { property in
                change(
                    "'\(pair.new.name).\(property.new.name)'", (property.old.name, property.old.renamedFrom),
                    (property.new.name, property.new.nameSpan, property.new.renamedFrom))
            }
            return ([type] + properties).compactMap(\.self)
        }
    }

    private func change(
        _ thing: String, _ old: (name: String, from: Spanned<String>?),
        _ new: (name: String, span: SourceSpan, from: Spanned<String>?)
    ) -> BreakingChange? {
        guard let former = old.from, new.from == nil, old.name == new.name else { return nil }
        return BreakingChange(
            .query,
            "\(thing) no longer says that it was '\(former.value)', so older files are not migrated; "
                + "keep 'renamedFrom: \(former.value)' while such files may exist",
            at: new.span, was: former.span)
    }
}
