import MartletCompiler
import MartletSchema
import MartletTools
import ModelTesting
import Testing

@Suite("Fix-its: safe fix-its")
struct FixApplierTests {
    private func fix(_ text: String) -> (text: String, count: Int) {
        let source = SourceText(file: SourceFileID(0), path: "A.yaml", text: text)
        let result = FixApplier.apply(SchemaInput(sources: [source]), options: CompilerOptions(preset: .strict))
        return (String(decoding: result.input.sources[0].bytes, as: UTF8.self), result.count)
    }

    @Test("fixing twice equals fixing once, and no safe fix-it remains S41", arguments: FixtureSchema.all)
    func idempotent(_ schema: FixtureSchema) {
        for input in [schema.input(), schema.input(lineEnd: "\r\n", mark: true)] {
            let once = FixApplier.apply(input, options: schema.options)
            let twice = FixApplier.apply(once.input, options: schema.options)
            #expect(twice.input.allSources.map(\.bytes) == once.input.allSources.map(\.bytes))
            #expect(twice.count == 0)
            let left = Compiler.lint(once.input, options: schema.options).diagnostics
            #expect(!left.contains { $0.fixes.first?.applicability == .safe })
        }
    }

    @Test("no safe fix-it causes an error with a new code S41", arguments: FixtureSchema.all)
    func noNewErrors(_ schema: FixtureSchema) {
        let input = schema.input()
        let before = Set(Compiler.lint(input, options: schema.options).diagnostics.filter(\.isError).map(\.code))
        let fixed = FixApplier.apply(input, options: schema.options).input
        for finding in Compiler.lint(fixed, options: schema.options).diagnostics where finding.isError {
            #expect(before.contains(finding.code), "\(finding.code.rawValue) \(finding.message)")
        }
    }

    @Test("a fix-it keeps line ends, the byte-order mark and comments S41", arguments: FixtureSchema.all)
    func surroundings(_ schema: FixtureSchema) {
        let input = schema.input(lineEnd: "\r\n", mark: true)
        let fixed = FixApplier.apply(input, options: schema.options).input
        for (old, new) in zip(input.allSources, fixed.allSources) {
            #expect(new.byteOrderMarkLength == 3)
            let lines = (0..<new.lineCount - 1).map { new.bytes[new.lineStarts[$0]..<new.lineStarts[$0 + 1]] }
            #expect(lines.allSatisfy { $0.suffix(2).elementsEqual([0x0D, 0x0A]) })
            #expect(comments(of: new).sorted() == comments(of: old).sorted())
        }
    }

    @Test("a fix-it keeps the other values of the input S41")
    func otherValues() {
        let source = SourceText(
            file: SourceFileID(0), path: "A.yaml", text: "objects:\n  A: {properties: {a: string}}\n")
        var folder = SchemaInput(sources: [source])
        folder.skippedFiles = ["B.yml"]
        let fixed = FixApplier.apply(folder)
        #expect(fixed.count == 1)
        #expect(fixed.input.skippedFiles == ["B.yml"])
        let text = "access:internal\n"
        var configuration = SchemaInput(
            sources: [], configuration: SourceText(file: SourceFileID(0), path: "martlet.yaml", text: text))
        configuration.isConfigurationOnly = true
        let only = FixApplier.apply(configuration)
        #expect(only.count == 1)
        #expect(only.input.isConfigurationOnly)
        #expect(Compiler.lint(only.input).diagnostics.map(\.message) == [])
    }

