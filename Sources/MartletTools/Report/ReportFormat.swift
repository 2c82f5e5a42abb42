/// The formats of a report. The raw values are the values of the option `--format`.
public enum ReportFormat: String, CaseIterable, Sendable {
    /// Text with source lines and carets.
    case text
    /// One line for each finding, for editors and build logs.
    case brief
    /// Martlet's own format, which `Documentation/Reports.md` describes.
    case json
    /// SARIF 2.1.0.
    case sarif
    /// GitHub workflow commands.
    case github
    /// The XML format of JUnit.
    case junit
    /// GitLab's Code Quality report.
    case gitlab
    /// The XML format of Checkstyle.
    case checkstyle

    /// The writer of the format.
    ///
    /// - Parameter isColored: whether the text contains terminal colors. This affects only the format `text`.
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

/// Writes a report in one format. The text depends only on the findings and the paths of the files, and contains no
/// dates. Equal findings therefore result in equal texts.
protocol ReportWriter {
    func text(of report: Report) -> String
}
