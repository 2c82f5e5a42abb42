public import MartletSchema

/// A check of a resolved schema. Its findings stop generation only if 'martlet.yaml' makes them errors.
public protocol LintRule: Sendable {
    var code: DiagnosticCode { get }
    /// The purpose of the rule, in one sentence.
    var purpose: String { get }
    func check(_ schema: SchemaModel) -> [Diagnostic]
}
