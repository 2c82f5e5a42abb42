import Foundation
import MartletEngine

/// A word, symbol or literal of a query string.
struct QueryToken {
    enum Kind: Equatable {
        case name(String)
        /// `#word`: the name of a property, even if the word is a keyword.
        case escapedName(String)
        case number(QueryLiteral)
        case string(String)
        /// A literal whose syntax determines its type.
        case literal(QueryLiteral)
        /// `@count`, `@links` and similar, without the `@`.
        case keyword(String)
        /// The name of a variable such as `$item`, without the `$`.
        case variable(String)
        /// `%@` (nil), or `$0`, `$1` and so on (the number after `$`).
        case argument(Int?)
        /// `%K` (nil), or `$K0`, `$K1` and so on (the number after `$K`).
        case keyPathArgument(Int?)
        case symbol(String)
        case end
    }

    let kind: Kind
    /// The position of the token in the text, in UTF-8 bytes.
    let offset: Int
}

/// A syntax error or type error in a query string.
struct QuerySyntaxError: Error {
    let offset: Int
    /// What is wrong at `offset`.
    let message: String
}

/// Splits a query string into tokens. The lexer works on bytes, so a quote ends a string literal even if a combining
/// mark follows.
struct QueryLexer {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    static func tokens(_ text: String) throws(QuerySyntaxError) -> [QueryToken] {
        var lexer = QueryLexer(text)
        var tokens: [QueryToken] = []
        repeat { tokens.append(try lexer.next()) } while tokens.last?.kind != .end
        return tokens
    }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func peek(_ distance: Int) -> UInt8? {
        position + distance < bytes.count ? bytes[position + distance] : nil
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    private mutating func next() throws(QuerySyntaxError) -> QueryToken {
        while let byte = current, byte == 32 || (9...13).contains(byte) { position += 1 }
        let start = position
        guard let byte = current else { return QueryToken(kind: .end, offset: start) }
        let kind: QueryToken.Kind
        switch byte {
        case UInt8(ascii: "'"), UInt8(ascii: "\""): kind = .string(try string(byte))
        case UInt8(ascii: "@"):
            position += 1
            kind = .keyword(try name("a word such as 'count'"))
        case UInt8(ascii: "$"): kind = try variable()
        case UInt8(ascii: "%"): kind = try argument()
        case UInt8(ascii: "#"):
            position += 1
            kind = .escapedName(try name("a name"))
        case _ where isDigit(byte) || byte == UInt8(ascii: ".") && peek(1).map(isDigit) == true: kind = try number()
        case _ where isNameStart(byte): kind = try word()
        default: kind = .symbol(try symbol())
        }
        return QueryToken(kind: kind, offset: start)
    }

    // MARK: Symbols

    private static let symbols = ["==", "!=", "<>", "<=", "=<", ">=", "=>", "&&", "||"]

    private mutating func symbol() throws(QuerySyntaxError) -> String {
        if position + 1 < bytes.count {
            let pair = text(position..<position + 2)
            if Self.symbols.contains(pair) {
                position += 2
                return pair
            }
        }
        let symbol = text(position..<position + 1)
        guard "=<>!(){}[],.+-*/".contains(symbol) else {
            throw QuerySyntaxError(offset: position, message: "'\(character)' is not expected here")
        }
        position += 1
        return symbol
    }

    // The whole character at the position.
    private var character: String { String(String(decoding: bytes[position...], as: UTF8.self).prefix(1)) }

    private mutating func argument() throws(QuerySyntaxError) -> QueryToken.Kind {
        let start = position
        position += 1
        switch current {
        case UInt8(ascii: "@"):
            position += 1
            return .argument(nil)
        case UInt8(ascii: "K"):
            position += 1
            return .keyPathArgument(nil)
        default:
            // The format specifiers of 'printf', such as '%d', '%lld' and '%s', mean the same as '%@'.
            while let byte = current, "lhqz".utf8.contains(byte) { position += 1 }
            guard let byte = current, "diuxXfFeEgGs".utf8.contains(byte) else {
                throw QuerySyntaxError(
                    offset: start, message: "expected '%@' for a value or '%K' for a key path")
            }
            position += 1
            return .argument(nil)
        }
    }

    private mutating func variable() throws(QuerySyntaxError) -> QueryToken.Kind {
        let start = position
        position += 1
        let isKeyPath = current == UInt8(ascii: "K") && peek(1).map(isDigit) == true
        if isKeyPath { position += 1 }
        let first = position
        while let byte = current, isDigit(byte) { position += 1 }
        if position > first {
            guard let number = Int32(text(first..<position)).map(Int.init) else {
                throw QuerySyntaxError(offset: start, message: "there is no argument with this index")
            }
            return isKeyPath ? .keyPathArgument(number) : .argument(number)
        }
        return .variable(try name("the name of a variable, or the number of an argument"))
    }

    // MARK: Words

    private func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

    private func isNameStart(_ byte: UInt8) -> Bool {
        (65...90).contains(byte) || (97...122).contains(byte) || byte == UInt8(ascii: "_") || byte >= 128
    }

    private mutating func name(_ expected: String) throws(QuerySyntaxError) -> String {
        let start = position
        while let byte = current, isNameStart(byte) || (position > start && isDigit(byte)) { position += 1 }
        guard position > start else { throw QuerySyntaxError(offset: start, message: "expected \(expected)") }
        return text(start..<position)
    }

    private mutating func word() throws(QuerySyntaxError) -> QueryToken.Kind {
        let start = position
        if isTimestamp(start) { return .literal(try timestamp(start)) }
        let word = try name("a name")
        switch (word.lowercased(), current) {
        case ("uuid", UInt8(ascii: "(")), ("oid", UInt8(ascii: "(")), ("bin", UInt8(ascii: "(")),
            ("binary", UInt8(ascii: "(")):
            return .literal(try uuidOrObjectIdOrBinary(word.lowercased(), start))
        case ("b64", UInt8(ascii: "'")), ("b64", UInt8(ascii: "\"")):
            let content = try string(bytes[position])
            guard let data = QueryLiteral.base64(content) else {
                throw QuerySyntaxError(offset: start, message: "'\(content)' is not Base64")
            }
            return .literal(data)
        default: return .name(word)
        }
    }

    private mutating func uuidOrObjectIdOrBinary(_ type: String, _ start: Int) throws(QuerySyntaxError) -> QueryLiteral
    {
        if type.hasPrefix("bin") { return try binary(start) }
        let open = position + 1
        while let byte = current, byte != UInt8(ascii: ")") { position += 1 }
        guard current != nil else { throw QuerySyntaxError(offset: start, message: "expected ')' after '\(type)('") }
        let content = text(open..<position).trimming("'\" ")
        position += 1
        guard let literal = QueryLiteral.uuidOrObjectId(type, content) else {
            throw QuerySyntaxError(
                offset: start,
                message: "'\(content)' is not \(type == "uuid" ? "a UUID" : "an object id of 24 hexadecimal digits")")
        }
        return literal
    }

    // Parses `bin('…')` or `binary('…')`. The value consists of the UTF-8 bytes of the text between the quotes, which
    // can contain parentheses.
    private mutating func binary(_ start: Int) throws(QuerySyntaxError) -> QueryLiteral {
        position += 1
        guard let quote = current, quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\"") else {
            throw QuerySyntaxError(offset: position, message: "expected a text, as in 'bin(\"text\")'")
        }
        let content = try string(quote)
        guard current == UInt8(ascii: ")") else {
            throw QuerySyntaxError(offset: start, message: "expected ')' after the text")
        }
        position += 1
        return .data(Data(content.utf8))
    }

