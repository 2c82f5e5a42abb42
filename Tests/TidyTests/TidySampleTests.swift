import Testing

/// Tests the tidy rules on small samples. A rule must find its violations, and must find nothing in similar valid code.
@Suite("tidy rules on samples")
struct TidySampleTests {
    @Test("comments and strings are not code, but interpolations in strings are")
    func scanning() {
        let text = SwiftText(
            ##"""
            let a = "x \(b("y")) // z" // c
            /* d /* e */ f */ let g = #"h \(i) \#(j)"#
            """##)
        #expect(
            SwiftText.tokens(of: text.code).map(\.text).filter { $0.count == 1 && $0.first?.isLetter == true } == [
                "a", "b", "g", "j",
            ])
        #expect(text.withoutComments.contains("// z"))
        #expect(!text.withoutComments.contains("// c"))
    }

    @Test("multi-line strings are not code, and line numbers do not change")
    func multilineStrings() {
        let text = SwiftText("let a = \"\"\"\n    struct B \"quoted\"\n    \"\"\"\nstruct C {}")
        let tokens = SwiftText.tokens(of: text.code)
        #expect(!tokens.contains { $0.text == "B" })
        #expect(tokens.first { $0.text == "C" }?.line == 4)
    }

    @Test("imports that the table of allowed imports does not contain are found")
    func imports() {
        let file = SwiftFile(
            path: "Sources/MartletEngine/Keys/A.swift",
            "// import Yams\nprivate import struct Foundation.Date\npublic import MartletSQLite\nimport MartletSchema")
        let findings = ImportTests.findings(in: file)
        #expect(findings.map(\.line) == [4, 3])
        let library = SwiftFile(path: "Sources/Martlet/Values/A.swift", "public import Foundation")
        #expect(ImportTests.findings(in: library).isEmpty)
        let tests = SwiftFile(path: "Tests/EngineTests/A.swift", "import CMartletSQLite")
        #expect(ImportTests.findings(in: tests).isEmpty)
    }

    @Test("public symbols are found, but a member named 'open' is not")
    func publicSymbols() {
        let file = SwiftFile(
            path: "A.swift", "public struct A {}\nopen class B {}\nlet c = d.open()\npackage func open() {}")
        #expect(ImportTests.publicSymbols(in: file).map(\.line) == [1, 2])
    }

    @Test("the use of a type of a higher layer in a lower layer is found")
    func layerOrder() {
        let files = [
            SwiftFile(
                path: "Sources/M/Low/Row.swift",
                "struct Row { enum Kind {}\n var kind: Kind\n /* Table */ var t = \"Table\"\n func f(_: Table) }"),
            SwiftFile(path: "Sources/M/High/Table.swift", "struct Table { var row: Row }\nprivate struct Kind {}"),
            SwiftFile(path: "Sources/M/High/Kind.swift", "enum Kind {}"),
            SwiftFile(path: "Sources/M/Lost.swift", "struct Lost {}"),
        ]
        let findings = LayerOrderTests.findings(module: "M", layers: ["Low", "High"], files: files)
        #expect(findings.map(\.path) == ["Sources/M/Lost.swift", "Sources/M/Low/Row.swift"])
        #expect(findings.last?.line == 4)
    }

    @Test(
        "the use of a member that a higher layer adds is found, but a use of another member with the same name is not")
    func addedMembers() {
        let files = [
            SwiftFile(path: "Sources/M/Low/Row.swift", "struct Row { func draw(_ row: Row) { row.show() } }"),
            SwiftFile(path: "Sources/M/Low/Own.swift", "struct Own { func hide() {}\n func f() { hide() } }"),
            SwiftFile(
                path: "Sources/M/High/Table.swift",
                "extension Row { func show() {}\n func hide() { show() } }\nstruct Table { func draw() {} }"),
        ]
        let findings = LayerOrderTests.findings(module: "M", layers: ["Low", "High"], files: files)
        #expect(findings.map(\.path) == ["Sources/M/Low/Row.swift"])
        #expect(findings.first?.what.contains("'show'") == true)
    }

    @Test("only functions that are too long are found, and protocol requirements are not functions")
    func functionLength() {
        let body = String(repeating: "        work()\n\n        // why\n", count: 69)
        let long = SwiftFile(
            path: "A.swift", "protocol P { func f(_ a: [Int])\n var b: Int { get } }\nfunc g() {\n\(body)}")
        #expect(FunctionBody.all(in: long).map(\.name) == ["g"])
        #expect(SizeTests.functionFindings(in: long).map(\.line) == [3])
        let short = SwiftFile(path: "A.swift", "init(a: Int) throws(E) {\n\(body.dropLast(30))}")
        #expect(FunctionBody.all(in: short).map(\.name) == ["init"])
        #expect(SizeTests.functionFindings(in: short).isEmpty)
    }

    @Test("banned endings of names are found in types and files")
    func names() {
        let file = SwiftFile(
            path: "Sources/M/RowUtils.swift", "extension Row { struct CacheManager {} }\nstruct Common1 {}")
        #expect(BannedWordTests.nameFindings(in: file).map(\.line) == [1, 1])
    }

    @Test("forced tries, forced casts and traps are found in code, but not in comments")
    func traps() {
        let file = SwiftFile(
            path: "Sources/Martlet/Values/A.swift",
            "let a = try! b()\n// try! c()\nfatalError(\"d\")\nlet e = f as! G\nif try !h() {}")
        #expect(BannedWordTests.trapFindings(in: file).map(\.line) == [1, 4, 3])
        let misuse = SwiftFile(path: "Sources/Martlet/Misuse/A.swift", "fatalError(\"d\")")
        #expect(BannedWordTests.trapFindings(in: misuse).isEmpty)
    }

    @Test("file access without SQLite is found")
    func fileAccess() {
        let file = SwiftFile(
            path: "Sources/Martlet/Values/A.swift",
            "let a = open(path, O_RDONLY)\nlet b = FileManager.default\nlet c = try Data(contentsOf: d)\nlet e = f.open(g)\nFileHandle.standardError"
        )
        #expect(BannedWordTests.fileAccessFindings(in: file).map(\.line).sorted() == [1, 2, 3])
    }

    @Test("an unchecked Sendable without a comment above its declaration is found")
    func uncheckedSendable() {
        let bare = SwiftFile(path: "A.swift", "struct Z {}\nfinal class A: @unchecked Sendable {}")
        #expect(BannedWordTests.uncheckedFindings(in: bare).map(\.line) == [2])
        let commented = SwiftFile(
            path: "A.swift",
            "// Guarded by a mutex.\n@available(*, deprecated)\nfinal class A: B,\n    @unchecked Sendable\n{}")
        #expect(BannedWordTests.uncheckedFindings(in: commented).isEmpty)
    }

    @Test("unknown rule ids in display names are found")
    func ruleIdentifiers() {
        let file = SwiftFile(
            path: "Tests/A.swift",
            "@Test(\"N46 a removed element is a deletion\") func a()\n@Test(\n    \"N15, K17 and S3\") func b()\n@Test(arguments: [\"O99\"]) func c()"
        )
        #expect(RuleIdentifierTests.findings(in: file).map(\.what) == ["there is no rule 'N15'"])
    }
}
