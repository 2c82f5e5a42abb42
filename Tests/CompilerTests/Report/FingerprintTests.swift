import MartletCompiler
import MartletSchema
import MartletTools
import Testing

@Suite("Reports: fingerprints")
struct FingerprintTests {
    private func fingerprints(_ lines: [String], path: String = "Dog.yaml") throws -> [String] {
        var report = Report()
        let source = ReportSamples.source(lines, path)
        ReportSamples.add(SchemaInput(sources: [source]), named: path, to: &report)
        let findings = try #require(JSONQuery(report.text(as: .gitlab)).array)
        return findings.compactMap { JSONQuery(value: $0)["fingerprint"].string }
    }

    private let lines = ["objects:", "  Dog:", "    properties:", "      a: Strng", "      b: Strng", "      c: Itn"]

    @Test("fingerprints do not change if lines above are inserted or removed S41")
    func moved() throws {
        let before = try fingerprints(lines)
        let after = try fingerprints(["# One line.", "# Another."] + lines)
        #expect(before.count == 3)
        #expect(before == after)
        #expect(try fingerprints(lines.map { $0 == "  Dog:" ? "  Dog:  # mine" : $0 }) == before)
    }

    @Test("findings with the same message in one file have different fingerprints S41")
    func distinct() throws {
        let all = try fingerprints(lines)
        #expect(Set(all).count == 3)
        #expect(all.allSatisfy { $0.utf8.count == 32 })
        #expect(Set(all).isDisjoint(with: try fingerprints(lines, path: "Cat.yaml")))
    }

    @Test("the fingerprint of a known finding never changes S41")
    func fixed() throws {
        // The expected value was computed without Martlet. It is the FNV-1a hash of 'Dog.yaml', 'MRT0203', "unknown
        // type 'Itn'" and '0', each followed by the byte 0xFF.
        #expect(try fingerprints(lines)[2] == "a3e10c8a09ffd29d0ec1840a47e0ecf3")
    }

    @Test("the SARIF, GitLab and JSON formats have the same fingerprints S41")
    func agreement() throws {
        let report = ReportSamples.report()
        let own = try JSONQuery(report.text(as: .json))["findings"].array?.map {
            JSONQuery(value: $0)["fingerprint"].string
        }
        let gitlab = try JSONQuery(report.text(as: .gitlab)).array?.map { JSONQuery(value: $0)["fingerprint"].string }
        let sarif = try JSONQuery(report.text(as: .sarif))["runs"][0]["results"].array?.map {
            JSONQuery(value: $0)["partialFingerprints"]["martletFinding/v1"].string
        }
        #expect(own == gitlab)
        #expect(own == sarif)
        #expect(own?.isEmpty == false && own?.contains(nil) == false)
    }
}
