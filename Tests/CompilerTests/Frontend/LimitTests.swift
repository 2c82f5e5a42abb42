import MartletFrontend
import MartletSchema
import Testing

@Suite("Frontend: limits and bombs")
struct LimitTests {
    /// Each bomb is one finding. What it costs is measured by `make bombs`: a debug build on a busy machine is many times
    /// slower.
    private func only(_ text: String, _ code: DiagnosticCode, sourceLocation: SourceLocation = #_sourceLocation) {
        let clock = ContinuousClock()
        var findings: [Diagnostic] = []
        let time = clock.measure {
            findings = Frontend.analyze([SourceText(file: SourceFileID(0), path: "A.yaml", text: text)]).diagnostics
        }
        #expect(findings.map(\.code) == [code], "\(findings.map(\.message))", sourceLocation: sourceLocation)
        #expect(time < .seconds(20), sourceLocation: sourceLocation)
    }

    private let valid = "objects:\n  Dog:\n    properties: {name: String}\n"

    @Test("MRT0002 200 KB of brackets")
    func brackets() {
        only(String(repeating: "[", count: 200_000), .limitExceeded)
        only(String(repeating: "{a: ", count: 50_000), .limitExceeded)
        only(String(repeating: "- ", count: 100_000), .limitExceeded)
        only((0..<300).map { String(repeating: " ", count: $0) + "a:\n" }.joined(), .limitExceeded)
    }

    @Test("MRT0101 an alias bomb")
    func aliases() {
        var text = "a: &a [x, x, x, x, x, x, x, x, x]\n"
        for (previous, name) in zip("abcdefgh", "bcdefghi") {
            text += "\(name): &\(name) [" + Array(repeating: "*\(previous)", count: 9).joined(separator: ", ") + "]\n"
        }
        let findings = Frontend.analyze([SourceText(file: SourceFileID(0), path: "A.yaml", text: text)]).diagnostics
        #expect(findings.count { $0.code == .yamlSubset } == 1)
    }

    @Test("MRT0102 10,000 duplicate keys")
    func duplicates() {
        only(
            "objects:\n  Dog:\n    properties:\n" + String(repeating: "      name: String\n", count: 10_000),
            .duplicateKey)
    }

    @Test("MRT0002 a key of 2,000 characters")
    func longKey() {
        only(valid + String(repeating: "k", count: 2000) + ": 1\n", .limitExceeded)
        only(valid + "\"" + String(repeating: "k", count: 200) + "\": 1\n", .limitExceeded)
    }

    @Test("MRT0002 text of more than 64 KiB")
    func longText() {
        let text =
            "objects:\n  Dog:\n    doc: \"\(String(repeating: "x", count: 70_000))\"\n    properties: {name: String}\n"
        only(text, .limitExceeded)
    }

    @Test("MRT0002 a file of more than 1 MiB")
    func largeFile() {
        only(valid + String(repeating: "# comment\n", count: 110_000), .limitExceeded)
    }

    @Test("MRT0002 many findings are counted, not listed")
    func manyFindings() {
        let lines = (0..<5000).map { "      a\($0): Strng\n" }.joined()
        let text = "objects:\n  Dog:\n    properties:\n" + lines
        let findings = Frontend.analyze([SourceText(file: SourceFileID(0), path: "A.yaml", text: text)]).diagnostics
        #expect(findings.count == 201)
        #expect(findings.last?.code == .limitExceeded)
        #expect(findings.last?.message.hasPrefix("4800 more findings") == true)
    }

    @Test("MRT0101 bytes that are no UTF-8, and UTF-16")
    func encodings() {
        let invalid = Array(valid.utf8) + [0x23, 0xC3, 0x28, 0xED, 0xA0, 0x80, 0x0A]
        for bytes in [invalid, [0xFF, 0xFE, 0x6F, 0x00]] {
            let source = SourceText(file: SourceFileID(0), relativePath: "A.yaml", displayPath: "A.yaml", bytes: bytes)
            let findings = Frontend.analyze([source]).diagnostics
            #expect(findings.map(\.code) == [.yamlSubset])
        }
    }

    @Test("MRT0001 no file, and files that declare nothing")
    func nothing() {
        #expect(Frontend.analyze([]).diagnostics.map(\.code) == [.noSchema])
        only("", .noSchema)
        only("# a comment\n", .noSchema)
        only("objects:\n", .noSchema)
    }

    @Test(
        "S10 no megabyte takes a second",
        arguments: ["a:\n", "a:b\n", "\"\n", "'", "- ", "  a: [\n", "{", "? ", "\t", "&a ", "<<<<<<< \n"])
    func megabytes(_ unit: String) {
        let text = String(repeating: unit, count: (1 << 20) / unit.utf8.count)
        let clock = ContinuousClock()
        let time = clock.measure {
            _ = Frontend.analyze([SourceText(file: SourceFileID(0), path: "A.yaml", text: text)])
        }
        // A debug build on a busy machine is many times slower than the promise.
        #expect(time < .seconds(20), "\(unit.debugDescription) took \(time)")
    }
}
