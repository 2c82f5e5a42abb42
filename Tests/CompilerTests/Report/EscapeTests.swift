import Foundation
import MartletSchema
import Testing

@testable import MartletTools

#if canImport(FoundationXML)
    import FoundationXML
#endif

@Suite("Reports: hostile text")
struct EscapeTests {
    /// A text with the special characters of all report formats.
    static let hostile =
        "\"'<&>]]> \\ {0} [a](b) %0A 100%, a:b ::error:: \t \n \r\n \u{0} \u{1} \u{1B}[31m \u{7F} \u{85} \u{2028} \u{FFFE} é🦅"

    /// The hostile text as a finding shows it.
    static let shown = hostile.printable

    private func report() -> Report {
        var report = Report()
        let source = SourceText(
            file: SourceFileID(0), relativePath: "A", displayPath: "a,b:c%\"<&>\n.yaml", bytes: Array("x: y".utf8))
        let span = SourceSpan(file: SourceFileID(0), start: 0, end: 1)
        let fix = Fix(Self.hostile, .safe, [Edit(span, Self.hostile)])
        report.add(
            [
                Diagnostic(
                    .unknownKey, Self.hostile, at: span, label: Self.hostile,
                    notes: [DiagnosticNote(Self.hostile, at: span), DiagnosticNote(Self.hostile)], help: Self.hostile,
                    fixes: [fix])
            ], of: [source], named: "Schemas")
        return report
    }

    @Test("JSON preserves every character S41")
    func json() throws {
        let finding = try JSONQuery(report().text(as: .json))["findings"][0]
        #expect(finding["message"].string == Self.shown)
        #expect(finding["fixes"][0]["edits"][0]["replacement"].string == Self.hostile)
        #expect(finding["path"].string == "a,b:c%\"<&>\n.yaml")
        #expect(finding["notes"].count == 2)
    }

    @Test("SARIF messages escape braces and links, and paths are percent-encoded S41")
    func sarif() throws {
        let result = try JSONQuery(report().text(as: .sarif))["runs"][0]["results"][0]
        let text = try #require(result["message"]["text"].string)
        #expect(text.contains("{{0}}"))
        #expect(text.contains("\\[a\\](b)"))
        #expect(text.contains(" \\\\ "))
        let uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].string
        #expect(uri == "a%2Cb%3Ac%25%22%3C%26%3E%0A.yaml")
        // Inserted text is not a SARIF message, so it is not escaped.
        let content = result["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"]["text"]
        #expect(content.string == Self.hostile)
    }

    @Test("a SARIF message without links keeps its brackets S41")
    func brackets() {
        #expect(SARIFReport.message("write '[first, second]' (or more)") == "write '[first, second]' (or more)")
        #expect(SARIFReport.message("write '{ first: 0 }'") == "write '{{ first: 0 }}'")
    }

    @Test("a GitHub workflow command is one line, and separators in its properties are escaped S41")
    func github() {
        let text = report().text(as: .github)
        #expect(text.unicodeScalars.count { $0 == "\n" } == 1)
        #expect(!text.unicodeScalars.dropLast().contains { $0 == "\r" || $0 == "\n" })
        #expect(
            text.hasPrefix(
                "::error file=a%2Cb%3Ac%25\"<&>%0A.yaml,line=1,endLine=1,col=1,endColumn=2,title=MRT0201%3A "))
        #expect(text.contains("%250A 100%25, a:b ::error::"))
    }

    @Test(
        "XML is well-formed and preserves the characters that XML supports S41",
        arguments: [ReportFormat.junit, .checkstyle])
    func xml(_ format: ReportFormat) throws {
        let reading = XMLReading(report().text(as: format))
        #expect(reading.isValid)
        let expected = Self.shown.replacing("\u{FFFE}", with: "\u{FFFD}")
        let message = try #require(reading.attributes.compactMap { $0["message"] }.first)
        #expect(message.unicodeScalars.elementsEqual(expected.unicodeScalars))
        #expect(reading.attributes.compactMap { $0["name"] }.contains("a,b:c%\"<&>\n.yaml"))
    }

    @Test("control characters that XML cannot represent are replaced S41")
    func controls() {
        #expect(XMLTag.escaped("a\u{0}\u{1B}\u{85}\u{FFFE}", isAttribute: true) == "a\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}")
        #expect(XMLTag.escaped("\t\n\r", isAttribute: true) == "&#9;&#10;&#13;")
        #expect(GitHubReport.data("a\r\n%b") == "a%0D%0A%25b")
    }

    @Test("JSON values of every kind are written S41")
    func values() throws {
        #expect(JSONValue.array([]).text == "[]\n")
        #expect(JSONValue.object([]).text == "{}\n")
        #expect(
            JSONValue.members([("b", 1), ("none", nil), ("a", [.null, .bool(true), "x"])]).text
                == "{\n  \"b\": 1,\n  \"a\": [\n    null,\n    true,\n    \"x\"\n  ]\n}\n")
        #expect(JSONValue.quoted("\u{1}\u{7F}\u{2028}\"\\/") == "\"\\u0001\\u007F\\u2028\\\"\\\\/\"")
    }

    @Test("paths are relative to the folder of the report S41")
    func paths() {
        let table = [
            ("/project/Schemas/A.yaml", "Schemas/A.yaml"), ("/project", "."),
            ("/projector/A.yaml", "/projector/A.yaml"),
            ("/project/../else/A.yaml", "/else/A.yaml"), ("./A.yaml", "A.yaml"), ("B//./C/../A.yaml", "B/A.yaml"),
            ("../A.yaml", "../A.yaml"), ("../../A.yaml", "../../A.yaml"), (".", "."),
        ]
        for (path, expected) in table { #expect(ReportPath.relative(path, to: "/project/") == expected) }
        #expect(ReportPath.relative("/project/A.yaml", to: nil) == "/project/A.yaml")
    }
}

/// Parses XML text and collects the attributes of its elements.
private final class XMLReading: NSObject, XMLParserDelegate {
    private(set) var attributes: [[String: String]] = []
    private(set) var isValid = false

    init(_ text: String) {
        super.init()
        let parser = XMLParser(data: Data(text.utf8))
        parser.delegate = self
        isValid = parser.parse()
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        self.attributes.append(attributes)
    }
}
