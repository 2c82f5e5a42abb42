import MartletCompiler
import MartletSchema
import Testing

@Suite("Mend: safe fixes")
struct FixApplierTests {
    private func mend(_ text: String) -> (text: String, count: Int) {
        let source = SourceText(file: SourceFileID(0), path: "A.yaml", text: text)
        let mending = FixApplier.apply(SchemaInput(sources: [source]), options: CompilerOptions(preset: .strict))
        return (String(decoding: mending.input.sources[0].bytes, as: UTF8.self), mending.count)
    }

    @Test("S41 fixing twice is fixing once, and no safe fix is left", arguments: MarkedSchema.all)
    func idempotent(_ schema: MarkedSchema) {
        for input in [schema.input(), schema.input(lineEnd: "\r\n", mark: true)] {
            let once = FixApplier.apply(input, options: schema.options)
            let twice = FixApplier.apply(once.input, options: schema.options)
            #expect(twice.input.allSources.map(\.bytes) == once.input.allSources.map(\.bytes))
            #expect(twice.count == 0)
            let left = Compiler.lint(once.input, options: schema.options).diagnostics
            #expect(!left.contains { $0.fixes.first?.applicability == .safe })
        }
    }

    @Test("S41 no safe fix brings an error of a new code", arguments: MarkedSchema.all)
    func noNewErrors(_ schema: MarkedSchema) {
        let input = schema.input()
        let before = Set(Compiler.lint(input, options: schema.options).diagnostics.filter(\.isError).map(\.code))
        let mended = FixApplier.apply(input, options: schema.options).input
        for finding in Compiler.lint(mended, options: schema.options).diagnostics where finding.isError {
            #expect(before.contains(finding.code), "\(finding.code.rawValue) \(finding.message)")
        }
    }

    @Test("S41 line ends, a byte-order mark and comments are the same behind a fix", arguments: MarkedSchema.all)
    func surroundings(_ schema: MarkedSchema) {
        let input = schema.input(lineEnd: "\r\n", mark: true)
        let mended = FixApplier.apply(input, options: schema.options).input
        for (old, new) in zip(input.allSources, mended.allSources) {
            #expect(new.markLength == 3)
            let lines = (0..<new.lineCount - 1).map { new.bytes[new.lineStarts[$0]..<new.lineStarts[$0 + 1]] }
            #expect(lines.allSatisfy { $0.suffix(2).elementsEqual([0x0D, 0x0A]) })
            #expect(comments(of: new).sorted() == comments(of: old).sorted())
        }
    }

