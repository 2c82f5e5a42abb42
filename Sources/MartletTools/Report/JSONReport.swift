import MartletCompiler
import MartletSchema

/// Writes Martlet's own format, which `Documentation/Reports.md` describes. A version of the format can get new
/// members. All other changes require a new version.
struct JSONReport: ReportWriter {
    static let formatVersion = 1

    func text(of report: Report) -> String {
        let findings = report.findings
        let count = { (severity: Severity) in JSONValue.integer(findings.count { $0.severity == severity }) }
        let root: JSONValue = [
            "formatVersion": .integer(JSONReport.formatVersion),
            "tool": ["name": "martlet", "version": .string(Compiler.version)],
            "files": .array(report.paths.map { .string($0.withVisibleBytes) }),
            "summary": ["errors": count(.error), "warnings": count(.warning), "notes": count(.note)],
            "findings": .array(findings.map(value)),
        ]
        return root.text
    }

    private func value(_ finding: LocatedFinding) -> JSONValue {
        let notes = finding.notes.map { note -> JSONValue in
            ["message": .string(note.message), "place": value(note.location)]
        }
        return [
            "code": .string(finding.code),
            "severity": .string(finding.severity.rawValue),
            "message": .string(finding.diagnostic.message),
            "label": finding.diagnostic.label.map { .string($0) } ?? .null,
            "help": finding.diagnostic.help.map { .string($0) } ?? .null,
            "fingerprint": .string(finding.fingerprint),
            "path": .string(finding.path.withVisibleBytes),
            "place": value(finding.location),
            "notes": .array(notes),
            "fixes": .array(finding.fixes.map(value)),
        ]
    }

    private func value(_ fix: LocatedFinding.LocatedFix) -> JSONValue {
        let edits = fix.edits.map { edit -> JSONValue in
            ["place": value(edit.location), "replacement": .string(edit.replacement)]
        }
        return [
            "title": .string(fix.title),
            "applicability": .string(fix.applicability.rawValue),
            "edits": .array(edits),
        ]
    }

    private func value(_ location: ReportLocation?) -> JSONValue {
        guard let location else { return .null }
        return [
            "path": .string(location.path.withVisibleBytes), "start": value(location.start), "end": value(location.end),
        ]
    }

    private func value(_ point: ReportLocation.Point) -> JSONValue {
        ["offset": .integer(point.offset), "line": .integer(point.line), "column": .integer(point.column)]
    }
}