    // True for a date such as `T1700000000:250`, Realm's format with seconds and nanoseconds since 1970.
    private func isTimestamp(_ start: Int) -> Bool {
        guard bytes[start] == UInt8(ascii: "T") || bytes[start] == UInt8(ascii: "t") else { return false }
        let digits = bytes[(start + 1)...].prefix { isDigit($0) || $0 == UInt8(ascii: "-") }
        let end = start + 1 + digits.count
        return !digits.isEmpty && end < bytes.count && bytes[end] == UInt8(ascii: ":")
    }

    private mutating func timestamp(_ start: Int) throws(QuerySyntaxError) -> QueryLiteral {
        position = start + 1
        let first = position
        while let byte = current, isDigit(byte) || byte == UInt8(ascii: "-") { position += 1 }
        let seconds = Int64(text(first..<position))
        position += 1
        let second = position
        while let byte = current, isDigit(byte) || byte == UInt8(ascii: "-") { position += 1 }
        guard let seconds, let nanoseconds = Int64(text(second..<position)),
            let date = QueryLiteral.dateLiteral(since1970: seconds, nanoseconds: nanoseconds)
        else {
            throw QuerySyntaxError(
                offset: start,
                message: "expected a date such as 'T1700000000:0'; the nanoseconds must be less than 1000000000, and "
                    + "negative if the seconds are negative")
        }
        return date
    }

    // MARK: Literals

