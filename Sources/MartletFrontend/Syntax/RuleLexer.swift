/// Splits the text of a rule into tokens.
struct RuleLexer {
    enum Kind: Equatable {
        case name(String)
        /// `#name`: the name of a property, even if the name is also a keyword or a case of an enum.
        case escapedName(String)
        /// `$name`: a variable, such as `$user`.
        case variable(String)
        case number(String)
        case string(String)
        case uuid([UInt8])
        case objectId([UInt8])
        /// An operator or a punctuation mark, such as `==`, `(` or `,`.
        case symbol(String)
        case end
    }

    struct Token {
        let kind: Kind
        /// The range in the bytes of the rule's text.
        let range: Range<Int>
    }

    private static let symbols = [
        "==", "!=", "<=", ">=", "<>", "=<", "=>", "&&", "||", "=", "<", ">", "!", "(", ")", "{", "}", ",", ".",
    ]

    private let bytes: [UInt8]
    private var position = 0

    static func tokens(_ text: String) throws(RuleSyntaxError) -> [Token] {
        var lexer = RuleLexer(bytes: Array(text.utf8))
        var tokens: [Token] = []
        repeat { tokens.append(try lexer.next()) } while tokens.last?.kind != .end
        return tokens
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    private mutating func next() throws(RuleSyntaxError) -> Token {
        while let byte = current, byte.isBlank || byte.isLineBreak { position += 1 }
        let start = position
        guard let byte = current else { return Token(kind: .end, range: start..<start) }
        let kind: Kind
        if byte.isNameByte, !byte.isDigit {
            kind = try word(start)
        } else if byte.isDigit || byte == Byte.dash || byte == UInt8(ascii: "+") {
            kind = number(start)
        } else {
            switch byte {
            case Byte.singleQuote, Byte.doubleQuote: kind = .string(try string(byte))
            case UInt8(ascii: "$"): kind = .variable(try marked("the name of a claim follows '$user.'"))
            case Byte.hash: kind = .escapedName(try marked("the name of a property follows '#'"))
            default: kind = .symbol(try symbol(start))
            }
        }
        return Token(kind: kind, range: start..<position)
    }

    private mutating func symbol(_ start: Int) throws(RuleSyntaxError) -> String {
        let rest = bytes[start...]
        guard let symbol = Self.symbols.first(where: { rest.starts(with: $0.utf8) }) else {
            let end = bytes.utf8SequenceEnd(start + 1)
            throw RuleSyntaxError(
                message: "'\(text(start..<end))' is not part of a rule; write comparisons joined by 'AND' and 'OR'",
                range: start..<end)
        }
        position += symbol.utf8.count
        return symbol
    }

    private mutating func name() -> String {
        let start = position
        while let byte = current, byte.isNameByte { position += 1 }
        return text(start..<position)
    }

    /// Reads the name after a `$` or `#`. Throws an error with the message if there is none.
    private mutating func marked(_ message: String) throws(RuleSyntaxError) -> String {
        let start = position
        position += 1
        let name = name()
        guard !name.isEmpty else { throw RuleSyntaxError(message: message, range: start..<start + 1) }
        return name
    }

    private mutating func number(_ start: Int) -> Kind {
        position += 1
        while let byte = current {
            let isSign = (byte == Byte.dash || byte == UInt8(ascii: "+")) && bytes[position - 1] | 0x20 == 0x65
            guard isSign || byte.isNameByte || byte == Byte.dot else { break }
            position += 1
        }
        return .number(text(start..<position))
    }

    private mutating func word(_ start: Int) throws(RuleSyntaxError) -> Kind {
        let word = name()
        guard ["uuid", "oid"].contains(word), current == UInt8(ascii: "(") else { return .name(word) }
        position += 1
        let open = position
        while let byte = current, byte != UInt8(ascii: ")") { position += 1 }
        let content = text(open..<position)
        if current != nil { position += 1 }
        if word == "uuid", let bytes = ByteText.uuid(content) { return .uuid(bytes) }
        if word == "oid", let bytes = ByteText.hexadecimal(content), bytes.count == 12 { return .objectId(bytes) }
        let form = word == "uuid" ? "8-4-4-4-12 hexadecimal digits" : "24 hexadecimal digits"
        throw RuleSyntaxError(message: "'\(word)(…)' contains \(form)", range: start..<position)
    }

    // MARK: Texts

    private mutating func string(_ quote: UInt8) throws(RuleSyntaxError) -> String {
        let start = position
        position += 1
        var content: [UInt8] = []
        while let byte = current, byte != quote {
            position += 1
            if byte == Byte.backslash { content += try escape(start) } else { content.append(byte) }
        }
        guard current == quote else {
            throw RuleSyntaxError(message: "this quote is never closed; close it", range: start..<start + 1)
        }
        position += 1
        guard !content.contains(0) else {
            throw RuleSyntaxError(message: "a text in a rule cannot contain NUL; remove it", range: start..<position)
        }
        return String(decoding: content, as: UTF8.self)
    }

    /// Reads an escape of query texts: `\n`, `\r`, `\t`, `\0` or `\u00e6`. A backslash before any other character
    /// produces this character.
    private mutating func escape(_ start: Int) throws(RuleSyntaxError) -> [UInt8] {
        guard let byte = current else {
            throw RuleSyntaxError(message: "this quote is never closed; close it", range: start..<start + 1)
        }
        position += 1
        switch byte {
        case UInt8(ascii: "n"): return [Byte.lineFeed]
        case UInt8(ascii: "r"): return [Byte.carriageReturn]
        case UInt8(ascii: "t"): return [Byte.tab]
        case UInt8(ascii: "0"): return [0]
        case UInt8(ascii: "u"): return try unicodeEscape(position - 2)
        default: return [byte]
        }
    }

    private mutating func unicodeEscape(_ start: Int) throws(RuleSyntaxError) -> [UInt8] {
        var units = [hexadecimalUnit()]
        if let high = units[0], UTF16.isLeadSurrogate(high), bytes[position...].starts(with: "\\u".utf8) {
            position += 2
            units.append(hexadecimalUnit())
        }
        let decoded = units.compactMap(\.self)
        let text = String(decoding: decoded, as: UTF16.self)
        // The decoder replaces an unpaired surrogate with U+FFFD.
        guard decoded.count == units.count, !text.utf16.contains(0xFFFD) || decoded == [0xFFFD] else {
            throw RuleSyntaxError(
                message: "'\\u' needs four hexadecimal digits, and both halves of a surrogate pair",
                range: start..<position)
        }
        return Array(text.utf8)
    }

    private mutating func hexadecimalUnit() -> UInt16? {
        let digits = bytes[position..<min(position + 4, bytes.count)]
        guard digits.count == 4 else { return nil }
        var value: UInt16 = 0
        for byte in digits {
            guard let digit = byte.hexadecimalValue else { return nil }
            value = value << 4 | UInt16(digit)
        }
        position += 4
        return value
    }
}
