import MartletCompiler
import MartletSchema
import MartletTools
import Testing

/// Checks that schema text in findings cannot send escape codes to a terminal, break a line, or look like another
/// finding.
@Suite("Reports: invisible characters")
struct PrintableTests {
    @Test("invisible characters are escaped, and other text is unchanged S11")
    func printable() {
        #expect("a\nb\tc\rd\0e".printable == "a\\nb\\tc\\rd\\0e")
        #expect("\u{1B}[31m\u{7F}\u{85}".printable == "\\u{1B}[31m\\u{7F}\\u{85}")
        #expect("\u{202E}\u{2028}\u{200B}\u{A0}".printable == "\\u{202E}\\u{2028}\\u{200B}\\u{A0}")
        for text in ["", "plain 'text'; \\n", "æøå 日本 🦅 e\u{301}"] { #expect(text.printable == text) }
    }

    @Test("each finding is one line without invisible characters, even if the schema contains them S11 S32")
    func findings() {
        let text = #"objects: {"A\e[31mB\nC\u202ed\0\u0001": {properties: {"x\ny": "Z\rz", b: 'A = "\q'}}}"# + "\n"
        let source = SourceText(file: SourceFileID(0), path: "A\n.yaml", text: text)
        let findings = Compiler.lint(SchemaInput(sources: [source])).diagnostics
        #expect(findings.count >= 3)
        let lines = DiagnosticPrinter(sources: [source], style: .brief).text(findings).split(separator: "\n")
        #expect(lines.count == findings.count + findings.flatMap(\.notes).count { $0.span != nil })
        #expect(lines.allSatisfy { $0.hasPrefix("A\\n.yaml:1:") && String($0).printable == $0 })
        var report = Report()
        report.add(findings, of: [source], named: "Schemas")
        for line in report.text(as: .text).split(separator: "\n") { #expect(String(line).printable == line) }
    }

    @Test("help that the message already contains is not repeated S11")
    func sentences() {
        let twice = Diagnostic(.yamlMistake, "a thing; fix it", at: nil, help: "fix it")
        #expect(twice.messageWithHelp == "a thing; fix it")
        #expect(Diagnostic(.yamlMistake, "a thing", at: nil, help: "fix it").messageWithHelp == "a thing; fix it")
        for schema in FixtureSchema.all {
            for finding in Compiler.lint(schema.input(), options: schema.options).diagnostics {
                let parts = finding.messageWithHelp.split(separator: "; ")
                #expect(Set(parts).count == parts.count, "\(finding.messageWithHelp)")
            }
        }
    }
}
