import MartletSchema

/// Writes findings as text, one schema after the other. The paths are the paths that the user has passed.
struct TextReport: ReportWriter {
    let style: DiagnosticPrinter.Style
    let isColored: Bool

    func text(of report: Report) -> String {
        report.sections.map { section in
            let printer = DiagnosticPrinter(sources: section.sources, style: style, isColored: isColored)
            let summary = style == .full ? DiagnosticPrinter.summary(section.diagnostics).map { $0 + "\n" } : nil
            return printer.text(section.diagnostics) + (summary ?? "")
        }.joined()
    }
}
