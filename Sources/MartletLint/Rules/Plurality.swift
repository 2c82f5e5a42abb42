import MartletSchema

/// Checks that lists, sets and linking objects have plural names, and that links and object types have singular names.
struct Plurality: LintRule {
    let code = DiagnosticCode.plurality
    let requirement = "Collections are plural; links and types are singular."

    func check(_ schema: SchemaModel) -> [Diagnostic] {
        var findings: [Diagnostic] = []
        for object in schema.objects {
            if NameWords.isPlural(object.name) == true {
                findings.append(
                    Diagnostic(code, "type '\(object.name)' is plural; name it in the singular", at: object.nameSpan))
            }
            for property in object.properties {
                // The rule does not apply to plain values.
                guard !property.type.isSingle || property.type.value.objectName != nil else { continue }
                let isPlural = NameWords.isPlural(property.name)
                if !property.type.isSingle, property.type.kind != .map, isPlural == false {
                    findings.append(
                        Diagnostic(
                            code, "collection '\(property.name)' is singular; name it in the plural",
                            at: property.nameSpan))
                } else if property.type.isSingle, property.type.value.objectName != nil, isPlural == true {
                    findings.append(
                        Diagnostic(
                            code, "link '\(property.name)' is plural and leads to one object; name it in the singular",
                            at: property.nameSpan))
                }
            }
        }
        return findings
    }
}
