import MartletBackend
public import MartletCompiler
import MartletSchema
import MartletTools

/// Checks invariants of the compiler that must hold for any input. The fuzzer and the tests of its corpus use this
/// type.
public struct SchemaInvariants {
    private let input: SchemaInput
    private var violations: [String] = []

    /// Returns a description of each violation for an input in the format of `CorpusText`.
    public static func violations(of bytes: [UInt8]) -> [String] {
        violations(of: CorpusText.input(of: bytes))
    }

    public static func violations(of input: SchemaInput) -> [String] {
        var invariants = SchemaInvariants(input)
        invariants.check()
        return invariants.violations
    }

    private init(_ input: SchemaInput) {
        self.input = input
    }

    private static let options = CompilerOptions(preset: .strict)

    private mutating func check() {
        let compilation = Compiler.lintAndCompile(input, options: Self.options)
        checkOutcome(compilation)
        checkOrder(of: compilation.diagnostics)
        for finding in compilation.diagnostics { checkLocations(of: finding) }
        checkDeterminism(compilation)
        checkReports(of: compilation.diagnostics)
        checkFormatting(compilation)
        checkFixes(of: compilation.diagnostics)
        checkComparison(compilation)
    }

    private mutating func expect(_ isTrue: Bool, _ message: @autoclosure () -> String) {
        if !isTrue { violations.append(message()) }
    }

    // MARK: Outcome

    private mutating func checkOutcome(_ compilation: Compilation) {
        if compilation.hasErrors {
            expect(compilation.model == nil, "a schema with errors has a model")
            expect(compilation.outputs.isEmpty, "a schema with errors has output")
        } else {
            expect(compilation.model != nil, "a schema without errors has no model")
            expect(!compilation.outputs.isEmpty, "a schema without errors has no output")
        }
        for output in compilation.outputs {
            expect(output.text.hasSuffix("\n"), "'\(output.name)' does not end with a line feed")
            expect(output.text.utf8.allSatisfy { $0 >= 0x20 || $0 == 0x0A }, "'\(output.name)' has control characters")
        }
        let names = Set(compilation.outputs.map(\.name))
        expect(names.count == compilation.outputs.count, "two outputs have the same name")
    }

    private mutating func checkOrder(of diagnostics: [Diagnostic]) {
        let paths = Dictionary(input.allSources.map { ($0.file, $0.displayPath) }) { first, _ in first }
        let keys = diagnostics.map { finding -> (String, Int, Int, String) in
            guard let span = finding.span else { return ("", -1, -1, finding.code.rawValue) }
            return (paths[span.file] ?? "", span.start, span.end, finding.code.rawValue)
        }
        expect(zip(keys, keys.dropFirst()).allSatisfy { $0 <= $1 }, "findings are not sorted")
        expect(Set(diagnostics).count == diagnostics.count, "a finding is repeated")
        for source in input.allSources {
            let count = diagnostics.count { $0.span?.file == source.file && $0.isError }
            // At most 200 findings of a file are shown. One more error says how many findings are not shown.
            expect(count <= 201, "\(count) errors in one file")
        }
    }

    private mutating func checkDeterminism(_ compilation: Compilation) {
        let reversed = SchemaInput(sources: input.sources.reversed(), configuration: input.configuration)
        let again = Compiler.lintAndCompile(reversed, options: Self.options)
        expect(again.diagnostics == compilation.diagnostics, "findings depend on the order of files")
        expect(again.outputs == compilation.outputs, "output depends on the order of files")
    }

    // MARK: Locations

