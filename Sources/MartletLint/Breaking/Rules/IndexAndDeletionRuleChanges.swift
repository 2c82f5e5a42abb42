import MartletSchema

/// Finds removed indexes, removed full-text indexes, and changed deletion rules of links and collections. An unchanged
/// `onDelete` of a collection is reported too, because programs that were built with Martlet 0.1 ignored it.
struct IndexAndDeletionRuleChanges: BreakingRule {
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
        return changes + deletionRuleChanges(old, new, name)
    }

    private func deletionRuleChanges(_ old: PropertyModel, _ new: PropertyModel, _ name: String) -> [BreakingChange] {
        var changes: [BreakingChange] = []
        for (key, before, now) in [
            ("onDelete", old.onDelete, new.onDelete), ("deleteRule", old.deleteRule, new.deleteRule),
        ] where before != now {
            changes.append(
                BreakingChange(
                    .query,
                    "'\(key)' of \(name) was '\(before.rawValue)' and is '\(now.rawValue)', so deletions "
                        + "have other effects; keep '\(key): \(before.rawValue)'",
                    at: new.nameSpan, was: old.nameSpan))
        }
        // Programs that were built with Martlet 0.1 ignored `onDelete` on collections, so the rule takes effect now.
        if new.onDelete != .nullify, old.onDelete == new.onDelete, !new.type.isSingle {
            changes.append(
                BreakingChange(
                    .query,
                    "'onDelete: \(new.onDelete.rawValue)' of \(name) takes effect now, but Martlet 0.1 ignored it on "
                        + "lists, sets and maps, so deletions have other effects; remove it, or keep it if this is "
                        + "intended",
                    at: new.nameSpan, was: old.nameSpan))
        }
        return changes
    }
}
