/// Swift source in which spaces replace comments and strings, so that a search finds only code.
///
/// Newlines remain, so positions and line numbers do not change. Regex literals are not supported: in a regex literal,
/// a quotation mark is read as the beginning of a string, and `//` as the beginning of a comment.
struct SwiftText {
    /// The source in which spaces replace comments.
    let withoutComments: String
    /// The source in which spaces replace comments and string literals. Interpolated code remains.
    let code: String

    init(_ text: String) {
        var scanner = Scanner(bytes: Array(text.utf8))
        scanner.scanCode(untilParenthesisCloses: false)
        withoutComments = String(decoding: scanner.withoutComments, as: UTF8.self)
        code = String(decoding: scanner.code, as: UTF8.self)
    }
}

private struct Scanner {
    let bytes: [UInt8]
    var position = 0
    var withoutComments: [UInt8]
    var code: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
        withoutComments = bytes
        code = bytes
    }

    private func has(_ text: StaticString, at offset: Int = 0) -> Bool {
        let start = position + offset
        guard start + text.utf8CodeUnitCount <= bytes.count else { return false }
        for index in 0..<text.utf8CodeUnitCount where bytes[start + index] != text.utf8Start[index] { return false }
        return true
    }

    /// Replaces the next bytes by spaces, because they are not code, and moves the position behind them.
    private mutating func skip(_ count: Int, isComment: Bool) {
        for index in position..<min(position + count, bytes.count) where bytes[index] != UInt8(ascii: "\n") {
            code[index] = UInt8(ascii: " ")
            if isComment { withoutComments[index] = UInt8(ascii: " ") }
        }
        position += count
    }

    /// Scans to the end of the source, or to the parenthesis that closes an interpolation.
    mutating func scanCode(untilParenthesisCloses: Bool) {
        var depth = 0
        while position < bytes.count {
            if has("//") {
                skipLineComment()
            } else if has("/*") {
                skipBlockComment()
            } else if let hashes = hashesBeforeQuote() {
                skipString(hashes: hashes)
            } else {
                depth += has("(") ? 1 : has(")") ? -1 : 0
                if untilParenthesisCloses, depth < 0 { return }
                position += 1
            }
        }
    }

    private mutating func skipLineComment() {
        while position < bytes.count, !has("\n") { skip(1, isComment: true) }
    }

    /// Skips a block comment, which can contain nested block comments.
    private mutating func skipBlockComment() {
        var depth = 0
        repeat {
            if has("/*") {
                depth += 1
                skip(2, isComment: true)
            } else if has("*/") {
                depth -= 1
                skip(2, isComment: true)
            } else {
                skip(1, isComment: true)
            }
        } while depth > 0 && position < bytes.count
    }

    /// Returns the number of `#` before the opening quotation mark, or nil if no string begins at the current position.
    private func hashesBeforeQuote() -> Int? {
        var hashes = 0
        while has("#", at: hashes) { hashes += 1 }
        return has("\"", at: hashes) ? hashes : nil
    }

    private func hasHashes(_ count: Int, at offset: Int) -> Bool {
        (0..<count).allSatisfy { has("#", at: offset + $0) }
    }

    private mutating func skipString(hashes: Int) {
        skip(hashes, isComment: false)
        let isMultiline = has("\"\"\"")
        let quotes = isMultiline ? 3 : 1
        skip(quotes, isComment: false)
        while position < bytes.count {
            let closes = isMultiline ? has("\"\"\"") : has("\"")
            if closes, hasHashes(hashes, at: quotes) {
                skip(quotes + hashes, isComment: false)
                return
            }
            if !isMultiline, has("\n") { return }
            let escapes = has("\\") && hasHashes(hashes, at: 1)
            if escapes, has("(", at: 1 + hashes) {
                skip(2 + hashes, isComment: false)
                scanCode(untilParenthesisCloses: true)
                skip(1, isComment: false)
            } else {
                skip(escapes ? 2 + hashes : 1, isComment: false)
            }
        }
    }
}

/// A word or a punctuation character of code, with its place.
struct Token: Equatable {
    var text: Substring
    /// The line number, from 1.
    var line: Int
    /// Whether the token is the first of its line.
    var startsLine = false
    /// Whether the token directly follows the previous token, without white space between them.
    var isAttached = false

    var isWord: Bool {
        guard let first = text.utf8.first else { return false }
        return first == UInt8(ascii: "_") || first == UInt8(ascii: "`") || first >= 0x80
            || Character(Unicode.Scalar(first)).isLetter
    }
}

extension SwiftText {
    /// The tokens of code: words, numbers, and single punctuation characters.
    static func tokens(of code: String) -> [Token] {
        var tokens: [Token] = []
        var line = 1
        var startsLine = true
        var lastEnd: String.Index?
        let bytes = code.utf8
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let start = index
            let byte = bytes[index]
            index = bytes.index(after: index)
            if byte == UInt8(ascii: "\n") {
                line += 1
                startsLine = true
                continue
            }
            if byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") { continue }
            if isWordByte(byte) {
                while index < bytes.endIndex, isWordByte(bytes[index]) { index = bytes.index(after: index) }
            }
            tokens.append(
                Token(text: code[start..<index], line: line, startsLine: startsLine, isAttached: start == lastEnd))
            startsLine = false
            lastEnd = index
        }
        return tokens
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "`"), 0x80...:
            true
        default: false
        }
    }
}
