import Foundation
import MartletCompiler
import MartletSchema
import MartletTools
import Testing

/// Tests the findings of schemas with mistakes. After a change of findings, write the fixture files again with
/// `MARTLET_RECORD=1 swift test --filter FixtureTests`, and review every difference.
@Suite("Fixtures: schemas with mistakes")
struct FixtureTests {
    @Test(
        "every finding has the expected location, message, notes and fix-its S47 S10 S11", arguments: FixtureSchema.all)
    func findings(_ schema: FixtureSchema) throws {
        if ProcessInfo.processInfo.environment["MARTLET_RECORD"] != nil {
            let text = rendered(schema, schema.input())
            try Data(text.utf8).write(to: FixtureSchema.folder.appending(path: schema.name))
        } else {
            check(schema, schema.input())
        }
    }

    @Test("findings are equal with CRLF line ends and a byte-order mark S11 S41", arguments: FixtureSchema.all)
    func otherEncodings(_ schema: FixtureSchema) {
        check(schema, schema.input(lineEnd: "\r\n"))
        check(schema, schema.input(mark: true))
    }

    @Test("a fix-it removes its finding S11", arguments: FixtureSchema.all)
    func fixes(_ schema: FixtureSchema) {
        let input = schema.input()
        let before = Compiler.lint(input, options: schema.options).diagnostics
        for finding in before {
            for fix in finding.fixes {
                let after = Compiler.lint(apply(fix, to: input), options: schema.options).diagnostics
                #expect(count(finding, after) < count(finding, before), "\(finding.message): \(fix.title)")
            }
        }
    }

    @Test("each code that a schema text can cause has at least three fixtures S10")
    func coverage() {
        #expect(FixtureSchema.all.count >= 120)
        let elsewhere: Set<DiagnosticCode> = [.outdatedOutput, .breakingChange]
        for code in DiagnosticCode.allCases where !elsewhere.contains(code) {
            let own = FixtureSchema.all.filter {
                $0.folder == code.rawValue && $0.text.contains(" \(code.rawValue): ")
            }
            #expect(own.count >= 3, "\(code.rawValue)")
        }
    }

    @Test("schemas that look wrong but are correct have no finding S11")
    func clean() {
        let clean = FixtureSchema.all.filter { $0.folder == "Clean" }
        #expect(clean.count >= 3)
        for schema in clean {
            #expect(Compiler.lint(schema.input(), options: schema.options).diagnostics.isEmpty, "\(schema.name)")
        }
    }

    @Test("messages are lower case without a full stop, and have at most three suggestions S11")
    func style() {
        for schema in FixtureSchema.all {
            for finding in Compiler.lint(schema.input(), options: schema.options).diagnostics {
                let quoted = finding.message.hasPrefix("'")
                let first = finding.message.first.map { $0.isUppercase && !finding.message.hasPrefix("YAML") }
                #expect(quoted || first == false, "\(finding.message)")
                #expect(!finding.message.hasSuffix("."), "\(finding.message)")
                #expect(finding.fixes.count <= 3, "\(finding.message)")
            }
        }
    }

    private func rendered(_ schema: FixtureSchema, _ input: SchemaInput) -> String {
        schema.rendered(Compiler.lint(input, options: schema.options).diagnostics, input)
    }

    private func check(_ schema: FixtureSchema, _ input: SchemaInput) {
        let expected = schema.text.split(separator: "\n").map(String.init)
        let found = rendered(schema, input).split(separator: "\n").map(String.init)
        for change in found.difference(from: expected) {
            switch change {
            case .insert(let line, let text, _): Issue.record("line \(line + 1), not expected: \(text)")
            case .remove(let line, let text, _): Issue.record("line \(line + 1), not found: \(text)")
            }
        }
        let compilation = Compiler.lint(input, options: schema.options)
        #expect((compilation.model == nil) == compilation.hasErrors)
    }

    private func count(_ finding: Diagnostic, _ all: [Diagnostic]) -> Int {
        // Several similar mistakes, such as aliases, are reported as one finding at the first mistake. Each further
        // mistake is a note of this finding.
        all.filter { $0.code == finding.code && $0.message == finding.message }.reduce(0) { $0 + 1 + $1.notes.count }
    }

    private func apply(_ fix: Fix, to input: SchemaInput) -> SchemaInput {
        let fixed = { (source: SourceText) in
            var bytes = source.bytes
            for edit in fix.edits.sorted(by: { $0.span > $1.span }) where edit.span.file == source.file {
                bytes.replaceSubrange(edit.span.start..<edit.span.end, with: Array(edit.replacement.utf8))
            }
            return SourceText(
                file: source.file, relativePath: source.relativePath, displayPath: source.displayPath, bytes: bytes)
        }
        return SchemaInput(sources: input.sources.map(fixed), configuration: input.configuration.map(fixed))
    }
}
