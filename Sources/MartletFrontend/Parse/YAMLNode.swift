import MartletSchema

/// A scalar as it stands in the file; nothing is guessed from its text.
struct YAMLScalar {
    enum Style {
        case plain
        case singleQuoted
        case doubleQuoted
        /// Literal or folded.
        case block
    }

    let text: String
    /// The whole token, with its quotes.
    let span: SourceSpan
    let style: Style
    /// The place of the first byte of the text, when the text stands in the file byte for byte.
    let contentStart: Int?

    var isPlain: Bool { style == .plain }

    /// `key:` with nothing behind it, or one of YAML's words for it.
    var isNull: Bool { isPlain && (text.isEmpty || text == "~" || text == "null") }

    var isEmpty: Bool { isPlain && text.isEmpty }

    /// The place of a range of the text's bytes; of the whole scalar when it cannot be told.
    func span(of range: Range<Int>) -> SourceSpan {
        guard let contentStart else { return span }
        return SourceSpan(
            file: span.file, start: contentStart + range.lowerBound, end: contentStart + range.upperBound)
    }

    /// The key and the value of `name:String`, which lacks a space, or of `name :String`, which has it in the wrong place.
    var glued: YAMLEntry? {
        guard isPlain, let start = contentStart, let colon = text.utf8.firstIndex(of: Byte.colon) else { return nil }
        var end = colon
        while end > text.startIndex, text.utf8[text.utf8.index(before: end)].isBlank {
            end = text.utf8.index(before: end)
        }
        let key = String(text[..<end])
        let value = String(text[text.utf8.index(after: colon)...])
        guard NameRules.canName(property: key), !value.isEmpty else { return nil }
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

    var spanned: Spanned<String> { Spanned(text, span) }
}

struct YAMLSequence {
    let span: SourceSpan
    let items: [YAMLNode]
    let isFlow: Bool
}

struct YAMLEntry {
    let key: YAMLScalar
    let value: YAMLNode
}

struct YAMLMapping {
    let span: SourceSpan
    let entries: [YAMLEntry]
    let isFlow: Bool
}

/// The tree of one file.
enum YAMLNode {
    case scalar(YAMLScalar)
    case sequence(YAMLSequence)
    case mapping(YAMLMapping)
    /// Something a finding was already reported for.
    case broken(SourceSpan)

    var span: SourceSpan {
        switch self {
        case .scalar(let scalar): scalar.span
        case .sequence(let sequence): sequence.span
        case .mapping(let mapping): mapping.span
        case .broken(let span): span
        }
    }

    var scalar: YAMLScalar? {
        if case .scalar(let scalar) = self { scalar } else { nil }
    }

    /// As messages call it.
    var shape: String {
        switch self {
        case .scalar(let scalar): scalar.isEmpty ? "nothing" : "text"
        case .sequence: "a list"
        case .mapping: "a mapping"
        case .broken: "something broken"
        }
    }
}

/// Where libyaml gave up, in offsets of the patched text.
struct YAMLFailure {
    let problem: String
    let context: String
    let offset: Int
    let contextOffset: Int?
}

/// What one attempt to read a file gave.
struct YAMLReading {
    var root: YAMLNode?
    var failure: YAMLFailure?
    var diagnostics = FindingList()
    /// Scalars in which a `#` may stand that begins no comment, in order.
    var commentFree: [SourceSpan] = []
    /// True when reading stopped at a limit and the rest of the file is unknown.
    var isAbandoned = false
}
