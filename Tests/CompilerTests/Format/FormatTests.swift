import CompilerInvariants
import Foundation
import MartletCompiler
import MartletSchema
import ModelTesting
import Testing

@testable import MartletFrontend
@testable import MartletTools

@Suite("Format")
struct FormatTests {
    private func source(_ bytes: [UInt8], path: String = "Schema.yaml", index: Int = 0) -> SourceText {
        SourceText(file: SourceFileID(index), relativePath: path, displayPath: path, bytes: bytes)
    }

    private func format(_ bytes: [UInt8]) throws -> [UInt8] {
        let formatted = Compiler.format(source(bytes))
        return try #require(formatted.bytes, "\(formatted.diagnostics.map(\.message))")
    }

    private func format(_ text: String) throws -> String {
        String(decoding: try format(Array(text.utf8)), as: UTF8.self)
    }

    /// Returns the comments of a text in their order.
    private func comments(_ bytes: [UInt8]) -> [String] {
        let source = source(bytes)
        let spans = FileReader.read(source).root?.scalarSpans ?? []
        return LayoutComment.all(in: source, outside: spans).map(\.text)
    }

    private func dump(_ sources: [SourceText]) throws -> String {
        let (model, diagnostics) = Frontend.analyze(sources)
        return try #require(model, "\(diagnostics.map(\.message))").dump()
    }

    // MARK: Samples

    @Test("a sample is formatted to the canonical layout S42", arguments: LayoutSample.all)
    func layout(_ sample: LayoutSample) throws {
        #expect(try format(sample.written) == sample.formatted)
        #expect(try format(sample.formatted) == sample.formatted)
    }

    @Test("a byte-order mark is removed, and line ends become line feeds S42", arguments: ["\n", "\r\n", "\r"])
    func encodings(_ lineEnd: String) throws {
        let text = [
            "# æ", "enums:", "  Size: [small]", "  Text:", "    doc: |", "      a", "", "      b", "    cases: [a]",
        ]
        let expected = "# æ\nenums:\n  Size: [small]\n\n  Text:\n    doc: |\n      a\n\n      b\n    cases: [a]\n"
        let bytes = [0xEF, 0xBB, 0xBF] + Array(text.joined(separator: lineEnd).utf8)
        #expect(String(decoding: try format(bytes), as: UTF8.self) == expected)
    }

    @Test("a text without content becomes empty S42", arguments: ["", "\n\n", "  \n", "---\n"])
    func nothing(_ text: String) throws {
        #expect(try format(text) == "")
    }

    @Test(
        "text with syntax errors is left unchanged S42",
        arguments: ["a: [b\n", "a: 1\na: 2\n", "a: &b c\n", "\ta: b\n"])
    func unreadable(_ text: String) {
        let formatted = Compiler.format(source(Array(text.utf8)))
        #expect(formatted.bytes == nil)
        #expect(formatted.diagnostics.contains { $0.isError })
    }

    @Test(
        "text is left unchanged if formatting would change its content S42", arguments: ["a: [b: , c]\n", "? \n: a\n"])
    func odd(_ text: String) {
        let formatted = Compiler.format(source(Array(text.utf8)))
        #expect(formatted.bytes == nil)
        #expect(formatted.diagnostics.map(\.message).contains { $0.contains("cannot be formatted") })
    }

    // MARK: Properties

    @Test("the schemas of this repository have the canonical layout S42", arguments: GoodText.all)
    func repository(_ schema: GoodText) throws {
        guard !schema.path.contains("Fixtures") else { return }
        #expect(try format(schema.text) == schema.text)
    }

    @Test(
        "formatting good schemas keeps the model and all comments, and is idempotent S42", arguments: GoodText.schemas)
    func goodSchemas(_ schema: [GoodText]) throws {
        var before: [SourceText] = []
        var after: [SourceText] = []
        for (index, file) in schema.enumerated() {
            let bytes = Array(file.text.utf8)
            let formatted = try format(bytes)
            #expect(try format(formatted) == formatted)
            #expect(comments(formatted) == comments(bytes))
            before.append(source(bytes, path: file.path, index: index))
            after.append(source(formatted, path: file.path, index: index))
        }
        #expect(try dump(after) == dump(before))
    }

    @Test(
        "300 other layouts of good schemas have the same model and are formatted to the same text S42",
        arguments: GoodText.schemas)
    func otherLayouts(_ schema: [GoodText]) throws {
        let canonical = try schema.map { Array(try format($0.text).utf8) }
        let expected = try dump(schema.enumerated().map { source(canonical[$0], path: $1.path, index: $0) })
        for seed in 0..<UInt64(300 / GoodText.schemas.count) {
            var randomizer = WhitespaceRandomizer(seed: seed)
            let texts = canonical.map { randomizer.bytes(of: String(decoding: $0, as: UTF8.self)) }
            #expect(texts != canonical)
            let sources = texts.enumerated().map { source($1, path: schema[$0].path, index: $0) }
            try #require(try dump(sources) == expected, "seed \(seed)")
            let formatted = try texts.map { try format($0) }
            for (index, bytes) in formatted.enumerated() where bytes != canonical[index] {
                Issue.record("seed \(seed), \(schema[index].path):\n\(String(decoding: bytes, as: UTF8.self))")
            }
        }
    }

    @Test(
        "formatting bad fixtures that are valid YAML keeps all comments and is idempotent S42",
        arguments: FixtureSchema.all)
    func badSchemas(_ schema: FixtureSchema) throws {
        for file in schema.input().sources {
            guard let formatted = Compiler.format(file).bytes else { continue }
            #expect(try format(formatted) == formatted)
            #expect(comments(formatted) == comments(file.bytes))
        }
    }

