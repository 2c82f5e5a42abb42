import MartletSchema

/// GitLab's Code Quality report; GitLab tells new findings from old ones by their fingerprints.
struct GitLabReport: ReportWriter {
    func text(of report: Report) -> String {
        JSONValue.array(report.findings.map(value)).document
    }

    private func value(_ finding: LocatedFinding) -> JSONValue {
        let positions: JSONValue = [
            "begin": position(finding.place?.start),
            "end": position(finding.place?.end),
        ]
        return [
            "description": .string(finding.sentence),
            "check_name": .string(finding.code),
            "fingerprint": .string(finding.fingerprint),
            "severity": .string(word(for: finding.severity)),
            "location": ["path": .string(finding.path.withVisibleBytes), "positions": positions],
        ]
    }

    /// A finding without a place is shown at the first line: GitLab drops what has none.
    private func position(_ point: ReportPlace.Point?) -> JSONValue {
        ["line": .integer(point?.line ?? 1), "column": .integer(point?.column ?? 1)]
    }

    private func word(for severity: Severity) -> String {
        switch severity {
        case .error: "critical"
        case .warning: "minor"
        case .note: "info"
        }
    }
}
