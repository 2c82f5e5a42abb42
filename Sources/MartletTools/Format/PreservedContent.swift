import MartletFrontend
import MartletSchema

/// The content that formatting must preserve: the keys and values with their quotes and nesting, and the comments. A
/// comment must also stay documentation of the same key or value, and must stay on its own line or at the end of a
/// line.
struct PreservedContent: Equatable {
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

    /// Creates the content of a formatted text. The result is nil if the text cannot be parsed.
    init?(_ text: String) {
        let source = SourceText(file: SourceFileID(0), path: "", text: text)
        let reading = FileReader.read(source)
        guard !reading.diagnostics.hasErrors else { return nil }
        self.init(reading, of: source)
    }

    static func == (left: PreservedContent, right: PreservedContent) -> Bool {
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
