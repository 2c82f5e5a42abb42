import MartletSchema

/// Parses a default: a word, a number, or a quoted text with escapes.
enum LiteralParser {
    /// The beginning of the message for a missing default.
    static let missingDefault = "no default after '='"

    struct Result {
        var literal: LiteralSyntax?
        var diagnostics: [Diagnostic] = []
    }

    /// - Parameters:
    ///   - bytes: the text of `scalar`.
    ///   - start: the offset in `bytes` at which the default begins.
    ///   - removal: the source range that a fix removes to delete the default.
    static func parse(_ bytes: [UInt8], from start: Int, in scalar: YAMLScalar, removal: SourceSpan?) -> Result {
        var end = bytes.count
        while end > start, bytes[end - 1].isBlank { end -= 1 }
        let span = scalar.span(of: start..<end)
        guard start < end else {
            return Result(diagnostics: [
                Diagnostic(
                    .badDefault, "\(missingDefault); write one or remove the '='", at: removal ?? scalar.span)
            ])
        }
        let quote = bytes[start]
        guard quote == Byte.doubleQuote || quote == Byte.singleQuote else {
            let text = String(decoding: bytes[start..<end], as: UTF8.self)
            return Result(literal: LiteralSyntax(form: .bare, text: text, span: span, removal: removal))
        }
        var reader = QuotedReader(bytes: bytes, start: start, end: end)
        switch reader.read() {
        case .text(let text):
            return Result(literal: LiteralSyntax(form: .quoted, text: text, span: span, removal: removal))
        case .unclosed:
            // In a plain YAML scalar, ' #' begins a comment even between these quotes. The comment then includes the
            // closing quote.
            let message =
                "this quote is never closed; close it, and quote the whole value with single quotes if it contains ' #'"
            return Result(diagnostics: [
                Diagnostic(.yamlMistake, message, at: scalar.span(of: start..<start + 1), label: "opened here")
            ])
        case .trailing(let index):
            let place = scalar.span(of: index..<end)
            return Result(diagnostics: [
                Diagnostic(
                    .badDefault, "nothing can follow the closing quote; escape quotes inside text", at: place)
            ])
        case .badEscape(let range):
            let text = String(decoding: bytes[range], as: UTF8.self)
            return Result(diagnostics: [
                Diagnostic(
                    .badDefault, "unknown escape '\(text)'; there are \\\" \\\\ \\n \\t \\r \\0 \\uXXXX and \\u{…}",
                    at: scalar.span(of: range))
            ])
        }
    }
}

/// Parses quoted text. Double-quoted text uses the escapes of Swift, and `\/` and `\uXXXX` of JSON. In single-quoted
/// text, two single quotes stand for one.
private struct QuotedReader {
    enum Outcome {
        case text(String)
        case unclosed
        /// Text follows the closing quote. The associated value is the offset of this text.
        case trailing(Int)
        case badEscape(Range<Int>)
    }

    let bytes: [UInt8]
    let start: Int
    let end: Int
    private var index: Int
    private var result: [UInt8] = []

    init(bytes: [UInt8], start: Int, end: Int) {
        self.bytes = bytes
        self.start = start
        self.end = end
        index = start + 1
    }

    mutating func read() -> Outcome {
        let quote = bytes[start]
        while index < end {
            let byte = bytes[index]
            if byte == quote {
                if quote == Byte.singleQuote, index + 1 < end, bytes[index + 1] == quote {
                    result.append(quote)
                    index += 2
                    continue
                }
                return index + 1 == end ? .text(String(decoding: result, as: UTF8.self)) : .trailing(index + 1)
            }
            if byte == Byte.backslash, quote == Byte.doubleQuote {
                let escape = index
                guard readEscape() else { return .badEscape(escape..<bytes.utf8SequenceEnd(min(escape + 2, end))) }
            } else {
                result.append(byte)
                index += 1
            }
        }
        return .unclosed
    }

    private mutating func readEscape() -> Bool {
        guard index + 1 < end else { return false }
        index += 2
        switch bytes[index - 1] {
        case UInt8(ascii: "n"): result.append(Byte.lineFeed)
        case UInt8(ascii: "t"): result.append(Byte.tab)
        case UInt8(ascii: "r"): result.append(Byte.carriageReturn)
        case UInt8(ascii: "0"): result.append(0)
        case Byte.backslash, Byte.doubleQuote, Byte.singleQuote, UInt8(ascii: "/"): result.append(bytes[index - 1])
        case UInt8(ascii: "u"): return readScalar()
        default: return false
        }
        return true
    }

    /// Reads the rest of an escape such as `\u{1F985}` or `\u00e6`, or of a surrogate pair as in JSON.
    private mutating func readScalar() -> Bool {
        guard index < end else { return false }
        if bytes[index] == UInt8(ascii: "{") {
            guard let close = bytes[index..<end].firstIndex(of: UInt8(ascii: "}")),
                let value = hexadecimal(index + 1, close, digits: 1...8)
            else { return false }
            index = close + 1
            return append(value)
        }
        guard let first = hexadecimal(index, index + 4, digits: 4...4) else { return false }
        index += 4
        guard (0xD800..<0xDC00).contains(first) else { return append(first) }
        guard index + 6 <= end, bytes[index] == Byte.backslash, bytes[index + 1] == UInt8(ascii: "u"),
            let second = hexadecimal(index + 2, index + 6, digits: 4...4), (0xDC00..<0xE000).contains(second)
        else { return false }
        index += 6
        return append(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    }

    private func hexadecimal(_ start: Int, _ end: Int, digits: ClosedRange<Int>) -> UInt32? {
        guard end <= self.end, digits.contains(end - start) else { return nil }
        var value: UInt32 = 0
        for byte in bytes[start..<end] {
            guard let digit = byte.hexadecimalValue else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    private mutating func append(_ value: UInt32) -> Bool {
        guard let scalar = Unicode.Scalar(value) else { return false }
        result += Array(String(scalar).utf8)
        return true
    }
}
