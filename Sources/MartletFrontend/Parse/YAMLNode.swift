package import MartletSchema

/// A scalar of the file. Its type is not inferred from its text.
package struct YAMLScalar {
    package enum Style {
        case plain
        case singleQuoted
        case doubleQuoted
        /// A literal or folded block scalar.
        case block
    }

    package let text: String
    /// The whole token, including its quotes.
    package let span: SourceSpan
    package let style: Style
    /// The offset of the first byte of the text, if the file contains the text byte for byte.
    let contentStart: Int?

    package var isPlain: Bool { style == .plain }

    /// Whether the scalar is the value of `key:`, `key: ~` or `key: null`.
    var isNull: Bool { isPlain && (text.isEmpty || text == "~" || text == "null") }

    /// Whether the scalar is the value of `key:`. This is false for an empty text in quotes.
    package var isEmpty: Bool { isPlain && text.isEmpty }

    /// The source range of a range of the text's bytes; the whole scalar if the text does not appear verbatim in the
    /// file.
    func span(of range: Range<Int>) -> SourceSpan {
        guard let contentStart else { return span }
        return SourceSpan(
            file: span.file, start: contentStart + range.lowerBound, end: contentStart + range.upperBound)
    }

    /// The key and value of a scalar such as `name:String` (no space after the colon) or `name :String` (a space before
    /// the colon); nil for other scalars.
    var misspacedEntry: YAMLEntry? {
        guard isPlain, let start = contentStart, let colon = text.utf8.firstIndex(of: Byte.colon) else { return nil }
        var end = colon
        while end > text.startIndex, text.utf8[text.utf8.index(before: end)].isBlank {
            end = text.utf8.index(before: end)
        }
        let key = String(text[..<end])
        let value = String(text[text.utf8.index(after: colon)...])
        guard NameRules.isPropertyName(key), !value.isEmpty else { return nil }
        let middle = start + text.utf8.distance(from: text.startIndex, to: colon)
        return YAMLEntry(
            key: YAMLScalar(
                text: key, span: SourceSpan(file: span.file, start: start, end: start + key.utf8.count),
                style: .plain, contentStart: start),
            value: value.utf8.first == UInt8(ascii: "[") || value.utf8.first == UInt8(ascii: "{")
                ? .broken(SourceSpan(file: span.file, start: middle + 1, end: span.end))
                : .scalar(
                    YAMLScalar(
                        text: value, span: SourceSpan(file: span.file, start: middle + 1, end: span.end), style: .plain,
                        contentStart: middle + 1)))
    }

    package var spanned: Spanned<String> { Spanned(text, span) }
}

package struct YAMLSequence {
    package let span: SourceSpan
    package let items: [YAMLNode]
    package let isFlow: Bool
}

package struct YAMLEntry {
    package let key: YAMLScalar
    package let value: YAMLNode
}

package struct YAMLMapping {
    package let span: SourceSpan
    package let entries: [YAMLEntry]
    package let isFlow: Bool
}

/// A node in the tree of one file.
package enum YAMLNode {
    case scalar(YAMLScalar)
    case sequence(YAMLSequence)
    case mapping(YAMLMapping)
    /// A node for which a diagnostic was already reported.
    case broken(SourceSpan)

    package var span: SourceSpan {
        switch self {
        case .scalar(let scalar): scalar.span
        case .sequence(let sequence): sequence.span
        case .mapping(let mapping): mapping.span
        case .broken(let span): span
        }
    }

    package var scalar: YAMLScalar? {
        if case .scalar(let scalar) = self { scalar } else { nil }
    }

    /// The name of the node's shape in messages.
    var shape: String {
        switch self {
        case .scalar(let scalar): scalar.isEmpty ? "nothing" : "text"
        case .sequence: "a list"
        case .mapping: "a mapping"
        case .broken: "an invalid value"
        }
    }
}

/// A syntax error of libyaml. Offsets are in the text that libyaml parsed (see `PatchedText`).
struct YAMLFailure {
    /// The error, in libyaml's words.
    let problem: String
    /// What libyaml was parsing, in its words; empty if libyaml does not report it.
    let context: String
    /// The offset at which libyaml stopped.
    let offset: Int
    /// The offset at which the text that libyaml was parsing begins; nil if libyaml does not report it.
    let contextOffset: Int?
}

/// The result of one attempt to parse a file.
struct YAMLReading {
    var root: YAMLNode?
    var failure: YAMLFailure?
    var diagnostics = LimitedFindings()
    /// The ranges of scalars in which a `#` may be text instead of the start of a comment, in order.
    package var spansWithoutComments: [SourceSpan] = []
    /// True if parsing stopped at a limit, or libyaml could not be initialized. The rest of the file was not parsed.
    var isAbandoned = false
}
