public import MartletSchema

/// A check of a resolved schema. Its findings stop generation only if 'martlet.yaml' makes them errors.
public protocol LintRule: Sendable {
    var code: DiagnosticCode { get }
    /// What the rule requires of a schema, in one sentence.
    var requirement: String { get }
    func check(_ schema: SchemaModel) -> [Diagnostic]
}
