import MartletCompiler
import MartletFrontend
import MartletSchema
import MartletTools
import ModelTesting
import Testing

/// Tests the findings of inputs that are designed to be slow. The time limit is generous, and catches only an endless
/// compilation. `make bombs` measures the time with a release build.
@Suite("Bombs")
struct BombTests {
    private static let head = "objects:\n  Dog:\n    properties:\n"

    private func lint(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) -> [Diagnostic] {
        let input = SchemaInput(sources: [SourceText(file: SourceFileID(0), path: "A.yaml", text: text)])
        var compilation: Compilation?
        let time = ContinuousClock().measure {
            compilation = Compiler.lintAndCompile(input, options: CompilerOptions(preset: .strict))
        }
        #expect(time < .seconds(60), "took \(time)", sourceLocation: sourceLocation)
        #expect(compilation?.hasErrors != true || compilation?.outputs == [], sourceLocation: sourceLocation)
        return compilation?.diagnostics ?? []
    }

    private func lines(_ count: Int, _ line: (Int) -> String) -> String {
        (0..<count).map { line($0) + "\n" }.joined()
    }

    @Test(
        "documented bombs are rejected with one finding S6 S10",
        arguments: [
            (String(repeating: "[", count: 200_000), DiagnosticCode.limitExceeded),
            (String(repeating: "{", count: 200_000), .limitExceeded),
            (String(repeating: "{a: ", count: 50_000), .limitExceeded),
            (head + String(repeating: "      name: String\n", count: 10_000), .duplicateKey),
            (head + "      name: String\n" + String(repeating: "k", count: 2000) + ": 1\n", .limitExceeded),
        ])
    func named(_ text: String, _ code: DiagnosticCode) {
        #expect(lint(text).map(\.code) == [code])
        let source = SourceText(file: SourceFileID(0), path: "A.yaml", text: text)
        #expect(Compiler.format(source).bytes == nil)
        #expect(FixApplier.apply(SchemaInput(sources: [source])).count == 0)
    }

    @Test("an alias bomb is rejected with one finding for its aliases S6 S10")
    func aliases() {
        var text = "objects: {Dog: {properties: {name: &a [x, x, x, x, x, x, x, x, x]}}}\n"
        for (previous, name) in zip("abcdefgh", "bcdefghi") {
            text += "\(name): &\(name) [" + Array(repeating: "*\(previous)", count: 9).joined(separator: ", ") + "]\n"
        }
        #expect(lint(text).count { $0.code == .yamlSubset } == 1)
    }

    @Test(
        "200 of several thousand findings are listed, and all are counted S10",
        arguments: [
            ("Strng", DiagnosticCode.unknownType), ("Int = x", .badDefault), ("{typ: Int}", .unknownKey),
            ("LinkingObjects<Dog.p0>", .badLinkingObjects),
        ])
    func manyErrors(_ type: String, _ code: DiagnosticCode) {
        let findings = lint(
            Self.head + lines(5000) { "      p\($0): \($0 == 0 && code == .badLinkingObjects ? "Int" : type)" })
        #expect(findings.count == 201)
        #expect(findings.dropLast().allSatisfy { $0.code == code || $0.code == .wrongShape })
        #expect(findings.last?.code == .limitExceeded)
        #expect(findings.last?.isError == true)
    }

    @Test("findings that are not listed are counted exactly S10")
    func exactCount() {
        let findings = lint(Self.head + lines(7321) { "      p\($0): Strng" })
        #expect(findings.last?.message.hasPrefix("7121 more findings") == true, "\(findings.last?.message ?? "")")
    }

    @Test("an error after thousands of warnings stops generation S10")
    func errorFarBelow() {
        let warnings = lines(5000) { _ in "      # martlet:ignore MRT9999" }
        let findings = lint(Self.head + warnings + "      name: Strng\n")
        #expect(findings.count == 201)
        #expect(findings.last?.isError == true)
        #expect(findings.dropLast().allSatisfy { $0.severity == .warning })
        let good = lint(Self.head + warnings + "      name: String\n")
        #expect(!good.contains { $0.isError })
        #expect(good.contains { $0.code == .limitExceeded })
    }

    @Test("lint warnings and notes are limited like errors S10")
    func manyWarnings() {
        let findings = lint(Self.head + lines(3000) { "      P\($0): Int" })
        #expect(findings.count == 201)
        #expect(findings.last?.code == .limitExceeded)
        #expect(findings.last?.severity == .warning)
    }

