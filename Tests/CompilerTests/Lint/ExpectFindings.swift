import MartletCompiler
import MartletFrontend
import MartletLint
import MartletSchema
import Testing

/// Runs one rule on a schema text, and compares its findings with the expected findings in this text. The text has the
/// format of the fixture files.
func expectFindings(
    of code: DiagnosticCode, _ marked: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let schema = FixtureSchema(name: code.rawValue, text: marked)
    let input = schema.input()
    let analysis = Frontend.analyze(input.sources)
    let model = try #require(analysis.model, "\(analysis.diagnostics.map(\.message))", sourceLocation: sourceLocation)
    let rule = try #require(RuleRegistry.rules.first { $0.code == code }, sourceLocation: sourceLocation)
    let found = schema.rendered(rule.check(model).sortedByLocation(), input)
    #expect(found == marked, sourceLocation: sourceLocation)
}
