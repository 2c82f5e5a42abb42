import MartletSchema

/// Finds projections that were removed or have another object type. This rule also finds properties of projections
/// (labels) that were removed, have another type, read another path, or can no longer be set.
struct ProjectionChanges: BreakingRule {
    func changes(in schemas: SchemaPair) -> [BreakingChange] {
        let current = Dictionary(schemas.new.projections.map { ($0.name, $0) }) { first, _ in first }
        return schemas.old.projections.flatMap { old -> [BreakingChange] in
            guard let new = current[old.name] else {
                return [
                    BreakingChange(
                        .source, "projection '\(old.name)' was removed; declare it again", at: nil, was: old.nameSpan)
                ]
            }
            return root(old, new, schemas) + old.labels.compactMap { change($0, new, schemas) }
        }
    }

    private func root(_ old: ProjectionModel, _ new: ProjectionModel, _ schemas: SchemaPair) -> [BreakingChange] {
        guard schemas.currentName(old.root.value) != new.root.value else { return [] }
        return [
            BreakingChange(
                .source,
                "projection '\(new.name)' was a projection of '\(old.root.value)' and is one of '\(new.root.value)'; "
                    + "add a projection with another name",
                at: new.root.span, was: old.root.span)
        ]
    }

    private func change(
        _ old: ProjectionLabelModel, _ projection: ProjectionModel, _ schemas: SchemaPair
    ) -> BreakingChange? {
        let name = "projection property '\(projection.name).\(old.name)'"
        guard let new = projection.labels.first(where: { $0.name == old.name }) else {
            return BreakingChange(
                .source, "\(name) was removed; declare it again", at: projection.nameSpan,
                label: "no '\(old.name)' here", was: old.nameSpan)
        }
        let types = (schemas.shownType(of: old.path), KeyPathTypeText.type(of: new.path))
        if types.0 != types.1 {
            return BreakingChange(
                .source, "\(name) was '\(types.0)' and is '\(types.1)'; add one with another name",
                at: new.path.span, was: old.path.span)
        }
        if old.path.isWritable, !new.path.isWritable {
            return BreakingChange(
                .source, "\(name) cannot be set any more; keep the path '\(schemas.currentText(old.path))'",
                at: new.path.span, was: old.path.span)
        }
        guard schemas.currentText(old.path) != new.path.text else { return nil }
        return BreakingChange(
            .query, "\(name) reads another property than before; add one with another name", at: new.path.span,
            was: old.path.span)
    }
}
