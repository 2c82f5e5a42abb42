public import MartletFrontend
public import MartletSchema

/// A file formatted in the canonical layout.
public struct FileLayout: Sendable {
    /// The formatted bytes; nil if the file cannot be parsed, as the diagnostics explain.
    public let bytes: [UInt8]?
    public let diagnostics: [Diagnostic]
}

extension Frontend {
    /// Formats a schema file or a configuration file. The file is parsed as YAML only; its schema is not checked.
    public static func layOut(_ source: SourceText) -> FileLayout {
        let reading = FileReader.read(source)
        guard !reading.diagnostics.hasErrors else {
            let errors = reading.diagnostics.findings.filter(\.isError)
            let shown = FindingLimit.apply(to: errors, in: [source.file], dropped: reading.diagnostics.dropped)
            return FileLayout(bytes: nil, diagnostics: shown)
        }
        let content = LayoutContent(reading, of: source)
        var writer = LayoutWriter(source, comments: content.comments)
        let text = writer.write(reading.root)
        guard LayoutContent(text) == content else {
            let message = "this file cannot be formatted without changing its content; write it in a simpler form"
            return FileLayout(bytes: nil, diagnostics: [Diagnostic(.yamlSubset, message, at: source.span.beginning)])
        }
        return FileLayout(bytes: Array(text.utf8), diagnostics: [])
    }
}

/// The content that formatting must preserve: keys and values, their quotes, the comments, and which comments are
/// documentation.
struct LayoutContent: Equatable {
    private struct Token: Equatable {
        let text: String
        let style: YAMLScalar.Style?
        let documentation: String?
    }

    let comments: [LayoutComment]
    private var tokens: [Token] = []

    init(_ reading: FileReading, of source: SourceText) {
        comments = LayoutComment.all(in: source, outside: reading.root?.scalarSpans ?? [])
        if let root = reading.root, !root.isEmptyScalar { add(root, reading.comments) }
    }

    /// nil if the text cannot be parsed.
    init?(_ text: String) {
        let source = SourceText(file: SourceFileID(0), path: "", text: text)
        let reading = FileReader.read(source)
        guard !reading.diagnostics.hasErrors else { return nil }
        self.init(reading, of: source)
    }

    static func == (left: LayoutContent, right: LayoutContent) -> Bool {
        left.tokens == right.tokens && left.comments.map(\.text) == right.comments.map(\.text)
            && left.comments.map(\.isOnOwnLine) == right.comments.map(\.isOnOwnLine)
    }

    private mutating func add(_ node: YAMLNode, _ comments: CommentReader) {
        switch node {
        case .scalar(let scalar): add(scalar, comments)
        case .broken: addStructure("broken")
        case .sequence(let sequence):
            addStructure(sequence.isFlow ? "[" : "-")
            for item in sequence.items { add(item, comments) }
            addStructure("end")
        case .mapping(let mapping):
            addStructure(mapping.isFlow ? "{" : ":")
            for entry in mapping.entries {
                add(entry.key, comments)
                add(entry.value, comments)
            }
            addStructure("end")
        }
    }

    private mutating func add(_ scalar: YAMLScalar, _ comments: CommentReader) {
        let documentation = scalar.isEmpty ? nil : comments.documentation(before: scalar.span)
        tokens.append(Token(text: scalar.text, style: scalar.style, documentation: documentation))
    }

    private mutating func addStructure(_ sign: String) {
        tokens.append(Token(text: sign, style: nil, documentation: nil))
    }
}
