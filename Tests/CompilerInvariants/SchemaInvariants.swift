import MartletBackend
public import MartletCompiler
import MartletSchema

/// What must hold of the compiler whatever it is given. The fuzzer and the tests of its corpus check the same.
public struct SchemaInvariants {
    private let input: SchemaInput
    private var broken: [String] = []

    /// What does not hold of these bytes, in words; empty when all is well.
    public static func violations(of bytes: [UInt8]) -> [String] {
        violations(of: CorpusText.input(of: bytes))
    }

    public static func violations(of input: SchemaInput) -> [String] {
        var invariants = SchemaInvariants(input)
        invariants.check()
        return invariants.broken
    }

    private init(_ input: SchemaInput) {
        self.input = input
    }

    private static let options = CompilerOptions(preset: .strict)

    private mutating func check() {
        let compilation = Compiler.compile(input, options: Self.options)
        checkOutcome(compilation)
        checkOrder(of: compilation.diagnostics)
        for finding in compilation.diagnostics { checkPlaces(of: finding) }
        checkDeterminism(compilation)
        checkReports(of: compilation.diagnostics)
        checkLayout(compilation)
        checkFixes(of: compilation.diagnostics)
        checkComparison(compilation)
    }

    private mutating func expect(_ isTrue: Bool, _ message: @autoclosure () -> String) {
        if !isTrue { broken.append(message()) }
    }

    // MARK: The outcome

    private mutating func checkOutcome(_ compilation: Compilation) {
        if compilation.hasErrors {
            expect(compilation.model == nil, "a schema in error has a model")
            expect(compilation.outputs.isEmpty, "a schema in error has output")
        } else {
            expect(compilation.model != nil, "a schema without errors has no model")
            expect(!compilation.outputs.isEmpty, "a schema without errors has no output")
        }
        for output in compilation.outputs {
            expect(output.text.hasSuffix("\n"), "'\(output.name)' has no line end at its end")
            expect(output.text.utf8.allSatisfy { $0 >= 0x20 || $0 == 0x0A }, "'\(output.name)' has control characters")
        }
        let names = Set(compilation.outputs.map(\.name))
        expect(names.count == compilation.outputs.count, "two outputs have one name")
    }

    private mutating func checkOrder(of diagnostics: [Diagnostic]) {
        let paths = Dictionary(input.allSources.map { ($0.file, $0.displayPath) }) { first, _ in first }
        let keys = diagnostics.map { finding -> (String, Int, Int, String) in
            guard let span = finding.span else { return ("", -1, -1, finding.code.rawValue) }
            return (paths[span.file] ?? "", span.start, span.end, finding.code.rawValue)
        }
        expect(zip(keys, keys.dropFirst()).allSatisfy { $0 <= $1 }, "findings are not sorted")
        // A finding that is repeated tells nothing.
        expect(Set(diagnostics).count == diagnostics.count, "a finding is there twice")
        for source in input.allSources {
            let count = diagnostics.count { $0.span?.file == source.file && $0.isError }
            expect(count <= 201, "\(count) errors in one file")
        }
    }

    private mutating func checkDeterminism(_ compilation: Compilation) {
        let reversed = SchemaInput(sources: input.sources.reversed(), configuration: input.configuration)
        let again = Compiler.compile(reversed, options: Self.options)
        expect(again.diagnostics == compilation.diagnostics, "findings depend on the order of files")
        expect(again.outputs == compilation.outputs, "output depends on the order of files")
    }

    // MARK: Places

    private mutating func checkPlaces(of finding: Diagnostic) {
        let edits = finding.fixes.flatMap(\.edits)
        for span in [finding.span].compactMap(\.self) + finding.notes.compactMap(\.span) + edits.map(\.span) {
            guard let source = input.allSources.first(where: { $0.file == span.file }) else {
                broken.append("'\(finding.message)' points into no file")
                continue
            }
            let isInside = span.start >= 0 && span.start <= span.end && span.end <= source.bytes.count
            expect(isInside, "'\(finding.message)' has a range outside the text: \(span)")
            guard isInside else { continue }
            expect(
                source.isBoundary(span.start) && source.isBoundary(span.end),
                "'\(finding.message)' has a range inside a letter: \(span)")
        }
        expect(finding.fixes.count <= 3, "'\(finding.message)' has \(finding.fixes.count) fixes")
        expect(!finding.message.isEmpty && !finding.message.hasSuffix("."), "'\(finding.message)' is no message")
        let words =
            [finding.message] + [finding.label, finding.help].compactMap(\.self) + finding.notes.map(\.message)
            + finding.fixes.map(\.title)
        for text in words {
            expect(text.printable == text, "'\(text.printable)' has something in it that cannot be seen")
        }
        expect(finding.message.utf8.count < 2000, "'\(finding.message)' is too long")
        for fix in finding.fixes {
            let spans = fix.edits.map(\.span).sorted()
            let areApart = zip(spans, spans.dropFirst()).allSatisfy { $0.file != $1.file || $0.end <= $1.start }
            expect(areApart, "'\(finding.message)' has a fix whose edits overlap")
        }
    }

