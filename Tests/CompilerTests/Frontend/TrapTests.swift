import MartletCompiler
import MartletSchema
import Testing

/// The traps of YAML that the contract names: each is said in words of its own, at its place, and has a fix that mends it.
@Suite("Traps of YAML")
struct TrapTests {
    struct Trap: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let code: DiagnosticCode
        /// The lines below `properties:`; `«` and `»` stand around what the finding points at.
        let text: String
        /// The same when all safe fixes are applied; nil where a person has to choose.
        let mended: String?
    }

    static let traps: [Trap] = [
        Trap(testDescription: "a tab", code: .yamlTrap, text: "«\t\t\t»name: String\n", mended: "      name: String\n"),
        Trap(
            testDescription: "no space", code: .yamlTrap, text: "      name«:»String\n", mended: "      name: String\n"),
        Trap(
            testDescription: "brackets", code: .yamlTrap, text: "      names: «[String]?»\n",
            mended: "      names: List<String>\n"),
        Trap(
            testDescription: "a comma in braces", code: .yamlTrap,
            text: "      name: {type: String, doc: One«,» two}\n",
            mended: "      name: {type: String, doc: 'One, two'}\n"),
        Trap(
            testDescription: "an unclosed quote", code: .yamlTrap,
            text: "      name: String = «\"»Rex\n      age: Int\n",
            mended: nil),
        Trap(
            testDescription: "a conflict", code: .mergeConflict,
            text: "«<<<<<<<» ours\n      name: String\n=======\n      name: Int\n>>>>>>> theirs\n", mended: nil),
        Trap(
            testDescription: "a boolean of YAML 1.1", code: .ambiguousScalar, text: "      isGood: Bool = «yes»\n",
            mended: "      isGood: Bool = true\n"),
        Trap(
            testDescription: "an octal number of YAML 1.1", code: .ambiguousScalar, text: "      count: Int = «0o17»\n",
            mended: "      count: Int = 15\n"),
        Trap(
            testDescription: "a space before the colon", code: .yamlTrap,
            text: "      age: Int\n      name «:»String\n      size: Int\n",
            mended: "      age: Int\n      name: String\n      size: Int\n"),
        Trap(
            testDescription: "a space before the colon of the only property", code: .yamlTrap,
            text: "      name «:»String\n", mended: "      name: String\n"),
        Trap(
            testDescription: "a no-break space behind the colon", code: .yamlTrap,
            text: "      name:«\u{A0}»String\n", mended: "      name: String\n"),
        Trap(
            testDescription: "a no-break space behind a space", code: .yamlTrap,
            text: "      name: «\u{A0}»String\n", mended: "      name:  String\n"),
        Trap(
            testDescription: "an indentation of no-break spaces", code: .yamlTrap,
            text: "    «\u{A0}\u{A0}»name: String\n", mended: "      name: String\n"),
        Trap(
            testDescription: "brackets in braces", code: .yamlTrap,
            text: "      name: String\n  Cat: {properties: {a: «[string]?», b: Int}}\n",
            mended: "      name: String\n  Cat: {properties: {a: List<String>, b: Int}}\n"),
        Trap(
            testDescription: "a bare text with a colon", code: .yamlTrap,
            text: "      name: String = a«:» b\n", mended: "      name: 'String = \"a: b\"'\n"),
        Trap(
            testDescription: "a decimal comma", code: .yamlTrap,
            text: "      name: {type: Double, default: 1«,»5}\n", mended: nil),
        Trap(
            testDescription: "a comment for a default", code: .yamlTrap, text: "      name: String = «#»5\n",
            mended: nil),
    ]

    @Test("S12 every trap of the contract is named at its place", arguments: traps)
    func named(_ trap: Trap) throws {
        let text = Self.head + trap.text.filter { !"«»".contains($0) }
        let source = SourceText(file: SourceFileID(0), path: "Dog.yaml", text: text)
        let findings = Compiler.lint(SchemaInput(sources: [source])).diagnostics.filter(\.isError)
        let first = try #require(findings.first { $0.code == trap.code }, "\(findings.map(\.message))")
        let marked = trap.text.split(separator: "«", omittingEmptySubsequences: false)
        let start = Self.head.utf8.count + marked[0].utf8.count
        let length = marked[1].prefix { $0 != "»" }.utf8.count
        #expect(first.span.map { [$0.start, $0.end] } == [start, start + length], "\(first.message)")
    }

    @Test("S12 every trap with one right answer is mended", arguments: traps.filter { $0.mended != nil })
    func mended(_ trap: Trap) {
        let text = Self.head + trap.text.filter { !"«»".contains($0) }
        let source = SourceText(file: SourceFileID(0), path: "Dog.yaml", text: text)
        let mending = FixApplier.apply(SchemaInput(sources: [source]), options: CompilerOptions(preset: .minimal))
        #expect(String(decoding: mending.input.sources[0].bytes, as: UTF8.self) == Self.head + (trap.mended ?? ""))
        #expect(Compiler.lint(mending.input, options: CompilerOptions(preset: .minimal)).diagnostics.isEmpty)
    }

    private static let head = "objects:\n  Dog:\n    properties:\n"
}
