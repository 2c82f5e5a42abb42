import MartletSchema

/// Writes a Code Quality report for GitLab. GitLab compares the fingerprints of findings to recognize a finding of an
/// earlier report.
struct GitLabReport: ReportWriter {
    func text(of report: Report) -> String {
        JSONValue.array(report.findings.map(value)).text
    }

    private func value(_ finding: LocatedFinding) -> JSONValue {
        let positions: JSONValue = [
            "begin": position(finding.location?.start),
            "end": position(finding.location?.end),
        ]
        return [
            "description": .string(finding.messageWithHelp),
            "check_name": .string(finding.code),
            "fingerprint": .string(finding.fingerprint),
            "severity": .string(word(for: finding.severity)),
            "location": ["path": .string(finding.path.withVisibleBytes), "positions": positions],
        ]
    }

    /// The position of a finding. A finding without a location is reported at line 1, because GitLab ignores findings
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
