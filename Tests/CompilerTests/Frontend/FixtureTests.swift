import Foundation
import MartletFrontend
import MartletSchema
import Testing

@Suite("Frontend: schemas with mistakes")
struct FixtureTests {
    @Test("S10 S11 every finding, at the very token", arguments: MarkedSchema.all)
    func findings(_ schema: MarkedSchema) {
        check(schema, schema.sources())
    }

    @Test("S11 S41 places are the same with CRLF and a byte-order mark", arguments: MarkedSchema.all)
    func otherEncodings(_ schema: MarkedSchema) {
        check(schema, schema.sources(lineEnd: "\r\n"))
        check(schema, schema.sources(mark: true))
    }

    @Test("S11 a safe fix removes its finding", arguments: MarkedSchema.all)
    func safeFixes(_ schema: MarkedSchema) throws {
        let sources = schema.sources()
        let before = Frontend.analyze(sources).diagnostics
        for finding in before {
            guard let fix = finding.fixes.first, fix.applicability == .safe else { continue }
            let after = Frontend.analyze(apply(fix, to: sources)).diagnostics
            #expect(count(finding, after) < count(finding, before), "\(finding.message): \(fix.title)")
        }
    }

    @Test("S10 there are at least sixty schemas with mistakes, and every code of an error is among them")
    func coverage() {
        #expect(MarkedSchema.all.count >= 60)
        let covered = Set(MarkedSchema.all.flatMap(\.expected).map(\.code))
        let elsewhere: Set<String> = ["MRT0001", "MRT0002", "MRT0004", "MRT0005", "MRT0601"]
        for code in DiagnosticCode.allCases where code.severity == .error && !elsewhere.contains(code.rawValue) {
            #expect(covered.contains(code.rawValue), "\(code.rawValue)")
        }
    }

    private func check(_ schema: MarkedSchema, _ sources: [SourceText]) {
        let result = Frontend.analyze(sources)
        let found = result.diagnostics.filter(\.isError).map { $0.expectation(in: sources) }.sorted()
        let expected = schema.expected.sorted()
        for (left, right) in zip(found, expected) {
            #expect(
                left.text.hasPrefix(right.text.trimmingCharacters(in: .whitespaces)),
                "found \(left.text), expected \(right.text)")
        }
        #expect(found.count == expected.count, "found:\n\(found.map(\.text).joined(separator: "\n"))")
        #expect((result.model == nil) == !expected.isEmpty)
    }

    private func count(_ finding: Diagnostic, _ all: [Diagnostic]) -> Int {
        all.count { $0.code == finding.code && $0.message == finding.message }
    }

    private func apply(_ fix: Fix, to sources: [SourceText]) -> [SourceText] {
        sources.map { source in
            var bytes = source.bytes
            for edit in fix.edits.sorted(by: { $0.span > $1.span }) where edit.span.file == source.file {
                bytes.replaceSubrange(edit.span.start..<edit.span.end, with: Array(edit.replacement.utf8))
            }
            return SourceText(
                file: source.file, relativePath: source.relativePath, displayPath: source.displayPath, bytes: bytes)
        }
    }
}
