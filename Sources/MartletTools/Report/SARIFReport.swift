import MartletCompiler
import MartletSchema

/// Writes SARIF 2.1.0, an OASIS standard that code scanning services read.
///
/// Columns are UTF-16 code units, as `columnKind` declares. Relative paths are relative to `%SRCROOT%`, a folder that
/// the reader of the report defines. Absolute paths of files outside of the base folder (`Report(pathsFrom:)`) are
/// unchanged.
struct SARIFReport: ReportWriter {
    private static let root = "%SRCROOT%"
    private static let ruleIndex = Dictionary(
        uniqueKeysWithValues: DiagnosticCode.allCases.enumerated().map { ($0.element, $0.offset) })

    func text(of report: Report) -> String {
        let driver: JSONValue = [
            "name": "martlet",
            "version": .string(Compiler.version),
            "semanticVersion": .string(Compiler.version),
            "rules": .array(DiagnosticCode.allCases.map(rule)),
        ]
        let run: JSONValue = [
            "tool": ["driver": driver],
            "columnKind": "utf16CodeUnits",
            "newlineSequences": ["\r\n", "\n", "\r"],
            "originalUriBaseIds": [
                SARIFReport.root: ["description": ["text": "The base folder of the paths in this report."]]
            ],
            "results": .array(report.findings.map(result)),
        ]
        let document: JSONValue = [
            "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json",
            "version": "2.1.0",
            "runs": [run],
        ]
        return document.text
    }

    // MARK: Rules

    private func rule(_ code: DiagnosticCode) -> JSONValue {
        let explanation = code.explanation
        return [
            "id": .string(code.rawValue),
            "name": .string(name(of: code)),
            "shortDescription": ["text": .string(SARIFReport.message(code.meaning))],
            "fullDescription": ["text": .string(SARIFReport.message(explanation.problem))],
            "help": [
                "text": .string(SARIFReport.message(explanation.paragraphs.joined(separator: "\n\n"))),
                "markdown": .string(SARIFReport.doublingBraces(explanation.markdown)),
            ],
            "defaultConfiguration": ["level": .string(code.severity.rawValue)],
        ]
    }

    /// The name of the enum case with an uppercase first letter.
    private func name(of code: DiagnosticCode) -> String {
        let name = String(describing: code)
        return name.prefix(1).uppercased() + name.dropFirst()
    }

    // MARK: Results

    private func result(_ finding: LocatedFinding) -> JSONValue {
        let related = finding.notes.enumerated().map { index, note in
            JSONValue.members([
                ("id", .integer(index)),
                ("physicalLocation", note.location.map(location)),
                ("message", message(note.message)),
            ])
        }
        let fixes = finding.fixes.map(fix)
        return .members([
            ("ruleId", .string(finding.code)),
            ("ruleIndex", SARIFReport.ruleIndex[finding.diagnostic.code].map { .integer($0) }),
            ("level", .string(finding.severity.rawValue)),
            ("message", message(finding.messageWithHelp)),
            ("locations", [["physicalLocation": location(of: finding)]]),
            ("relatedLocations", related.isEmpty ? nil : .array(related)),
            ("partialFingerprints", ["martletFinding/v1": .string(finding.fingerprint)]),
            ("fixes", fixes.isEmpty ? nil : .array(fixes)),
        ])
    }

    private func fix(_ fix: LocatedFinding.LocatedFix) -> JSONValue {
        var paths: [String] = []
        var replacements: [String: [JSONValue]] = [:]
        for edit in fix.edits {
            if replacements[edit.location.path] == nil { paths.append(edit.location.path) }
            replacements[edit.location.path, default: []].append([
                "deletedRegion": region(edit.location), "insertedContent": ["text": .string(edit.replacement)],
            ])
        }
        let changes = paths.map { path -> JSONValue in
            ["artifactLocation": artifact(path), "replacements": .array(replacements[path] ?? [])]
        }
        return [
            "description": message(fix.title),
            "artifactChanges": .array(changes),
            "properties": ["applicability": .string(fix.applicability.rawValue)],
        ]
    }

    private func location(of finding: LocatedFinding) -> JSONValue {
        finding.location.map(location) ?? ["artifactLocation": artifact(finding.path)]
    }

    private func location(_ location: ReportLocation) -> JSONValue {
        ["artifactLocation": artifact(location.path), "region": region(location)]
    }

    private func region(_ location: ReportLocation) -> JSONValue {
        [
            "startLine": .integer(location.start.line),
            "startColumn": .integer(location.start.utf16Column),
            "endLine": .integer(location.end.line),
            "endColumn": .integer(location.end.utf16Column),
        ]
    }

    /// The location of a file. A relative path also has the base `%SRCROOT%`.
    private func artifact(_ path: String) -> JSONValue {
        guard !path.hasPrefix("/") else { return ["uri": .string("file://" + SARIFReport.encoded(path))] }
        return ["uri": .string(SARIFReport.encoded(path)), "uriBaseId": .string(SARIFReport.root)]
    }

    // MARK: Escapes

    private func message(_ text: String) -> JSONValue { ["text": .string(SARIFReport.message(text))] }

    /// Escapes a message. Braces are doubled, because a single brace would start a placeholder (section 3.11.5 of the
    /// standard). A text that contains `](` could contain a link (section 3.11.6). In such a message, a backslash
    /// escapes every bracket and every backslash.
    static func message(_ text: String) -> String {
        let doubled = SARIFReport.doublingBraces(text)
        guard text.contains("](") else { return doubled }
        return doubled.unicodeScalars.map { "\\[]".unicodeScalars.contains($0) ? "\\\($0)" : String($0) }.joined()
    }

    static func doublingBraces(_ text: String) -> String {
        text.unicodeScalars.map { $0 == "{" ? "{{" : $0 == "}" ? "}}" : String($0) }.joined()
    }

    /// Percent-encodes all bytes except slashes and the unreserved characters of RFC 3986.
    static func encoded(_ path: String) -> String {
        let digits = Array("0123456789ABCDEF")
        return FileName.bytes(of: path).reduce(into: "") { result, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"), UInt8(ascii: "/"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default: result += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            }
        }
    }
}
