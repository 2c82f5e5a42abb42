import MartletFrontend
import MartletSchema
import Testing

@Suite("Frontend: limits")
struct LimitTests {
    /// Checks that a text causes exactly one finding, with this code. The time limit is generous, because a debug build
    /// on a busy machine is slow. `make bombs` measures the time with a release build.
    private func expectOne(_ text: String, _ code: DiagnosticCode, sourceLocation: SourceLocation = #_sourceLocation) {
        let clock = ContinuousClock()
        var findings: [Diagnostic] = []
        let time = clock.measure {
            findings = Frontend.analyze([SourceText(file: SourceFileID(0), path: "A.yaml", text: text)]).diagnostics
        }
        #expect(findings.map(\.code) == [code], "\(findings.map(\.message))", sourceLocation: sourceLocation)
        #expect(time < .seconds(20), sourceLocation: sourceLocation)
    }

    private let valid = "objects:\n  Dog:\n    properties: {name: String}\n"

    @Test("200 KB of brackets exceed the limit MRT0002")
    func brackets() {
        expectOne(String(repeating: "[", count: 200_000), .limitExceeded)
        expectOne(String(repeating: "{a: ", count: 50_000), .limitExceeded)
        expectOne(String(repeating: "- ", count: 100_000), .limitExceeded)
        expectOne((0..<300).map { String(repeating: " ", count: $0) + "a:\n" }.joined(), .limitExceeded)
    }

    @Test("an alias bomb causes one finding MRT0101")
    func aliases() {
        var text = "a: &a [x, x, x, x, x, x, x, x, x]\n"
        for (previous, name) in zip("abcdefgh", "bcdefghi") {
            text += "\(name): &\(name) [" + Array(repeating: "*\(previous)", count: 9).joined(separator: ", ") + "]\n"
        }
        let findings = Frontend.analyze([SourceText(file: SourceFileID(0), path: "A.yaml", text: text)]).diagnostics
        #expect(findings.count { $0.code == .yamlSubset } == 1)
    }

    @Test("10,000 duplicate keys cause one finding MRT0102")
    func duplicates() {
        expectOne(
            "objects:\n  Dog:\n    properties:\n" + String(repeating: "      name: String\n", count: 10_000),
            .duplicateKey)
    }

    @Test("a key of 2,000 characters exceeds the limit MRT0002")
    func longKey() {
        expectOne(valid + String(repeating: "k", count: 2000) + ": 1\n", .limitExceeded)
        expectOne(valid + "\"" + String(repeating: "k", count: 200) + "\": 1\n", .limitExceeded)
    }

    @Test("a text of more than 64 KiB exceeds the limit MRT0002")
    func longText() {
        let text =
            "objects:\n  Dog:\n    doc: \"\(String(repeating: "x", count: 70_000))\"\n    properties: {name: String}\n"
        expectOne(text, .limitExceeded)
    }

    @Test("a file of more than 1 MiB exceeds the limit MRT0002")
    func largeFile() {
        expectOne(valid + String(repeating: "# comment\n", count: 110_000), .limitExceeded)
    }

    @Test("findings above the limit are not listed, but they are counted MRT0002")
    func manyFindings() {
        let lines = (0..<5000).map { "      a\($0): Strng\n" }.joined()
        let text = "objects:\n  Dog:\n    properties:\n" + lines
        let findings = Frontend.analyze([SourceText(file: SourceFileID(0), path: "A.yaml", text: text)]).diagnostics
        #expect(findings.count == 201)
        #expect(findings.last?.code == .limitExceeded)
        #expect(findings.last?.message.hasPrefix("4800 more findings") == true)
    }

    @Test("files that are not UTF-8, such as UTF-16 files, are errors MRT0101")
    func encodings() {
        let invalid = Array(valid.utf8) + [0x23, 0xC3, 0x28, 0xED, 0xA0, 0x80, 0x0A]
        for bytes in [invalid, [0xFF, 0xFE, 0x6F, 0x00]] {
            let source = SourceText(file: SourceFileID(0), relativePath: "A.yaml", displayPath: "A.yaml", bytes: bytes)
            let findings = Frontend.analyze([source]).diagnostics
            #expect(findings.map(\.code) == [.yamlSubset])
        }
    }

    @Test("a schema without files or without declarations is an error MRT0001")
    func nothing() {
        #expect(Frontend.analyze([]).diagnostics.map(\.code) == [.noSchema])
        expectOne("", .noSchema)
        expectOne("# a comment\n", .noSchema)
        expectOne("objects:\n", .noSchema)
    }

    @Test(
        "a megabyte of repeated syntax is parsed in bounded time S10",
        arguments: ["a:\n", "a:b\n", "\"\n", "'", "- ", "  a: [\n", "{", "? ", "\t", "&a ", "<<<<<<< \n"])
    func megabytes(_ unit: String) {
        let text = String(repeating: unit, count: (1 << 20) / unit.utf8.count)
        let clock = ContinuousClock()
        let time = clock.measure {
            _ = Frontend.analyze([SourceText(file: SourceFileID(0), path: "A.yaml", text: text)])
        }
        // The documented limit is one second. The test allows more, because a debug build on a busy machine is many
        // times slower.
        #expect(time < .seconds(20), "\(unit.debugDescription) took \(time)")
    }
}
