/// What a report looks like; raw values are the words of `--format`.
public enum ReportFormat: String, CaseIterable, Sendable {
    /// With the line and carets, for people.
    case text
    /// One line each, for editors and build logs.
    case brief
    /// Our own, described in `Documentation/Reports.md`.
    case json
    /// SARIF 2.1.0.
    case sarif
    /// Workflow commands, which GitHub shows beside the lines.
    case github
    case junit
    /// GitLab's Code Quality report.
    case gitlab
    case checkstyle

    /// - Parameter isColored: counts for `text` alone.
    func writer(isColored: Bool) -> any ReportWriter {
        switch self {
        case .text: TextReport(style: .full, isColored: isColored)
        case .brief: TextReport(style: .brief, isColored: false)
        case .json: JSONReport()
        case .sarif: SARIFReport()
        case .github: GitHubReport()
        case .junit: JUnitReport()
        case .gitlab: GitLabReport()
        case .checkstyle: CheckstyleReport()
        }
    }
}

/// Turns a report into text: a pure function of the findings, without dates and host paths.
protocol ReportWriter {
    func text(of report: Report) -> String
}