    @Test("overlapping fix-its are applied one after another MRT0203 MRT0302")
    func overlapping() {
        let text = "objects:\n  Dog:\n    properties:\n      a: Array<string>?\n      b: [integer]?\n      c: Dog\n"
        let fixed = fix(text)
        #expect(
            fixed.text
                == "objects:\n  Dog:\n    properties:\n      a: List<String>\n      b: List<Int>\n      c: Dog?\n")
        #expect(fixed.count == 4)
    }

    @Test("if fix-its remain after the maximum number of rounds, nothing is fixed S41")
    func lastRound() {
        let text = "objects:\n  Dog:\n    properties:\n      a: Array<string>?\n"
        let input = SchemaInput(sources: [SourceText(file: SourceFileID(0), path: "A.yaml", text: text)])
        let all = FixApplier.apply(input)
        #expect(all.rounds >= 2)
        #expect(FixApplier.apply(input, maximumRounds: all.rounds).count == all.count)
        #expect(FixApplier.apply(input, maximumRounds: all.rounds - 1).count == 0)
    }

    @Test("fix-its of syntax errors are applied first, then fix-its of findings that the errors hid MRT0103")
    func layers() {
        let text = """
            objects:
            \tDog:
            \t\tproperties:
            \t\t\tname:string
            \t\t\tisGood: boolean = yes # really
            \t\t\tweights: {type: Map<String, double>}

            """
        #expect(
            fix(text).text == """
                objects:
                  Dog:
                    properties:
                      name: String
                      isGood: Bool = true # really
                      weights: {type: Map<Double>}

                """)
    }

    @Test(
        "an unambiguous mistake is fixed, and an ambiguous one is not S41",
        arguments: [
            ("a: string", "a: String"), ("a: NSDate", "a: Date"), ("a: Long?", "a: Int64?"), ("a: number", nil),
            ("a: Number?", nil), ("a: timestamp", nil), ("a: URL", nil), ("a: UInt64", nil), ("a: byte", nil),
            ("a: '?number'", "a: 'number?'"), ("a: Array<string>", "a: List<String>"),
            ("a: Array<number>", "a: List<number>"),
            ("a: OrderedSet<Int>", nil), ("a: Map<String, Int>", "a: Map<Int>"), ("a: 'Map<Int, String>'", nil),
            ("a: [string]", "a: List<String>"), ("a: [number]", "a: List<number>"), ("a: '[Int: String]'", nil),
            ("a: [String]?", "a: List<String>"), ("a: [String] = []", "a: List<String>"), ("a: [Int] = [1, 2]", nil),
        ] as [(String, String?)])
    func guesses(_ property: String, _ fixed: String?) {
        let schema = { (property: String) in "objects:\n  Dog:\n    properties:\n      \(property)\n" }
        #expect(fix(schema(property)).text == schema(fixed ?? property))
    }

    @Test(
        "a key in another spelling is fixed, and a synonym is not S41",
        arguments: [
            ("primarykey", true), ("PrimaryKey", true), ("primary_key", true), ("primary-key", true), ("pk", false),
            ("primaryKye", false), ("key", false),
        ])
    func keys(_ key: String, _ isFixed: Bool) {
        let schema = { (key: String) in "objects:\n  Dog:\n    \(key): a\n    properties:\n      a: Int\n" }
        #expect(fix(schema(key)).text == schema(isFixed ? "primaryKey" : key))
        // If the type also has the correct key, nothing is changed.
        let both = "objects:\n  Dog:\n    primaryKey: a\n    \(key): b\n    properties:\n      a: Int\n      b: Int\n"
        #expect(fix(both).text == both)
    }

    @Test("removing entries of lists and mappings keeps their comments MRT0305 MRT0602")
    func removals() {
        let text = """
            objects:
              ## Barks.
              Dog:
                primaryKey: id
                # for queries
                index:
                  - id # the key
                  # the picture
                  - photo
                renamedFrom: Dog # stale
                properties:
                  id: Int
                  photo: {renamedFrom: photo, type: Data}
              ## Purrs.
              Cat: { index: [id], primaryKey: id, properties: {id: Int} }

            """
        #expect(
            fix(text).text == """
                objects:
                  ## Barks.
                  Dog:
                    primaryKey: id
                    # for queries
                    index:
                      # the key
                      # the picture
                    # stale
                    properties:
                      id: Int
                      photo: {type: Data}
                  ## Purrs.
                  Cat: { primaryKey: id, properties: {id: Int} }

                """)
    }

    @Test("suggested fix-its, and fix-its of findings that a comment or the preset hides, are not applied S41")
    func untouched() {
        let text = """
            objects:
              ## Barks.
              Dog:
                primaryKey: id
                index: [id] # martlet:ignore MRT0305
                properties: {id: Int, Name: String}

            """
        #expect(fix(text) == (text, 0))
        let note = text.replacing("[id] # martlet:ignore MRT0305", with: "[isGood]").replacing(
            "Name: String", with: "isGood: Bool")
        let source = SourceText(file: SourceFileID(0), path: "A.yaml", text: note)
        #expect(FixApplier.apply(SchemaInput(sources: [source])).count == 0)
        #expect(fix(note).count == 1)
    }

    @Test(
        "one fix-it corrects all escapes in a file path, regardless of the characters after them S10 S41",
        arguments: [#"D:\x\y"#, #"\d+\.\d*"#, #"C:\data\users"#, #"\x\x\x"#, #"\\\x"#, #"\q\\q"#])
    func paths(_ path: String) {
        let text = "objects:\n  A: {doc: \"\(path)\", properties: {a: Int}}\n"
        let once = fix(text)
        #expect(once.count == 1)
        #expect(fix(once.text) == (once.text, 0))
        // A double backslash is the valid escape of a backslash, so the fix-it keeps it. All other backslashes are
        // doubled.
        let doubled = path.replacing("\\\\", with: "\u{1}").replacing("\\", with: "\\\\")
            .replacing("\u{1}", with: "\\\\")
        #expect(once.text.contains("\"\(doubled)\""), "\(once.text)")
    }

    @Test(
        "mistakes that only the user can correct are not changed S41",
        arguments: [
            #"objects: {A: {properties: {e: {type: String, default: "\ud83e\udd85"}}}}"#,
            #"objects: {A: {properties: {e: {type: String, default: "C:\dogs\new"}}}}"#,
            "objects:\n  A:\n    properties:\n      x: Int\n\ty: Int",
            "objects:\n  A:\n\tproperties:\n\t\tx: Int\n        index: [x]",
        ])
    func ambiguous(_ text: String) {
        #expect(fix(text + "\n") == (text + "\n", 0))
    }

    @Test("one fix-it corrects 800 KB of invalid escapes S10 S41", .timeLimit(.minutes(1)))
    func manyEscapes() {
        let text = "a: \"" + String(repeating: "\\u", count: 400_000) + "\"\n"
        let fixed = fix(text)
        #expect(fixed.count == 1)
        #expect(fixed.text.utf8.count == text.utf8.count + 400_000)
    }

    @Test("tabs are replaced by spaces if the intended nesting is unambiguous S12 S41")
    func tabs() {
        #expect(
            fix("objects:\n    A:\n\tproperties:\n\t    x: Int\n").text
                == "objects:\n    A:\n      properties:\n        x: Int\n")
        #expect(
            fix("objects:\n  A:\n    properties:\n      x:\n\ttype: Int\n").text
                == "objects:\n  A:\n    properties:\n      x:\n        type: Int\n")
        #expect(
            fix("objects:\n  A:\n    doc: |\n      a\n      \tb\n    properties:\n\t\tx: Int\n").text
                == "objects:\n  A:\n    doc: |\n      a\n      \tb\n    properties:\n      x: Int\n")
    }

    @Test("fixing 2,000 mutations of bad schemas leaves no safe fix-it S41")
    func mutations() {
        var random = SeededRandom(seed: 41)
        let texts = FixtureSchema.all.flatMap { $0.input().sources.map(\.bytes) }
            .filter { (1..<1500).contains($0.count) }
        let signs = Array(" \n\t:?-[]{}<>\"'#&*!|=,.@\\\r".utf8)
        for run in 0..<2000 {
            var bytes = texts[Int.random(in: 0..<texts.count, using: &random)]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                let sign = signs[Int.random(in: 0..<signs.count, using: &random)]
                if Bool.random(using: &random) { bytes.insert(sign, at: place) } else { bytes[place] = sign }
            }
            let source = SourceText(file: SourceFileID(0), relativePath: "A.yaml", displayPath: "A.yaml", bytes: bytes)
            let options = CompilerOptions(preset: .strict)
            let fixed = FixApplier.apply(SchemaInput(sources: [source]), options: options)
            let left = Compiler.lint(fixed.input, options: options).diagnostics
            if let finding = left.first(where: { $0.fixes.first?.applicability == .safe }) {
                let text = String(decoding: fixed.input.sources[0].bytes.prefix(2000), as: UTF8.self)
                Issue.record("run \(run) ends with '\(finding.message)' in\n\(text)")
            }
        }
    }

    /// Returns, for each line, the text from the first `#`. Lines with a quotation mark before the `#` are skipped,
    /// because the `#` may be part of quoted text.
    private func comments(of source: SourceText) -> [String] {
        (0..<source.lineCount).compactMap { line in
            let text = source.lineText(line)
            guard let hash = text.firstRange(of: "#"), !text[..<hash.lowerBound].contains(where: { "\"'".contains($0) })
            else { return nil }
            return String(text[hash.lowerBound...])
        }
    }
}
