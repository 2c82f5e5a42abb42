public import MartletSchema

/// A check of a resolved schema that never stops generation.
public protocol LintRule: Sendable {
    var code: DiagnosticCode { get }
    /// What the rule is for, in one sentence.
    var purpose: String { get }
    func check(_ schema: SchemaModel) -> [Diagnostic]
}
