import MartletCompiler
import MartletSchema
import MartletTools
import Testing

/// Tests common YAML mistakes. Each is reported at its location, with a fix-it if the correction is unambiguous.
@Suite("YAML mistakes")
struct YAMLMistakeTests {
    struct Mistake: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let code: DiagnosticCode
        /// The lines below `properties:`. `«` and `»` enclose the location of the finding.
        let text: String
        /// The text after all safe fix-its are applied; nil if the user has to choose a correction.
        let fixed: String?
    }

    static let mistakes: [Mistake] = [
        Mistake(
            testDescription: "a tab", code: .yamlMistake, text: "«\t\t\t»name: String\n", fixed: "      name: String\n"),
        Mistake(
            testDescription: "no space", code: .yamlMistake, text: "      name«:»String\n",
            fixed: "      name: String\n"),
        Mistake(
            testDescription: "brackets", code: .yamlMistake, text: "      names: «[String]?»\n",
            fixed: "      names: List<String>\n"),
        Mistake(
            testDescription: "a comma in braces", code: .yamlMistake,
            text: "      name: {type: String, doc: One«,» two}\n",
            fixed: "      name: {type: String, doc: 'One, two'}\n"),
        Mistake(
            testDescription: "an unclosed quote", code: .yamlMistake,
            text: "      name: String = «\"»Rex\n      age: Int\n",
            fixed: nil),
        Mistake(
            testDescription: "a merge conflict", code: .mergeConflict,
            text: "«<<<<<<<» ours\n      name: String\n=======\n      name: Int\n>>>>>>> theirs\n", fixed: nil),
        Mistake(
            testDescription: "a boolean of YAML 1.1", code: .ambiguousScalar, text: "      isGood: Bool = «yes»\n",
            fixed: "      isGood: Bool = true\n"),
        Mistake(
            testDescription: "an octal number", code: .ambiguousScalar, text: "      count: Int = «0o17»\n",
            fixed: "      count: Int = 15\n"),
        Mistake(
            testDescription: "a space before the colon", code: .yamlMistake,
            text: "      age: Int\n      name «:»String\n      size: Int\n",
            fixed: "      age: Int\n      name: String\n      size: Int\n"),
        Mistake(
            testDescription: "a space before the colon of the only property", code: .yamlMistake,
            text: "      name «:»String\n", fixed: "      name: String\n"),
        Mistake(
            testDescription: "a no-break space after the colon", code: .yamlMistake,
            text: "      name:«\u{A0}»String\n", fixed: "      name: String\n"),
        Mistake(
            testDescription: "a no-break space after a space", code: .yamlMistake,
            text: "      name: «\u{A0}»String\n", fixed: "      name:  String\n"),
        Mistake(
            testDescription: "an indentation of no-break spaces", code: .yamlMistake,
            text: "    «\u{A0}\u{A0}»name: String\n", fixed: "      name: String\n"),
        Mistake(
            testDescription: "brackets in braces", code: .yamlMistake,
            text: "      name: String\n  Cat: {properties: {a: «[string]?», b: Int}}\n",
            fixed: "      name: String\n  Cat: {properties: {a: List<String>, b: Int}}\n"),
        Mistake(
            testDescription: "a bare text with a colon", code: .yamlMistake,
            text: "      name: String = a«:» b\n", fixed: "      name: 'String = \"a: b\"'\n"),
        Mistake(
            testDescription: "a decimal comma", code: .yamlMistake,
            text: "      name: {type: Double, default: 1«,»5}\n", fixed: nil),
        Mistake(
            testDescription: "a comment in place of a default", code: .yamlMistake, text: "      name: String = «#»5\n",
            fixed: nil),
    ]

    @Test("every common mistake is found at its location S12", arguments: mistakes)
    func isFound(_ mistake: Mistake) throws {
        let text = Self.head + mistake.text.filter { !"«»".contains($0) }
        let source = SourceText(file: SourceFileID(0), path: "Dog.yaml", text: text)
        let findings = Compiler.lint(SchemaInput(sources: [source])).diagnostics.filter(\.isError)
        let first = try #require(findings.first { $0.code == mistake.code }, "\(findings.map(\.message))")
        let marked = mistake.text.split(separator: "«", omittingEmptySubsequences: false)
        let start = Self.head.utf8.count + marked[0].utf8.count
        let length = marked[1].prefix { $0 != "»" }.utf8.count
        #expect(first.span.map { [$0.start, $0.end] } == [start, start + length], "\(first.message)")
    }

    @Test("every mistake with one correct fix-it is corrected S12", arguments: mistakes.filter { $0.fixed != nil })
    func isFixed(_ mistake: Mistake) {
        let text = Self.head + mistake.text.filter { !"«»".contains($0) }
        let source = SourceText(file: SourceFileID(0), path: "Dog.yaml", text: text)
        let outcome = FixApplier.apply(SchemaInput(sources: [source]), options: CompilerOptions(preset: .minimal))
        #expect(String(decoding: outcome.input.sources[0].bytes, as: UTF8.self) == Self.head + (mistake.fixed ?? ""))
        #expect(Compiler.lint(outcome.input, options: CompilerOptions(preset: .minimal)).diagnostics.isEmpty)
    }

    private static let head = "objects:\n  Dog:\n    properties:\n"
}