    @Test("formatting 4,000 mutations of good schemas is idempotent and loses no comment S42")
    func mutations() throws {
        var random = SeededRandom(seed: 42)
        let texts = (GoodText.all.map(\.text) + LayoutSample.all.map(\.written)).map { Array($0.utf8) }
        let signs = Array(" \n\n\n  :?-[]{}\"'#|>,\r".utf8)
        var count = 0
        for run in 0..<4_000 {
            var bytes = Array(texts[run % texts.count].prefix(600))
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                if Bool.random(using: &random) {
                    bytes.insert(signs[Int.random(in: 0..<signs.count, using: &random)], at: place)
                } else {
                    bytes[place] = signs[Int.random(in: 0..<signs.count, using: &random)]
                }
            }
            guard let formatted = Compiler.format(source(bytes)).bytes else { continue }
            count += 1
            let text = String(decoding: bytes, as: UTF8.self)
            if Compiler.format(source(formatted)).bytes != formatted {
                Issue.record("run \(run) is not idempotent:\n\(text)")
            }
            if comments(formatted) != comments(bytes) { Issue.record("run \(run) changes comments:\n\(text)") }
        }
        #expect(count > 800)
    }
}

extension GoodText {
    /// All texts, grouped by schema. The files of one folder are one schema.
    static let schemas: [[GoodText]] = Dictionary(grouping: all) { text in
        text.path.split(separator: "/").dropLast().joined(separator: "/")
    }.sorted { $0.key < $1.key }.map(\.value)
}

/// A text and its canonical layout.
struct LayoutSample: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let written: String
    let formatted: String

    init(_ description: String, _ written: String, _ formatted: String) {
        testDescription = description
        self.written = written
        self.formatted = formatted
    }

    static let all = [
        LayoutSample(
            "indentation, blanks and blank lines",
            "\n\nobjects:\n\n    Dog:\n        properties:   \n\n\n            a:    Int\n\n\n\n            b: Int\n    Cat: {}\nenums:\n E: [a]\n\n\n",
            "objects:\n  Dog:\n    properties:\n      a: Int\n\n      b: Int\n\n  Cat: {}\n\nenums:\n  E: [a]\n"),
        LayoutSample(
            "brackets", "a: { b : 1,c: [ x ,y ],  d: {} , 'e':\"f\"}\n", "a: {b: 1, c: [x, y], d: {}, 'e': \"f\"}\n"),
        LayoutSample("brackets over several lines that fit into one", "a: [b,\n  c,\n  ]\n", "a: [b, c]\n"),
        LayoutSample(
            "brackets that are too wide",
            "a: [\(String(repeating: "b", count: 50)), \(String(repeating: "c", count: 50))]\n",
            "a: [\n  \(String(repeating: "b", count: 50)),\n  \(String(repeating: "c", count: 50))]\n"),
        LayoutSample(
            "comments in brackets", "a: [ # one\n ## two\n b, # three\n c\n # four\n ]\n",
            "a: [  # one\n  ## two\n  b,  # three\n  c\n  # four\n  ]\n"),
        LayoutSample(
            "lists", "a:\n- b\n-   c: 1\n    d: 2\n-\n  # e\n  f\n- - g\n  - h\n-\n",
            "a:\n  - b\n  - c: 1\n    d: 2\n  -\n    # e\n    f\n  - - g\n    - h\n  -\n"),
        LayoutSample("a block scalar of blank lines", "a:\n - >+ # c\n    \n  \n", "a:\n  - >+ # c\n\n\n"),
        LayoutSample(
            "quotes and numbers", "a:  'b'\nc:   \"d\"\ne: 0x1_0\nf: 1.50\n", "a: 'b'\nc: \"d\"\ne: 0x1_0\nf: 1.50\n"),
        LayoutSample(
            "comments at line ends", "a: 1 # x\nlonger: 2# no\nb: 3         # y\nc: 4  # z\n",
            "a: 1  # x\nlonger: 2# no\nb: 3  # y\nc: 4  # z\n"),
        LayoutSample(
            "comments stay with the following entry, or in their block",
            "objects:\n    # own\n\n    ## doc\n    Dog:\n        a: 1\n        # last of Dog\n\n    # above Cat\n    Cat: {}\n        # deep\n# end\n",
            "objects:\n  # own\n\n  ## doc\n  Dog:\n    a: 1\n    # last of Dog\n\n  # above Cat\n  Cat: {}\n  # deep\n# end\n"
        ),
        LayoutSample(
            "a comment before a value keeps its place", "a: # b\n   # c\n    d\n", "a:  # b\n  # c\n  d\n"),
        LayoutSample(
            "scalars of several lines",
            "a: |\n     b\n       c  \n\n     d\n\n\n\ne: >2-\n   f\n  g\nh: 'i\n\n j'\nk: l\n m\n",
            "a: |\n  b\n    c  \n\n  d\n\ne: >2-\n   f\n  g\nh: 'i\n\n  j'\nk: l\n  m\n"),
        LayoutSample(
            "scalars at the file end", "a:\n - |\n  b\n - >+ # c\n  d", "a:\n  - |\n    b\n  - >- # c\n    d\n"),
        LayoutSample("document markers", "--- # a\nb: c\n...\n", "# a\nb: c\n"),
        LayoutSample(
            "a configuration, without blank lines between its keys", "access:   public\nlint: {preset:  strict}\n",
            "access: public\nlint: {preset: strict}\n"),
    ]
}
