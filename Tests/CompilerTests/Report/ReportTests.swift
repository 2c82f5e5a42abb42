import Foundation
import MartletCompiler
import MartletSchema
import MartletTools
import Testing

/// Tests reports in every format.
///
/// After a change of a format, run `MARTLET_RECORD=1 swift test --filter Reports`. The command records the expected
/// texts again.
@Suite("Reports")
struct ReportTests {
    static let names: [ReportFormat: String] = [
        .text: "text.txt", .brief: "brief.txt", .json: "report.json", .sarif: "report.sarif", .github: "github.txt",
        .junit: "junit.xml", .gitlab: "gitlab.json", .checkstyle: "checkstyle.xml",
    ]

    @Test("the report in every format equals the expected text, byte for byte S41", arguments: ReportFormat.allCases)
    func golden(_ format: ReportFormat) throws {
        let url = Repository.root.appending(path: "Tests/CompilerTests/Fixtures/Reports")
            .appending(path: try #require(Self.names[format]))
        let text = Self.withoutRules(ReportSamples.report().text(as: format))
        if ProcessInfo.processInfo.environment["MARTLET_RECORD"] != nil { try Data(text.utf8).write(to: url) }
        #expect(try String(contentsOf: url, encoding: .utf8) == text)
    }

    /// Removes the table of rules from a SARIF report. The table is long, and SARIFTests checks it.
    private static func withoutRules(_ text: String) -> String {
        guard let start = text.range(of: "\"rules\": [\n"), let end = text.range(of: "\n          ]") else {
            return text
        }
        return text.replacingCharacters(in: start.upperBound..<end.lowerBound, with: "            …")
    }

    @Test("columns and lines are equal with LF, CRLF and a byte-order mark S41", arguments: ReportFormat.allCases)
    func encodings(_ format: ReportFormat) {
        // Only the byte offsets of the JSON format depend on the encoding, so they are removed.
        let texts = [("\n", false), ("\n", true), ("\r\n", false), ("\r\n", true)].map { lineEnd, mark in
            var report = Report()
            let source = ReportSamples.source(
                ReportSamples.linesWithUnusualCharacters, "A.yaml", lineEnd: lineEnd, mark: mark)
            ReportSamples.add(SchemaInput(sources: [source]), named: "A.yaml", to: &report)
            return report.text(as: format).replacing(/"offset": [0-9]+/, with: "")
        }
        #expect(Set(texts).count == 1)
    }

    @Test("columns after wide characters are counted in the unit of each format S41")
    func columns() throws {
        let line = ReportSamples.linesWithUnusualCharacters[4]
        let before = try #require(line.components(separatedBy: "Strng").first)
        let column = before.unicodeScalars.count + 1
        let wide = before.utf16.count + 1
        #expect(wide == column + 1)
        let report = ReportSamples.report()
        #expect(report.text(as: .text).contains("\(ReportSamples.oddPath):5:\(column)\n"))
        #expect(report.text(as: .brief).contains("\(ReportSamples.oddPath):5:\(column): error: unknown type 'Strng'"))
        #expect(
            report.text(as: .github).contains("line=5,endLine=5,col=\(column),endColumn=\(column + 5),title=MRT0203"))
        #expect(report.text(as: .junit).contains("name=\"MRT0203 at 5:\(column)\""))
        #expect(report.text(as: .checkstyle).contains("<error line=\"5\" column=\"\(column)\" severity=\"error\""))
        let positions = try JSONQuery(report.text(as: .gitlab)).first(where: "check_name", is: "MRT0203")["location"][
            "positions"]
        #expect(positions["begin"]["column"].integer == column)
        #expect(positions["end"]["column"].integer == column + 5)
        let place = try JSONQuery(report.text(as: .json))["findings"].first(where: "code", is: "MRT0203")["place"]
        #expect(place["start"]["column"].integer == column)
        let region = try JSONQuery(report.text(as: .sarif))["runs"][0]["results"].first(where: "ruleId", is: "MRT0203")[
            "locations"][0]["physicalLocation"]["region"]
        #expect(region["startColumn"].integer == wide)
        #expect(region["endColumn"].integer == wide + 5)
    }

    @Test("offsets of the JSON format select the exact token and its fix-its S41")
    func offsets() throws {
        let bytes = ReportSamples.source(ReportSamples.linesWithUnusualCharacters, "").bytes
        let report = try JSONQuery(ReportSamples.report().text(as: .json))
        let finding = report["findings"].first(where: "code", is: "MRT0203")
        let cut = { (place: JSONQuery) -> String in
            guard let start = place["start"]["offset"].integer, let end = place["end"]["offset"].integer else {
                return ""
            }
            return String(decoding: bytes[start..<end], as: UTF8.self)
        }
        #expect(cut(finding["place"]) == "Strng")
        let edit = finding["fixes"][0]["edits"][0]
        #expect(cut(edit["place"]) == "Strng")
        #expect(edit["replacement"].string == "String")
    }

    @Test("a report contains no absolute path and is deterministic S13", arguments: ReportFormat.allCases)
    func deterministic(_ format: ReportFormat) {
        let text = ReportSamples.report().text(as: format)
        #expect(ReportSamples.report().text(as: format) == text)
        // The text formats repeat the paths of the command line. Only one of these paths is absolute, and its file has
        // no finding.
        #expect(text.contains("/home/author") == false)
    }

    @Test("a report without findings is a valid document S41", arguments: ReportFormat.allCases)
    func empty(_ format: ReportFormat) throws {
        let text = Report().text(as: format)
        switch format {
        case .text, .brief, .github: #expect(text == "")
        case .gitlab: #expect(text == "[]\n")
        case .json: #expect(try JSONQuery(text)["findings"].count == 0)
        case .sarif: #expect(try JSONQuery(text)["runs"][0]["results"].count == 0)
        case .junit: #expect(text.contains("<testsuites name=\"martlet\" tests=\"0\" failures=\"0\" errors=\"0\"/>"))
        case .checkstyle: #expect(text.hasSuffix("<checkstyle version=\"4.3\"/>\n"))
        }
    }

    @Test("only the text format is colored S40", arguments: ReportFormat.allCases)
    func color(_ format: ReportFormat) {
        let report = ReportSamples.report()
        #expect(!report.text(as: format).contains("\u{1B}"))
        #expect(report.text(as: format, isColored: true).contains("\u{1B}") == (format == .text))
    }
}

/// Navigates a JSON text that Foundation has parsed.
struct JSONQuery {
    private let value: Any?

    init(_ text: String) throws {
        value = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
    }

    init(value: Any?) {
        self.value = value
    }

    var object: [String: Any]? { value as? [String: Any] }
    var array: [Any]? { value as? [Any] }
    var string: String? { value as? String }
    var integer: Int? { value as? Int }
    var count: Int? { array?.count }

    subscript(_ name: String) -> JSONQuery { JSONQuery(value: object?[name]) }

    subscript(_ index: Int) -> JSONQuery {
        guard let array, array.indices.contains(index) else { return JSONQuery(value: nil) }
        return JSONQuery(value: array[index])
    }

    /// Returns the first element whose member `name` has this value.
    func first(where name: String, is text: String) -> JSONQuery {
        JSONQuery(value: array?.first { JSONQuery(value: $0)[name].string == text })
    }
}
