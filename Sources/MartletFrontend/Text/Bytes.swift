/// The ASCII bytes that the parsers recognize.
package enum Byte {
    static let tab = UInt8(ascii: "\t")
    package static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    package static let space = UInt8(ascii: " ")
    package static let hash = UInt8(ascii: "#")
    static let colon = UInt8(ascii: ":")
    static let comma = UInt8(ascii: ",")
    package static let dash = UInt8(ascii: "-")
    static let dot = UInt8(ascii: ".")
    static let doubleQuote = UInt8(ascii: "\"")
    static let singleQuote = UInt8(ascii: "'")
    package static let backslash = UInt8(ascii: "\\")
    static let underscore = UInt8(ascii: "_")
}

extension UInt8 {
    var isLetter: Bool { (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) }
    var isUppercase: Bool { (0x41...0x5A).contains(self) }
    var isDigit: Bool { (0x30...0x39).contains(self) }
    var isNameByte: Bool { isLetter || isDigit || self == Byte.underscore }
    package var isBlank: Bool { self == Byte.space || self == Byte.tab }
    package var isLineBreak: Bool { self == Byte.lineFeed || self == Byte.carriageReturn }

    /// The value of a hexadecimal digit; nil for other bytes.
    var hexadecimalValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x37
        case 0x61...0x66: self - 0x57
        default: nil
        }
    }

    var lowercased: UInt8 { isUppercase ? self + 0x20 : self }
}

extension [UInt8] {
    /// The end of the UTF-8 sequence that contains the offset. An offset between two sequences is returned unchanged.
    func utf8SequenceEnd(_ offset: Int) -> Int {
        var end = offset
        while end < count, self[end] & 0xC0 == 0x80 { end += 1 }
        return end
    }

    /// The start of the UTF-8 sequence that contains the offset. An offset at invalid bytes is returned unchanged.
    func utf8SequenceStart(_ offset: Int) -> Int {
        guard offset < count, self[offset] & 0xC0 == 0x80 else { return offset }
        let start = stride(from: offset - 1, through: Swift.max(0, offset - 3), by: -1).first {
            self[$0] & 0xC0 != 0x80
        }
        return start.map { self[$0] >= 0xC0 ? $0 : offset } ?? offset
    }
}

extension String {
    /// The string with ASCII letters in lower case, independent of the locale.
    var asciiLowercased: String {
        guard utf8.contains(where: \.isUppercase) else { return self }
        return String(unsafeUninitializedCapacity: utf8.count) { buffer in
            var count = 0
            for byte in utf8 {
                buffer[count] = byte.lowercased
                count += 1
            }
            return count
        }
    }

    /// The string with an uppercase first letter.
    var capitalizedFirst: String {
        guard let first = utf8.first, first.isLetter, !first.isUppercase else { return self }
        return String(decoding: [first - 0x20] + utf8.dropFirst(), as: UTF8.self)
    }

    /// Whether the string matches `[A-Za-z][A-Za-z0-9_]*`.
    var isName: Bool {
        guard let first = utf8.first, first.isLetter else { return false }
        return utf8.allSatisfy(\.isNameByte)
    }

    /// The string for use in a message. A string of more than 64 scalars is cut after 60 scalars.
    var shortened: String {
        unicodeScalars.count <= 64 ? self : String(String.UnicodeScalarView(unicodeScalars.prefix(60))) + "…"
    }
}
