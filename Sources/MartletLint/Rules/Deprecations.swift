import MartletSchema

/// Checks that deprecations name a replacement, and that the schema does not use deprecated items.
struct Deprecations: LintRule {
    let code = DiagnosticCode.deprecation
    let requirement = "Deprecations name the replacement, and the schema does not use deprecated items."

    func check(_ schema: SchemaModel) -> [Diagnostic] {
        var findings: [Diagnostic] = []
        // Most schemas have no deprecated properties, so that the search for their uses can be skipped.
        let hasDeprecatedProperties = schema.objects.contains { $0.properties.contains { $0.deprecation != nil } }
        for object in schema.objects {
            findings += missingMessage(object.deprecation, object.name)
            guard hasDeprecatedProperties else { continue }
            for property in object.properties { findings += missingMessage(property.deprecation, property.name) }
            findings += indexes(of: object)
            guard object.deprecation == nil else { continue }
            for path in object.keyPaths.flatMap(\.paths) { findings += uses(path, schema) }
        }
        for projection in schema.projections {
            findings += missingMessage(projection.deprecation, projection.name)
            guard projection.deprecation == nil else { continue }
            findings += root(projection, schema)
            guard hasDeprecatedProperties else { continue }
            for label in projection.labels { findings += uses(label.path, schema) }
        }
        for model in schema.enums { findings += missingMessage(model.deprecation, model.name) }
        return findings
    }

    private func missingMessage(_ deprecation: DeprecationModel?, _ name: String) -> [Diagnostic] {
        guard let deprecation, deprecation.message == nil else { return [] }
        return [
            Diagnostic(
                code, "'\(name)' is deprecated without a message; say what to use instead", at: deprecation.span,
                help: "write 'deprecated: Use other.'")
        ]
    }

    private func indexes(of object: ObjectModel) -> [Diagnostic] {
        let deprecated = Dictionary(
            object.properties.compactMap { property in property.deprecation.map { (property.name, $0.span) } }
        ) { first, _ in first }
        return object.indexes.compactMap { entry in
            deprecated[entry.value].map {
                Diagnostic(
                    code, "'\(entry.value)' is deprecated and still has an index; remove the index", at: entry.span,
                    notes: [DiagnosticNote("deprecated here", at: $0)])
            }
        }
    }

    private func root(_ projection: ProjectionModel, _ schema: SchemaModel) -> [Diagnostic] {
        guard let deprecation = schema.object(named: projection.root.value)?.deprecation else { return [] }
        return [
            Diagnostic(
                code, "'\(projection.root.value)' is deprecated and still used here; use what replaces it",
                at: projection.root.span, notes: [DiagnosticNote("deprecated here", at: deprecation.span)])
        ]
    }

    private func uses(_ path: KeyPathModel, _ schema: SchemaModel) -> [Diagnostic] {
        path.segments.compactMap { segment in
            guard let deprecation = schema.object(named: segment.owner)?.property(named: segment.property)?.deprecation
            else { return nil }
            return Diagnostic(
                code, "'\(segment.property)' is deprecated and still used here; use what replaces it", at: segment.span,
                notes: [DiagnosticNote("deprecated here", at: deprecation.span)])
        }
    }
}