    private mutating func checkReports(of diagnostics: [Diagnostic]) {
        var report = Report()
        report.add(diagnostics, of: input.allSources, named: "Schemas")
        for format in ReportFormat.allCases {
            let size = report.text(as: format).utf8.count
            // Every place shows a line of 160 signs at most, and messages are cut.
            let places = diagnostics.reduce(1) { $0 + 1 + $1.notes.count + $1.fixes.flatMap(\.edits).count }
            expect(size < 100_000 + places * 8000, "the report '\(format)' has \(size) bytes")
        }
    }

    // MARK: Layout

    private mutating func checkLayout(_ compilation: Compilation) {
        var laidOut = input
        for (index, source) in input.sources.enumerated() {
            if let bytes = layout(of: source) { laidOut.sources[index] = source.replacing(bytes) }
        }
        if let source = input.configuration, let bytes = layout(of: source) {
            laidOut.configuration = source.replacing(bytes)
        }
        let after = Compiler.compile(laidOut, options: Self.options)
        expect(after.model?.dump() == compilation.model?.dump(), "a layout changes the model")
        expect(after.outputs == compilation.outputs, "a layout changes the output")
        if !compilation.hasErrors {
            let before = compilation.diagnostics.map(\.code.rawValue).sorted()
            expect(after.diagnostics.map(\.code.rawValue).sorted() == before, "a layout changes the findings")
        }
    }

    private mutating func layout(of source: SourceText) -> [UInt8]? {
        let formatting = Compiler.format(source)
        guard let bytes = formatting.bytes else {
            expect(formatting.diagnostics.contains(where: \.isError), "a text is not laid out, and nobody says why")
            return nil
        }
        expect(Compiler.format(source.replacing(bytes)).bytes == bytes, "a layout is not final")
        return bytes
    }

    // MARK: Fixes

    private mutating func checkFixes(of diagnostics: [Diagnostic]) {
        let mended = FixApplier.apply(input, options: Self.options)
        let left = Compiler.lint(mended.input, options: Self.options).diagnostics
        for finding in left where finding.fixes.first?.applicability == .safe {
            broken.append("'\(finding.message)' is left behind all safe fixes")
        }
        expect(
            FixApplier.apply(mended.input, options: Self.options).count == 0, "fixing twice is not fixing once")
        expect(mended.rounds <= 12, "fixes lie \(mended.rounds) deep upon each other")
        checkValues(behind: mended.input)
        for fix in diagnostics.flatMap(\.fixes).prefix(8) {
            _ = Compiler.lint(input.applying(fix), options: Self.options)
        }
    }

    /// A fix may take away what is useless, such as an index; what is stored and what it begins with stay.
    private mutating func checkValues(behind mended: SchemaInput) {
        guard let before = Compiler.lint(input, options: Self.options).model else { return }
        guard let after = Compiler.lint(mended, options: Self.options).model else {
            broken.append("safe fixes make a schema wrong")
            return
        }
        expect(values(of: before) == values(of: after), "a safe fix changes a value")
    }

    private func values(of schema: SchemaModel) -> [String] {
        schema.objects.flatMap { object in
            ["\(object.name) \(object.documentation ?? "-")"]
                + object.properties.map { property in
                    let value = property.defaultValue.map { "\($0)" } ?? "-"
                    return
                        "\(object.name).\(property.name) \(property.type.text) \(value) \(property.documentation ?? "-")"
                }
        } + schema.enums.flatMap { model in model.cases.map { "\(model.name).\($0.name) \($0.rawValue)" } }
    }

    private mutating func checkComparison(_ compilation: Compilation) {
        let comparison = Compiler.compare(input, with: input)
        guard !compilation.hasErrors else { return }
        expect(comparison.oldErrors.isEmpty, "a schema without errors cannot be compared")
        expect(comparison.diagnostics.isEmpty, "a schema breaks with itself")
    }
}

extension SourceText {
    fileprivate func replacing(_ bytes: [UInt8]) -> SourceText {
        SourceText(file: file, relativePath: relativePath, displayPath: displayPath, bytes: bytes)
    }

    /// False inside the bytes of one letter; bytes that are no UTF-8 are letters of their own.
    fileprivate func isBoundary(_ offset: Int) -> Bool {
        guard offset < bytes.count, bytes[offset] & 0xC0 == 0x80 else { return true }
        let start = (Swift.max(0, offset - 3)..<offset).last { bytes[$0] >= 0xC0 } ?? offset
        let decoded = String(decoding: bytes[start..<Swift.min(bytes.count, start + 4)], as: UTF8.self)
        guard let first = decoded.unicodeScalars.first, first != "\u{FFFD}" else { return true }
        return start + String(first).utf8.count <= offset
    }
}

extension SchemaInput {
    fileprivate func applying(_ fix: Fix) -> SchemaInput {
        let apply = { (source: SourceText) in
            var bytes = source.bytes
            for edit in fix.edits.sorted(by: { $0.span > $1.span }) where edit.span.file == source.file {
                bytes.replaceSubrange(edit.span.start..<edit.span.end, with: Array(edit.replacement.utf8))
            }
            return source.replacing(bytes)
        }
        return SchemaInput(sources: sources.map(apply), configuration: configuration.map(apply))
    }
}
