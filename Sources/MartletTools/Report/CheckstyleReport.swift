import MartletSchema

/// Writes the XML format of Checkstyle, which many services read. The report contains only files that have findings.
struct CheckstyleReport: ReportWriter {
    func text(of report: Report) -> String {
        var paths: [String] = []
        var errors: [String: [XMLTag]] = [:]
        for finding in report.findings {
            if errors[finding.path] == nil { paths.append(finding.path) }
            errors[finding.path, default: []].append(element(of: finding))
        }
        let files = paths.map { XMLTag("file", [("name", $0.withVisibleBytes)], children: errors[$0] ?? []) }
        return XMLTag("checkstyle", [("version", "4.3")], children: files).document
    }

    private func element(of finding: LocatedFinding) -> XMLTag {
        var attributes: [(String, String)] = []
        if let start = finding.location?.start {
            attributes = [("line", String(start.line)), ("column", String(start.column))]
        }
        let severity = finding.severity == .note ? "info" : finding.severity.rawValue
        attributes += [
            ("severity", severity), ("message", finding.messageWithHelp), ("source", "martlet.\(finding.code)"),
        ]
        return XMLTag("error", attributes)
    }
}
