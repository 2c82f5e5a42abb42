import MartletCompiler
import MartletFrontend
import MartletLint
import MartletSchema
import Testing

/// Runs one rule over a schema whose text says below each line what the rule finds there, as fixtures do.
func expectFindings(
    of code: DiagnosticCode, _ marked: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let schema = MarkedSchema(name: code.rawValue, text: marked)
    let input = schema.input()
    let analysis = Frontend.analyze(input.sources)
    let model = try #require(analysis.model, "\(analysis.diagnostics.map(\.message))", sourceLocation: sourceLocation)
    let rule = try #require(RuleRegistry.rules.first { $0.code == code }, sourceLocation: sourceLocation)
    let found = schema.rendered(rule.check(model).sortedByPlace(), input)
    #expect(found == marked, sourceLocation: sourceLocation)
}
