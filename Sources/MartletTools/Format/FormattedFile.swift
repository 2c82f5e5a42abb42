public import MartletCompiler
import MartletFrontend
public import MartletSchema

/// The result of formatting a schema file or a configuration file.
public struct FormattedFile: Sendable {
    /// The formatted bytes. nil if the file cannot be parsed, or if formatting would change its content. The
    /// diagnostics contain the reason.
    public let bytes: [UInt8]?
    public let diagnostics: [Diagnostic]
}

extension Compiler {
    /// Formats a schema file or a configuration file. The file is only parsed as YAML, and its schema is not checked.
    /// Keys, values and comments keep their text and order.
    public static func format(_ source: SourceText) -> FormattedFile {
        let reading = FileReader.read(source)
        guard !reading.diagnostics.hasErrors else {
            let errors = reading.diagnostics.findings.filter(\.isError)
            let shown = FindingLimit.apply(to: errors, in: [source.file], dropped: reading.diagnostics.dropped)
            return FormattedFile(bytes: nil, diagnostics: shown)
        }
        let content = PreservedContent(reading, of: source)
        var writer = LayoutWriter(source, comments: content.comments)
        let text = writer.write(reading.root)
        guard PreservedContent(text) == content else {
            let message = "this file cannot be formatted without changing its content; write it in a simpler form"
            return FormattedFile(bytes: nil, diagnostics: [Diagnostic(.yamlSubset, message, at: source.span.beginning)])
        }
        return FormattedFile(bytes: Array(text.utf8), diagnostics: [])
    }
}