    @Test("MRT0203 MRT0302 fixes upon each other are applied one after another")
    func overlapping() {
        let text = "objects:\n  Dog:\n    properties:\n      a: Array<string>?\n      b: [integer]?\n      c: Dog\n"
        let mended = mend(text)
        #expect(
            mended.text
                == "objects:\n  Dog:\n    properties:\n      a: List<String>\n      b: List<Int>\n      c: Dog?\n")
        #expect(mended.count == 4)
    }

    @Test("MRT0103 fixes of broken syntax, then of what it hid")
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
            mend(text).text == """
                objects:
                  Dog:
                    properties:
                      name: String
                      isGood: Bool = true # really
                      weights: {type: Map<Double>}

                """)
    }

    @Test(
        "S41 what has one meaning is fixed, and a guess is left to a person",
        arguments: [
            ("a: string", "a: String"), ("a: NSDate", "a: Date"), ("a: Long?", "a: Int64?"), ("a: number", nil),
            ("a: Number?", nil), ("a: timestamp", nil), ("a: URL", nil), ("a: UInt64", nil), ("a: byte", nil),
            ("a: '?number'", "a: 'number?'"), ("a: Array<string>", "a: List<String>"),
            ("a: Array<number>", "a: List<number>"),
            ("a: OrderedSet<Int>", nil), ("a: Map<String, Int>", "a: Map<Int>"), ("a: 'Map<Int, String>'", nil),
            ("a: [string]", "a: List<String>"), ("a: [number]", "a: List<number>"), ("a: '[Int: String]'", nil),
            ("a: [String]?", "a: List<String>"), ("a: [String] = []", "a: List<String>"), ("a: [Int] = [1, 2]", nil),
        ] as [(String, String?)])
    func guesses(_ property: String, _ mended: String?) {
        let schema = { (property: String) in "objects:\n  Dog:\n    properties:\n      \(property)\n" }
        #expect(mend(schema(property)).text == schema(mended ?? property))
    }

    @Test(
        "S41 a key in another spelling is fixed, and a synonym of it is left to a person",
        arguments: [
            ("primarykey", true), ("PrimaryKey", true), ("primary_key", true), ("primary-key", true), ("pk", false),
            ("primaryKye", false), ("key", false),
        ])
    func keys(_ key: String, _ isMended: Bool) {
        let schema = { (key: String) in "objects:\n  Dog:\n    \(key): a\n    properties:\n      a: Int\n" }
        #expect(mend(schema(key)).text == schema(isMended ? "primaryKey" : key))
        // Nothing is lost where the right key is there too.
        let both = "objects:\n  Dog:\n    primaryKey: a\n    \(key): b\n    properties:\n      a: Int\n      b: Int\n"
        #expect(mend(both).text == both)
    }

    @Test("MRT0305 MRT0602 lists and mappings lose entries, and keep their comments")
    func removals() {
        let text = """
            objects:
              ## Barks.
              Dog:
                primaryKey: id
                # what is looked for
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
            mend(text).text == """
                objects:
                  ## Barks.
                  Dog:
                    primaryKey: id
                    # what is looked for
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

    @Test("S41 suggestions, silenced findings and notes that are not shown are left alone")
    func untouched() {
        let text = """
            objects:
              ## Barks.
              Dog:
                primaryKey: id
                index: [id] # martlet:ignore MRT0305
                properties: {id: Int, Name: String}

            """
        #expect(mend(text) == (text, 0))
        let note = text.replacing("[id] # martlet:ignore MRT0305", with: "[isGood]").replacing(
            "Name: String", with: "isGood: Bool")
        let source = SourceText(file: SourceFileID(0), path: "A.yaml", text: note)
        #expect(FixApplier.apply(SchemaInput(sources: [source])).count == 0)
        #expect(mend(note).count == 1)
    }

    @Test(
        "S10 S41 escapes of a path are mended once, whatever stands behind them",
        arguments: [#"D:\x\y"#, #"\d+\.\d*"#, #"C:\data\users"#, #"\x\x\x"#, #"\\\x"#, #"\q\\q"#])
    func paths(_ path: String) {
        let text = "objects:\n  A: {doc: \"\(path)\", properties: {a: Int}}\n"
        let once = mend(text)
        #expect(once.count == 1)
        #expect(mend(once.text) == (once.text, 0))
        // Backslashes that stood there twice were one, and the others are one now.
        let single = path.replacing("\\\\", with: "\u{1}").replacing("\\", with: "\\\\")
            .replacing("\u{1}", with: "\\\\")
        #expect(once.text.contains("\"\(single)\""), "\(once.text)")
    }

    @Test(
        "S41 what a person has to decide is left alone",
        arguments: [
            #"objects: {A: {properties: {e: {type: String, default: "\ud83e\udd85"}}}}"#,
            #"objects: {A: {properties: {e: {type: String, default: "C:\dogs\new"}}}}"#,
            "objects:\n  A:\n    properties:\n      x: Int\n\ty: Int",
            "objects:\n  A:\n\tproperties:\n\t\tx: Int\n        index: [x]",
        ])
    func undecided(_ text: String) {
        #expect(mend(text + "\n") == (text + "\n", 0))
    }

    @Test("S10 S41 800 KB of bad escapes are mended in one round", .timeLimit(.minutes(1)))
    func manyEscapes() {
        let text = "a: \"" + String(repeating: "\\u", count: 400_000) + "\"\n"
        let mended = mend(text)
        #expect(mended.count == 1)
        #expect(mended.text.utf8.count == text.utf8.count + 400_000)
    }

    @Test("S12 S41 tabs become the nesting that was meant, wherever there is one right answer")
    func tabs() {
        #expect(
            mend("objects:\n    A:\n\tproperties:\n\t    x: Int\n").text
                == "objects:\n    A:\n      properties:\n        x: Int\n")
        #expect(
            mend("objects:\n  A:\n    properties:\n      x:\n\ttype: Int\n").text
                == "objects:\n  A:\n    properties:\n      x:\n        type: Int\n")
        #expect(
            mend("objects:\n  A:\n    doc: |\n      a\n      \tb\n    properties:\n\t\tx: Int\n").text
                == "objects:\n  A:\n    doc: |\n      a\n      \tb\n    properties:\n      x: Int\n")
    }

    @Test("S41 2,000 mutations of bad schemas are fixed once and for all")
    func mutations() {
        var random = SplitMix(seed: 41)
        let texts = MarkedSchema.all.flatMap { $0.input().sources.map(\.bytes) }
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
            let mended = FixApplier.apply(SchemaInput(sources: [source]), options: options)
            let left = Compiler.lint(mended.input, options: options).diagnostics
            if let finding = left.first(where: { $0.fixes.first?.applicability == .safe }) {
                let text = String(decoding: mended.input.sources[0].bytes.prefix(2000), as: UTF8.self)
                Issue.record("run \(run) ends with '\(finding.message)' in\n\(text)")
            }
        }
    }

    /// From each `#` that begins a comment to the end of its line; quotes in the fixtures hold none that look like one.
    private func comments(of source: SourceText) -> [String] {
        (0..<source.lineCount).compactMap { line in
            let text = source.lineText(line)
            guard let hash = text.firstRange(of: "#"), !text[..<hash.lowerBound].contains(where: { "\"'".contains($0) })
            else { return nil }
            return String(text[hash.lowerBound...])
        }
    }
}
