import MartletSchema

/// Writes workflow commands of GitHub: one line `::error file=…::message` for each finding. GitHub shows the message
/// beside the source line.
struct GitHubReport: ReportWriter {
    func text(of report: Report) -> String {
        report.findings.map { line(of: $0) + "\n" }.joined()
    }

    private func line(of finding: LocatedFinding) -> String {
        var properties = [("file", finding.path.withVisibleBytes)]
        if let location = finding.location {
            properties.append(("line", String(location.start.line)))
            properties.append(("endLine", String(location.end.line)))
            // GitHub accepts columns only for a range within one line.
            if location.start.line == location.end.line {
                properties.append(("col", String(location.start.column)))
                properties.append(("endColumn", String(location.end.column)))
            }
        }
        properties.append(("title", "\(finding.code): \(finding.diagnostic.code.meaning)"))
        let list = properties.map { "\($0.0)=\(GitHubReport.property($0.1))" }.joined(separator: ",")
        let message = ([finding.messageWithHelp] + finding.noteLines).joined(separator: "\n")
        return "::\(word(for: finding.severity)) \(list)::\(GitHubReport.data(message))"
    }

    private func word(for severity: Severity) -> String {
        switch severity {
        case .error: "error"
        case .warning: "warning"
        case .note: "notice"
        }
    }

    /// Escapes a message. An unescaped line break would end the command.
    static func data(_ text: String) -> String {
        escaped(text, ["%": "%25", "\r": "%0D", "\n": "%0A"])
    }

    /// Escapes the value of a property. An unescaped comma or colon would end the value.
    static func property(_ text: String) -> String {
        escaped(text, ["%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"])
    }

    private static func escaped(_ text: String, _ table: [Unicode.Scalar: String]) -> String {
        text.unicodeScalars.map { table[$0] ?? String($0) }.joined()
    }
}
