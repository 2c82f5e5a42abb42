/// Converts file paths between bytes and text. File names are bytes and need not be UTF-8.
///
/// A stray byte is a byte outside any UTF-8 sequence. It becomes a scalar of a private-use area. If a name already
/// contains such a scalar, each byte of that scalar is converted as a stray byte. The conversion is therefore
/// reversible.
public enum FileName {
    /// The scalar for byte 0. Only the scalars for the bytes 0x80 to 0xFF are used.
    private static let base: UInt32 = 0x10_F700

    /// The text of a name.
    public static func text(of bytes: some Collection<UInt8>) -> String {
        let bytes = Array(bytes)
        if let text = String(validating: bytes, as: UTF8.self), !hasStrays(text) { return text }
        var text = ""
        var index = 0
        while index < bytes.count {
            if let (scalar, length) = scalar(in: bytes, at: index) {
                text.unicodeScalars.append(scalar)
                index += length
            } else {
                text.unicodeScalars.append(Unicode.Scalar(base + UInt32(bytes[index])) ?? "\u{FFFD}")
                index += 1
            }
        }
        return text
    }

    /// The bytes of a name.
    public static func bytes(of text: String) -> [UInt8] {
        guard hasStrays(text) else { return Array(text.utf8) }
        return text.unicodeScalars.flatMap { scalar in
            strayByte(of: scalar).map { [$0] } ?? Array(String(scalar).utf8)
        }
    }

    /// The stray byte that a scalar represents; nil if the scalar represents no stray byte.
    static func strayByte(of scalar: Unicode.Scalar) -> UInt8? {
        let value = scalar.value
        return value >= base + 0x80 && value <= base + 0xFF ? UInt8(value - base) : nil
    }

    /// Whether a text represents bytes that are not UTF-8.
    static func hasStrays(_ text: String) -> Bool {
        // 0xF4 is the first UTF-8 byte of all these scalars.
        text.utf8.contains(0xF4) && text.unicodeScalars.contains { strayByte(of: $0) != nil }
    }

    /// The scalar that begins at an index, and the number of its bytes.
    private static func scalar(in bytes: [UInt8], at index: Int) -> (Unicode.Scalar, Int)? {
        for length in 1...4 where index + length <= bytes.count {
            guard let text = String(validating: bytes[index..<index + length], as: UTF8.self),
                let scalar = text.unicodeScalars.first
            else { continue }
            return strayByte(of: scalar) == nil ? (scalar, length) : nil
        }
        return nil
    }
}

extension String {
    /// The path with bytes that are not UTF-8 written as `\xFF`, for formats that require UTF-8. The code that writes a
    /// format escapes the other characters that the format does not allow.
    public var withVisibleBytes: String {
        guard FileName.hasStrays(self) else { return self }
        var result = ""
        for scalar in unicodeScalars {
            if let byte = FileName.strayByte(of: scalar) {
                result += byte.escape
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

extension UInt8 {
    /// The byte as an escape, such as `\xFF`.
    var escape: String {
        let digits = String(self, radix: 16, uppercase: true)
        return "\\x" + (digits.utf8.count < 2 ? "0" : "") + digits
    }
}
