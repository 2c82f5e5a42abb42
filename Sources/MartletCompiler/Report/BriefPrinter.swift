public import MartletSchema

/// Prints each finding on one line for editors and build logs: `path:line:column: error: message; help [code]`. Each
/// note with a source location is printed on a separate line.
public struct BriefPrinter {
    private let sources: [SourceFileID: SourceText]

    public init(sources: [SourceText]) {
        self.sources = Dictionary(sources.map { ($0.file, $0) }) { first, _ in first }
    }

    /// The text of all findings; empty if there are none.
    public func text(_ diagnostics: [Diagnostic]) -> String { diagnostics.map(text).joined() }

    private func text(_ finding: Diagnostic) -> String {
        let head = "\(finding.severity.rawValue): \(finding.messageWithHelp) [\(finding.code.rawValue)]\n"
        var text = prefix(finding.span) + head
        for note in finding.notes where note.span != nil {
            text += prefix(note.span) + "note: \(note.message)\n"
        }
        return text
    }

    private func prefix(_ span: SourceSpan?) -> String {
        guard let span, let source = sources[span.file] else { return "martlet: " }
        let position = source.position(at: span.start)
        return "\(source.displayPath.printable):\(position.line):\(position.column): "
    }
}
