/// Converts file paths between bytes and text. File names are sequences of bytes, which are not always UTF-8.
///
/// A stray byte is a byte that is not part of a UTF-8 sequence. The conversion to text replaces a stray byte with a
/// scalar of a private-use area. If a file name already contains such a scalar in UTF-8, each byte of the scalar is
/// treated as a stray byte. The conversion is therefore reversible.
public enum FileName {
    /// The scalar for a stray byte is `base` plus the byte. Stray bytes are in the range 0x80 to 0xFF.
    private static let base: UInt32 = 0x10_F700

    /// Converts the bytes of a file name or path to text.
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

    /// Converts the text of a file name or path to bytes.
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

    /// Whether a text contains scalars that represent stray bytes.
    static func hasStrays(_ text: String) -> Bool {
        // In UTF-8, all scalars for stray bytes begin with 0xF4. The search for this byte is fast.
        text.utf8.contains(0xF4) && text.unicodeScalars.contains { strayByte(of: $0) != nil }
    }

    /// The scalar that begins at an index, and the number of its bytes. nil if the byte at the index must be treated as
    /// a stray byte.
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
    /// The path for formats that require UTF-8. A byte that is not UTF-8 is written as an escape, such as `\xFF`. Other
    /// characters that a format does not allow are not changed here.
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
