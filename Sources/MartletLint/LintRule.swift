public import MartletSchema

/// A check of a resolved schema. Its findings never stop generation.
public protocol LintRule: Sendable {
    var code: DiagnosticCode { get }
    /// The purpose of the rule, in one sentence.
    var purpose: String { get }
    func check(_ schema: SchemaModel) -> [Diagnostic]
}
