import MartletSchema

/// Reports types with too many properties, and key paths of projections with too many segments.
struct TooWide: LintRule {
    static let maximumProperties = 100
    static let maximumSegments = 4

    let code = DiagnosticCode.tooWide
    let requirement = "Types have at most 100 properties, and key paths of projections have at most 4 segments."

    func check(_ schema: SchemaModel) -> [Diagnostic] {
        var findings: [Diagnostic] = []
        for object in schema.objects where object.properties.count > Self.maximumProperties {
            findings.append(
                Diagnostic(
                    code, "'\(object.name)' has \(object.properties.count) properties; split off embedded objects",
                    at: object.nameSpan))
        }
        for label in schema.projections.flatMap(\.labels) where label.path.segments.count > Self.maximumSegments {
            findings.append(
                Diagnostic(
                    code,
                    "this key path has \(label.path.segments.count) segments; "
                        + "base the projection on a type that is closer to the last property, or shorten the path",
                    at: label.path.span))
        }
        return findings
    }
}
