import MartletSchema

/// GitLab's Code Quality report. GitLab identifies findings across reports by their fingerprints.
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

    /// The position of a finding. A finding without a place is reported at line 1, because GitLab ignores findings
    /// without a line.
    private func position(_ point: ReportLocation.Point?) -> JSONValue {
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
