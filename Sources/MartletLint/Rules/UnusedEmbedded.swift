import MartletSchema

/// An embedded object lives in an owner; one that no property holds can never exist.
struct UnusedEmbedded: LintRule {
    let code = DiagnosticCode.embedding
    let purpose = "Embedded types are there to be embedded."

    func check(_ schema: SchemaModel) -> [Diagnostic] {
        var used: Set<String> = []
        for object in schema.objects {
            for property in object.properties {
                if case .embedded(let name) = property.type.value, !property.type.isLinkingObjects, name != object.name
                {
                    used.insert(name)
                }
            }
        }
        return schema.objects.filter { $0.isEmbedded && !used.contains($0.name) }.map { object in
            Diagnostic(
                code, "no property holds the embedded object '\(object.name)'; use it or remove it",
                at: object.nameSpan, label: "never used", severity: .warning)
        }
    }
}
