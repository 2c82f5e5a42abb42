package import MartletValues

/// Quoting for the parts of SQL that cannot be bound: names, and defaults in table definitions.
///
/// It works on UTF-8 and not on `Character`, because a quote and a following combining mark are one `Character`. Such a
/// quote would not be escaped.
package enum SQLText {
    /// A name in double quotes.
    package static func identifier(_ name: String) -> String { quoted(name, with: UInt8(ascii: "\"")) }

    /// A value as a literal, for example in a `DEFAULT` clause. NaN becomes NULL.
    package static func literal(_ value: SQLValue) -> String {
        switch value {
        case .null: "NULL"
        case .integer(let number): String(number)
        case .real(let number) where number.isNaN: "NULL"
        case .real(let number): number.isInfinite ? (number < 0 ? "-9e999" : "9e999") : "\(number)"
        case .text(let text):
            text.utf8.contains(0) ? "CAST(\(hex(Array(text.utf8))) AS TEXT)" : quoted(text, with: UInt8(ascii: "'"))
        case .blob(let bytes): hex(bytes)
        }
    }

    private static func quoted(_ text: String, with quote: UInt8) -> String {
        var bytes: [UInt8] = [quote]
        for byte in text.utf8 {
            bytes.append(byte)
            if byte == quote { bytes.append(quote) }
        }
        bytes.append(quote)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = Array("x'".utf8)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        text.append(UInt8(ascii: "'"))
        return String(decoding: text, as: UTF8.self)
    }
}