    private mutating func checkLocations(of finding: Diagnostic) {
        let edits = finding.fixes.flatMap(\.edits)
        for span in [finding.span].compactMap(\.self) + finding.notes.compactMap(\.span) + edits.map(\.span) {
            guard let source = input.allSources.first(where: { $0.file == span.file }) else {
                violations.append("'\(finding.message)' is located in an unknown file")
                continue
            }
            let isInside = span.start >= 0 && span.start <= span.end && span.end <= source.bytes.count
            expect(isInside, "'\(finding.message)' has a range outside the text: \(span)")
            guard isInside else { continue }
            expect(
                source.isBoundary(span.start) && source.isBoundary(span.end),
                "'\(finding.message)' has a range that splits a character: \(span)")
        }
        expect(finding.fixes.count <= 3, "'\(finding.message)' has \(finding.fixes.count) fixes")
        expect(
            !finding.message.isEmpty && !finding.message.hasSuffix("."),
            "'\(finding.message)' is empty or ends with '.'")
        let words =
            [finding.message] + [finding.label, finding.help].compactMap(\.self) + finding.notes.map(\.message)
            + finding.fixes.map(\.title)
        for text in words {
            expect(text.printable == text, "'\(text.printable)' contains invisible characters")
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
            // At each location, a report shows at most 160 characters of the line. Messages are truncated.
            let places = diagnostics.reduce(1) { $0 + 1 + $1.notes.count + $1.fixes.flatMap(\.edits).count }
            expect(size < 100_000 + places * 8000, "the report '\(format)' has \(size) bytes")
        }
    }

    // MARK: Formatting

    private mutating func checkFormatting(_ compilation: Compilation) {
        var formatted = input
        for (index, source) in input.sources.enumerated() {
            if let bytes = format(source) { formatted.sources[index] = source.replacing(bytes) }
        }
        if let source = input.configuration, let bytes = format(source) {
            formatted.configuration = source.replacing(bytes)
        }
        let after = Compiler.lintAndCompile(formatted, options: Self.options)
        expect(after.model?.dump() == compilation.model?.dump(), "formatting changes the model")
        expect(after.outputs == compilation.outputs, "formatting changes the output")
        if !compilation.hasErrors {
            let before = compilation.diagnostics.map(\.code.rawValue).sorted()
            expect(after.diagnostics.map(\.code.rawValue).sorted() == before, "formatting changes the findings")
        }
    }

    private mutating func format(_ source: SourceText) -> [UInt8]? {
        let formatted = Compiler.format(source)
        guard let bytes = formatted.bytes else {
            expect(formatted.diagnostics.contains(where: \.isError), "a text is not formatted, and there is no error")
            return nil
        }
        expect(Compiler.format(source.replacing(bytes)).bytes == bytes, "formatting is not idempotent")
        return bytes
    }

    // MARK: Fix-its

    private mutating func checkFixes(of diagnostics: [Diagnostic]) {
        let fixed = FixApplier.apply(input, options: Self.options)
        let left = Compiler.lint(fixed.input, options: Self.options).diagnostics
        for finding in left where finding.fixes.first?.applicability == .safe {
            violations.append("'\(finding.message)' remains after all safe fix-its")
        }
        expect(
            FixApplier.apply(fixed.input, options: Self.options).count == 0, "fixing is not idempotent")
        // The limit of `FixApplier` is twice as high.
        expect(fixed.rounds <= 12, "fix-its needed \(fixed.rounds) rounds")
        checkValues(after: fixed.input)
        for fix in diagnostics.flatMap(\.fixes).prefix(8) {
            _ = Compiler.lint(input.applying(fix), options: Self.options)
        }
    }

    /// Checks that safe fix-its do not change stored properties, their defaults, the documentation, or enum cases. They
    /// may remove declarations without effect, such as a redundant index.
    private mutating func checkValues(after fixed: SchemaInput) {
        guard let before = Compiler.lint(input, options: Self.options).model else { return }
        guard let after = Compiler.lint(fixed, options: Self.options).model else {
            violations.append("safe fix-its cause an error")
            return
        }
        expect(values(of: before) == values(of: after), "a safe fix-it changes a value")
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
        expect(comparison.diagnostics.isEmpty, "a schema has breaking changes compared with itself")
    }
}

extension SourceText {
    fileprivate func replacing(_ bytes: [UInt8]) -> SourceText {
        SourceText(file: file, relativePath: relativePath, displayPath: displayPath, bytes: bytes)
    }

    /// Returns false if the offset lies inside the bytes of a character. Each byte of invalid UTF-8 counts as a
    /// character.
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
