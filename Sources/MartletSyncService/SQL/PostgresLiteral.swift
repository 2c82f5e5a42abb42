import MartletEngine
import MartletSyncProtocol
import MartletValues

/// Converts values of conditions to texts for SQL, and names the SQL types of these values.
enum PostgresLiteral {
    /// The SQL type for values of a kind; nil for kinds that are stored as JSON.
    static func type(_ kind: ConditionKind) -> String? {
        switch kind {
        case .bool: "boolean"
        case .integer: "bigint"
        case .floating: "double precision"
        case .text: "text"
        case .data, .objectId: "bytea"
        case .uuid: "uuid"
        case .date: "timestamp with time zone"
        case .decimal: "numeric"
        case .any, .object: nil
        }
    }

    /// The text of a value. The value must not be a date, because not every date has an exact text. See
    /// `PostgresTimestamp`.
    static func text(_ value: SQLValue, _ kind: ConditionKind) -> String {
        switch value {
        case .null: ""
        case .integer(let number): kind == .bool ? (number == 0 ? "false" : "true") : "\(number)"
        case .real(let number): number.isInfinite ? (number < 0 ? "-Infinity" : "Infinity") : "\(number)"
        case .text(let text): text
        case .blob(let bytes):
            switch kind {
            case .decimal: decimal(bytes)
            case .uuid: hexadecimal(bytes)
            default: "\\x" + hexadecimal(bytes)
            }
        }
    }

    private static func decimal(_ bytes: [UInt8]) -> String {
        let text = DecimalNumber(bytes: bytes)?.description ?? "NaN"
        return text == "inf" ? "Infinity" : text == "-inf" ? "-Infinity" : text
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// A text as an SQL literal. The literal has the same meaning for all values of the setting
    /// `standard_conforming_strings`.
    static func quoted(_ text: String) -> String {
        var literal = text.unicodeScalars.contains("\\") ? "E'" : "'"
        for scalar in text.unicodeScalars {
            if scalar == "'" || scalar == "\\" { literal.unicodeScalars.append(scalar) }
            literal.unicodeScalars.append(scalar)
        }
        return literal + "'"
    }

    /// An array of texts in PostgreSQL's notation.
    static func array(_ texts: [String]) -> String {
        let elements = texts.map { text in
            var quoted = "\""
            for scalar in text.unicodeScalars {
                if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
                quoted.unicodeScalars.append(scalar)
            }
            return quoted + "\""
        }
        return "{\(elements.joined(separator: ","))}"
    }

    // MARK: Texts

    /// True if the value is a text that contains NUL. Texts in PostgreSQL cannot contain NUL.
    static func hasNUL(_ value: SQLValue) -> Bool {
        if case .text(let text) = value { text.utf8.contains(0) } else { false }
    }

    /// The pattern of SQL's `LIKE` that matches the same values as a pattern with `?` and `*`.
    static func likePattern(_ pattern: SQLValue) -> SQLValue {
        switch pattern {
        case .text(let text):
            .text(String(decoding: likePattern(Array(text.utf8)), as: UTF8.self))
        case .blob(let bytes): .blob(likePattern(bytes))
        default: pattern
        }
    }

    // The function can compare single bytes, because all special characters are ASCII, and in UTF-8 an ASCII byte is
    // never a part of another character.
    private static func likePattern(_ pattern: [UInt8]) -> [UInt8] {
        let (one, many, escape) = (UInt8(ascii: "?"), UInt8(ascii: "*"), UInt8(ascii: "\\"))
        let special: Set<UInt8> = [UInt8(ascii: "_"), UInt8(ascii: "%"), escape]
        var result: [UInt8] = []
        var index = 0
        while index < pattern.count {
            var byte = pattern[index]
            let isEscaped =
                byte == escape && index + 1 < pattern.count && [one, many, escape].contains(pattern[index + 1])
            if isEscaped {
                index += 1
                byte = pattern[index]
            }
            if !isEscaped && byte == one {
                result.append(UInt8(ascii: "_"))
            } else if !isEscaped && byte == many {
                result.append(UInt8(ascii: "%"))
            } else {
                if special.contains(byte) { result.append(escape) }
                result.append(byte)
            }
            index += 1
        }
        return result
    }
}
