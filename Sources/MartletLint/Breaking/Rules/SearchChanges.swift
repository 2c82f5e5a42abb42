import MartletSchema

/// Indexes and full-text search that are gone, and links that delete in another way.
struct SearchChanges: BreakingRule {
    func changes(in schemas: SchemaPair) -> [BreakingChange] {
        schemas.objects.flatMap { pair in
            pair.properties.flatMap { changes($0.old, $0.new, pair) }
        }
    }

    private func changes(_ old: PropertyModel, _ new: PropertyModel, _ pair: ObjectPair) -> [BreakingChange] {
        let name = "'\(pair.new.name).\(new.name)'"
        var changes: [BreakingChange] = []
        if old.isIndexed, !new.isIndexed, !new.isPrimaryKey {
            let entry = pair.old.indexes.first { $0.value == old.name }
            changes.append(
                BreakingChange(
                    .query, "\(name) has no index any more, and queries for it become slower; keep it in 'index'",
                    at: new.nameSpan, was: entry?.span ?? old.nameSpan))
        }
        if old.isFullText, !new.isFullText {
            changes.append(
                BreakingChange(
                    .query, "\(name) has no full-text search any more; keep 'fullText: true'", at: new.nameSpan,
                    was: old.fullTextSpan ?? old.nameSpan))
        }
        if old.onDelete != new.onDelete {
            changes.append(
                BreakingChange(
                    .query,
                    "'onDelete' of \(name) was '\(old.onDelete.rawValue)' and is '\(new.onDelete.rawValue)', so other "
                        + "objects are deleted; keep 'onDelete: \(old.onDelete.rawValue)'",
                    at: new.nameSpan, was: old.nameSpan))
        }
        return changes
    }
}
