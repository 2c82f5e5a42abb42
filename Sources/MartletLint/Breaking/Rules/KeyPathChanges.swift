import MartletSchema

/// Finds declared key paths that were removed, have another type, or lead to another property.
struct KeyPathChanges: BreakingRule {
    func changes(in schemas: SchemaPair) -> [BreakingChange] {
        schemas.objects.flatMap { pair in
            pair.old.keyPaths.compactMap { old in
                guard let new = pair.new.keyPaths.first(where: { $0.name == old.name }) else {
                    return BreakingChange(
                        .source, "key path '\(pair.new.name).\(old.name)' was removed; declare it again",
                        at: pair.new.nameSpan, label: "no '\(old.name)' here", was: old.nameSpan)
                }
                return change(old, new, pair, schemas)
            }
        }
    }

    private func change(
        _ old: DeclaredKeyPathModel, _ new: DeclaredKeyPathModel, _ pair: ObjectPair, _ schemas: SchemaPair
    ) -> BreakingChange? {
        let name = "key path '\(pair.new.name).\(new.name)'"
        if old.isList != new.isList {
            let (before, after) = old.isList ? ("a list", "one path") : ("one path", "a list")
            return BreakingChange(
                .source, "\(name) was \(before) and is \(after); change it back", at: new.nameSpan,
                was: old.nameSpan)
        }
        // In generated code, the paths of a list have no individual types, so only the type of a single path matters.
        if !new.isList, let before = old.paths.first, let after = new.paths.first {
            let types = (schemas.shownType(of: before), KeyPathTypeText.type(of: after))
            if types.0 != types.1 {
                return BreakingChange(
                    .source, "\(name) led to '\(types.0)' and leads to '\(types.1)'; add one with another name",
                    at: after.span, was: before.span)
            }
        }
        guard old.paths.map({ schemas.currentText($0) }) != new.paths.map(\.text) else { return nil }
        return BreakingChange(
            .query, "\(name) leads to another property than before; add one with another name", at: new.nameSpan,
            was: old.nameSpan)
    }
}

/// The type of a key path's value, in schema syntax.
enum KeyPathTypeText {
    static func type(of path: KeyPathModel) -> String {
        type(of: path.segments.map(\.type)[...], isOptional: false)
    }

    static func type(of segments: ArraySlice<PropertyTypeModel>, isOptional: Bool) -> String {
        guard let first = segments.first else { return "" }
        let rest = segments.dropFirst()
        let isSingleOptional = first.isSingle && first.isOptional
        if rest.isEmpty { return first.text + (isOptional && !isSingleOptional ? "?" : "") }
        if first.isSingle { return type(of: rest, isOptional: isOptional || isSingleOptional) }
        return "collection of \(type(of: rest, isOptional: false))" + (isOptional ? "?" : "")
    }
}

extension SchemaPair {
    /// The type of the value of an old key path, with the type names of the new schema.
    func shownType(of path: KeyPathModel) -> String {
        KeyPathTypeText.type(of: path.segments.map { current($0.type) }[...], isOptional: false)
    }
}
