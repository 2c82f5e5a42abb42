/// The formats of a report. Raw values are the values of `--format`.
public enum ReportFormat: String, CaseIterable, Sendable {
    /// Text with source lines and carets.
    case text
    /// One line for each finding, for editors and build logs.
    case brief
    /// Martlet's own format, described in `Documentation/Reports.md`.
    case json
    /// SARIF 2.1.0.
    case sarif
    /// GitHub workflow commands.
    case github
    case junit
    /// GitLab's Code Quality report.
    case gitlab
    case checkstyle

    /// - Parameter isColored: affects only `text`.
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

/// Formats a report. The result depends only on the findings and the paths of the files; it contains no dates.
protocol ReportWriter {
    func text(of report: Report) -> String
}
