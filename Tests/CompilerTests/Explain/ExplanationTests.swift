import Foundation
import MartletCompiler
import MartletSchema
import MartletTools
import Testing

/// The explanations of the rules.
///
/// After a change of the explanations, run `MARTLET_RECORD=1 swift test --filter Explanation`. The command writes
/// `Documentation/Rules.md` again.
@Suite("Explanations")
struct ExplanationTests {
    /// The codes that a single schema text cannot cause, with the reason and the tests that cover them.
    static let withoutSchema: [DiagnosticCode: String] = [
        .badConfiguration: "found in 'martlet.yaml', so its example is a configuration",
        .outdatedOutput: "compares files on disk; covered by CommandLineTests",
        .breakingChange: "compares two schemas; covered by the tests of 'Breaking'",
    ]

    @Test(
        "every wrong example has only findings of its code, and every fixed example has none S50 S40",
        arguments: explanations)
    func examples(_ explanation: RuleExplanation) throws {
        switch explanation.example {
        case .schema(let wrong, let fixed):
            #expect(codes(schema: wrong) == [explanation.code])
            #expect(codes(schema: fixed) == [])
        case .configuration(let wrong, let fixed):
            #expect(codes(configuration: wrong) == [explanation.code])
            #expect(codes(configuration: fixed) == [])
        case .none: break
        }
    }

    @Test("a code has an example schema if and only if a schema text can cause it S50 S40 MRT0004 MRT0005 MRT0601")
    func missingExamples() {
        let without = DiagnosticCode.allCases.filter {
            if case .schema = $0.explanation.example { false } else { true }
        }
        #expect(without == Self.withoutSchema.keys.sorted())
    }

    @Test(
        "every code has its own explanation, and only errors cannot be silenced S50 S40",
        arguments: DiagnosticCode.allCases)
    func ownCode(_ code: DiagnosticCode) {
        #expect(code.explanation.code == code)
        #expect(code.explanation.silencing.hasPrefix("not possible") == (code.severity == .error))
    }

    @Test("the described way to silence a finding works S50 S3", arguments: explanations)
    func silencing(_ explanation: RuleExplanation) throws {
        guard explanation.code.severity != .error, case .schema(let wrong, _) = explanation.example else { return }
        let code = explanation.code.rawValue
        let rules = "lint:\n  preset: strict\n  rules: {\(code): off}\n"
        #expect(codes(schema: wrong, configuration: rules) == [])
        guard explanation.silencing.contains("martlet:ignore \(code)") else { return }
        let source = SourceText(file: SourceFileID(0), path: "Dog.yaml", text: wrong)
        let span = try #require(Compiler.lint(strict(wrong)).diagnostics.first?.span)
        var lines = wrong.components(separatedBy: "\n")
        let line = source.lineIndex(at: span.start)
        let indentation = lines[line].prefix { $0 == " " }
        lines.insert("\(indentation)# martlet:ignore \(code)", at: line)
        #expect(codes(schema: lines.joined(separator: "\n")) == [])
    }

    @Test(
        "single quotes are balanced, so that pages can format quoted text as code S50 S40",
        arguments: DiagnosticCode.allCases)
    func quotes(_ code: DiagnosticCode) {
        let explanation = code.explanation
        for text in [code.meaning, explanation.problem, explanation.reason, explanation.silencing] {
            #expect(text.count { $0 == "'" }.isMultiple(of: 2), "\(text)")
            #expect(!text.contains("\n") && !text.contains("  "), "\(text)")
        }
    }

    @Test("the committed page of rules equals the generated one, byte for byte S50 S40")
    func page() throws {
        let url = Repository.root.appending(path: "Documentation/Rules.md")
        if ProcessInfo.processInfo.environment["MARTLET_RECORD"] != nil {
            try Data(RulesPage.text.utf8).write(to: url)
        }
        let isCurrent = try Data(contentsOf: url) == Data(RulesPage.text.utf8)
        #expect(isCurrent, "write it again: MARTLET_RECORD=1 swift test --filter Explanation")
    }

    @Test("every spelling of a code is accepted S50 S40", arguments: ["MRT0203", "mrt0203", "0203", "203", "Mrt0203"])
    func spellings(_ word: String) {
        #expect(ExplanationText.code(named: word) == .unknownType)
    }

    @Test("similar codes are suggested for an unknown code S50 S40")
    func unknownCodes() {
        for word in ["MRT0299", "20", "", "1203", "MRT203x", "٢٠٣", "unknownType"] {
            #expect(ExplanationText.code(named: word) == nil, "\(word)")
        }
        #expect(ExplanationText.suggestion(for: "MRT0230") == "did you mean 'MRT0203', 'MRT0003' or 'MRT0103'?")
        #expect(ExplanationText.suggestion(for: "mrt2003") == "did you mean 'MRT0003', 'MRT0203' or 'MRT0001'?")
        #expect(ExplanationText.suggestion(for: "types") == nil)
    }

    @Test("prose is wrapped at 80 columns, and examples are not wrapped S50 S40")
    func text() {
        let text = ExplanationText.text(of: .unknownType)
        let lines = text.components(separatedBy: "\n")
        #expect(lines[0] == "MRT0203: a type that does not exist (error)")
        #expect(lines.allSatisfy { $0.count <= 80 })
        #expect(text.contains("\n\nWrong:\n\n    objects:\n"))
        #expect(text.contains("\n          name: Strng\n"))
        #expect(text.hasSuffix("\nTo silence it: not possible, since an error stops generation.\n"))
        let list = ExplanationText.list.split(separator: "\n")
        #expect(list.count == DiagnosticCode.allCases.count)
        #expect(list[12] == "MRT0203  a type that does not exist")
    }

    static let explanations = DiagnosticCode.allCases.map(\.explanation)

    private func strict(_ schema: String, configuration: String = "lint:\n  preset: strict\n") -> SchemaInput {
        SchemaInput(
            sources: [SourceText(file: SourceFileID(0), path: "Dog.yaml", text: schema)],
            configuration: SourceText(file: SourceFileID(1), path: "martlet.yaml", text: configuration))
    }

    private func codes(schema: String, configuration: String = "lint:\n  preset: strict\n") -> Set<DiagnosticCode> {
        Set(Compiler.lint(strict(schema, configuration: configuration)).diagnostics.map(\.code))
    }

    private func codes(configuration: String) -> Set<DiagnosticCode> {
        guard case .schema(_, let clean) = DiagnosticCode.noSchema.explanation.example else { return [.noSchema] }
        return codes(schema: clean, configuration: configuration)
    }
}