    private mutating func number() throws(QuerySyntaxError) -> QueryToken.Kind {
        let start = position
        if let date = try date() { return .literal(date) }
        if current == UInt8(ascii: "0"), let next = peek(1), next == UInt8(ascii: "x") || next == UInt8(ascii: "X") {
            position += 2
            while let byte = current, isDigit(byte) || isNameStart(byte) { position += 1 }
            guard let value = Int64(text(start + 2..<position), radix: 16) else {
                throw QuerySyntaxError(
                    offset: start, message: "'\(text(start..<position))' is not a 64-bit whole number")
            }
            return .number(.integer(value))
        }
        while let byte = current {
            let previous = position > start ? bytes[position - 1] : 0
            let isSign =
                (byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-"))
                && (previous == UInt8(ascii: "e") || previous == UInt8(ascii: "E"))
            guard isSign || isDigit(byte) || byte == UInt8(ascii: ".") || isNameStart(byte) else { break }
            position += 1
        }
        let written = text(start..<position)
        guard let literal = QueryLiteral.number(written) else {
            throw QuerySyntaxError(offset: start, message: "'\(written)' is not a number")
        }
        return .number(literal)
    }

    // Parses a date. Returns nil if the text at the position does not begin like `2024-01-31`. Other subtractions
    // without spaces, such as `1234-56-7`, are not dates.
    private mutating func date() throws(QuerySyntaxError) -> QueryLiteral? {
        let start = position
        let form = bytes[start...].prefix(10).map { isDigit($0) ? UInt8(ascii: "0") : $0 }
        guard form.elementsEqual("0000-00-00".utf8) else { return nil }
        while let byte = current, isDigit(byte) || "-:.TZ@+".utf8.contains(byte) { position += 1 }
        let written = text(start..<position)
        guard let date = QueryLiteral.dateLiteral(written) else {
            throw QuerySyntaxError(
                offset: start, message: "'\(written)' is not a date; write it as in '2024-01-31T10:00:00Z'")
        }
        return date
    }

    private mutating func string(_ quote: UInt8) throws(QuerySyntaxError) -> String {
        let start = position
        position += 1
        var content: [UInt8] = []
        while let byte = current, byte != quote {
            position += 1
            guard byte == UInt8(ascii: "\\") else {
                content.append(byte)
                continue
            }
            content += try escape()
        }
        guard current == quote else {
            throw QuerySyntaxError(offset: start, message: "the text that begins here has no closing quote")
        }
        position += 1
        return String(decoding: content, as: UTF8.self)
    }

    private mutating func utf16Unit(_ start: Int) throws(QuerySyntaxError) -> UInt16 {
        let digits = bytes[position..<min(position + 4, bytes.count)]
        guard digits.count == 4, digits.allSatisfy({ isDigit($0) || (97...102).contains($0 | 32) }),
            let unit = UInt16(text(position..<position + 4), radix: 16)
        else { throw QuerySyntaxError(offset: start, message: "expected four hexadecimal digits after '\\u'") }
        position += 4
        return unit
    }

    private mutating func escape() throws(QuerySyntaxError) -> [UInt8] {
        let start = position - 1
        guard let byte = current else {
            throw QuerySyntaxError(offset: start, message: "the text that begins here has no closing quote")
        }
        position += 1
        switch byte {
        case UInt8(ascii: "n"): return [10]
        case UInt8(ascii: "r"): return [13]
        case UInt8(ascii: "t"): return [9]
        case UInt8(ascii: "0"): return [0]
        case UInt8(ascii: "u"):
            let unit = try utf16Unit(start)
            guard UTF16.isLeadSurrogate(unit) else {
                guard let scalar = Unicode.Scalar(unit) else { throw unpaired(start) }
                return Array(String(scalar).utf8)
            }
            guard current == UInt8(ascii: "\\"), peek(1) == UInt8(ascii: "u") else { throw unpaired(start) }
            position += 2
            let second = try utf16Unit(position - 2)
            guard UTF16.isTrailSurrogate(second) else { throw unpaired(start) }
            return Array(String(decoding: [unit, second], as: UTF16.self).utf8)
        default: return [byte]
        }
    }
}

extension QueryLexer {
    fileprivate func unpaired(_ start: Int) -> QuerySyntaxError {
        QuerySyntaxError(
            offset: start,
            message: "half of a surrogate pair was written with '\\u'; write both halves, as in '\\ud83d\\ude00'")
    }
}

extension String {
    /// The string without the given characters at both ends.
    fileprivate func trimming(_ characters: String) -> String {
        let set = Array(characters.utf8)
        var bytes = Array(utf8)[...]
        while let first = bytes.first, set.contains(first) { bytes = bytes.dropFirst() }
        while let last = bytes.last, set.contains(last) { bytes = bytes.dropLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}
