import MartletCompiler
import MartletSchema
import Testing

/// A schema cannot colour a terminal, break a line in two or forge one.
@Suite("Reports: what can be seen")
struct PrintableTests {
    @Test("S11 text with something invisible in it is written out, and other text stays as it is")
    func printable() {
        #expect("a\nb\tc\rd\0e".printable == "a\\nb\\tc\\rd\\0e")
        #expect("\u{1B}[31m\u{7F}\u{85}".printable == "\\u{1B}[31m\\u{7F}\\u{85}")
        #expect("\u{202E}\u{2028}\u{200B}\u{A0}".printable == "\\u{202E}\\u{2028}\\u{200B}\\u{A0}")
        for text in ["", "plain 'text'; \\n", "æøå 日本 🦅 e\u{301}"] { #expect(text.printable == text) }
    }

    @Test("S11 S32 whatever a schema holds, each finding is one line and nothing in it is invisible")
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

    @Test("S11 a help that the message ends with is not said again")
    func sentences() {
        let twice = Diagnostic(.yamlTrap, "a thing; mend it", at: nil, help: "mend it")
        #expect(twice.sentence == "a thing; mend it")
        #expect(Diagnostic(.yamlTrap, "a thing", at: nil, help: "mend it").sentence == "a thing; mend it")
        for schema in MarkedSchema.all {
            for finding in Compiler.lint(schema.input(), options: schema.options).diagnostics {
                let parts = finding.sentence.split(separator: "; ")
                #expect(Set(parts).count == parts.count, "\(finding.sentence)")
            }
        }
    }
}