    @Test("thousands of findings in cases, indexes and empty types are limited S10")
    func smallFindings() {
        for text in [
            "enums: {E: [" + String(repeating: "a,", count: 20_000) + "b]}\n",
            "enums: {E: [" + String(repeating: "1,", count: 20_000) + "b]}\n",
            "objects: {Dog: {properties: {a: Int}, index: [" + String(repeating: "b,", count: 20_000) + "a]}}\n",
            "objects:\n" + lines(20_000) { "  A\($0):" },
        ] {
            let findings = lint(text)
            #expect(findings.count == 201)
            #expect(findings.last?.isError == true)
        }
    }

    @Test("50,000 anchors or tags without spaces between them cause one finding S10", arguments: ["&a,", "!a,"])
    func anchors(_ unit: String) {
        let findings = lint("objects: [" + String(repeating: unit, count: 50_000) + "a]\n")
        #expect(findings.count { $0.code == .yamlSubset } == 1)
        #expect(findings.first { $0.code == .yamlSubset }?.notes.last?.message.hasPrefix("and 499") == true)
    }

    @Test("20,000 ignore comments above a declaration are read, and silence the finding of the declaration S10")
    func comments() {
        let ignores = lines(20_000) { _ in "  # martlet:ignore MRT0501" }
        let findings = lint("objects:\n" + ignores + "  Dog: {properties: {a: Int}}\n")
        #expect(!findings.contains { $0.code == .noPrimaryKey || $0.isError })
    }

    @Test("a cycle of a thousand cascades is described in a short message S10")
    func cascades() throws {
        let text =
            "objects:\n"
            + lines(1000) { "  A\($0): {properties: {a: {type: A\(($0 + 1) % 1000)?, onDelete: cascade}}}" }
        let input = SchemaInput(sources: [SourceText(file: SourceFileID(0), path: "A.yaml", text: text)])
        let model = try #require(Compiler.check(input).model)
        let configured = SchemaInput(
            sources: input.sources,
            configuration: SourceText(
                file: SourceFileID(1), path: "martlet.yaml", text: "lint: {rules: {MRT0501: off, MRT0504: off}}\n"))
        let cycle = try #require(Compiler.lint(configured).diagnostics.first { $0.code == .unusedOrCyclic })
        #expect(model.objects.count == 1000)
        #expect(cycle.message.utf8.count < 300, "\(cycle.message)")
        #expect(cycle.message.contains("A0.a and A1.a and"))
        #expect(cycle.message.contains("and 992 more"))
    }

    @Test(
        "the size of a report of thousands of findings is bounded in every format S10 S41",
        arguments: ReportFormat.allCases)
    func reports(_ format: ReportFormat) {
        for text in [
            Self.head + lines(5000) { "      p\($0): Strng" },
            "objects: {Dog: {properties: {" + (0..<5000).map { "p\($0): Strng" }.joined(separator: ", ") + "}}}\n",
        ] {
            let source = SourceText(file: SourceFileID(0), path: "A.yaml", text: text)
            let findings = Compiler.lint(SchemaInput(sources: [source])).diagnostics
            var report = Report()
            report.add(findings, of: [source], named: "A.yaml")
            let size = report.text(as: format).utf8.count
            #expect((10_000..<1_000_000).contains(size), "\(size) bytes")
        }
    }

    @Test("columns in long lines are correct, also after characters of several bytes S10 S41")
    func columns() {
        let letters = ["a", "é", "€", "😀", " ", "bc"]
        var random = SeededRandom(seed: 3)
        let line = (0..<6000).map { _ in letters[Int.random(in: 0..<letters.count, using: &random)] }.joined()
        let text = "short é\n" + line + "\n" + line
        let source = SourceText(file: SourceFileID(0), path: "A.yaml", text: text)
        for round in 0..<300 {
            let offset =
                round < source.lineStarts.count
                ? source.lineStarts[round] : Int.random(in: 0...source.bytes.count, using: &random)
            let start = source.lineStarts[source.lineIndex(at: offset)]
            let before = source.bytes[start..<offset].filter { $0 & 0xC0 != 0x80 }
            #expect(source.position(at: offset).column == before.count + 1)
            #expect(source.utf16Column(at: offset) == before.count + before.count { $0 >= 0xF0 } + 1)
        }
    }

    @Test("the excerpt of a long line is cut between characters S10 S41")
    func excerpts() {
        for letter in ["a", "é", "😀"] {
            let text =
                "objects: {Dog: {doc: \"" + String(repeating: letter, count: 5000) + "\", properties: {a: Strng}}}"
            let source = SourceText(file: SourceFileID(0), path: "A.yaml", text: text)
            let findings = Compiler.lint(SchemaInput(sources: [source])).diagnostics
            let printed = DiagnosticPrinter(sources: [source]).text(findings)
            #expect(printed.contains("…" + letter))
            #expect(!printed.contains("\u{FFFD}"))
            #expect(printed.utf8.count < 3000)
        }
    }
}
