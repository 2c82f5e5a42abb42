/// Parses texts that represent bytes. Each function returns nil if the text is invalid.
enum ByteText {
    /// Parses an even number of hexadecimal digits.
    static func hexadecimal(_ text: String) -> [UInt8]? {
        let digits = text.utf8.map(\.hexadecimalValue)
        guard digits.count % 2 == 0 else { return nil }
        var result: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            result.append(high << 4 | low)
        }
        return result
    }

    /// Parses a UUID of `8-4-4-4-12` hexadecimal digits.
    static func uuid(_ text: String) -> [UInt8]? {
        let parts = text.utf8.split(separator: Byte.dash, omittingEmptySubsequences: false)
        guard parts.map(\.count) == [8, 4, 4, 4, 12] else { return nil }
        return hexadecimal(String(decoding: parts.joined(), as: UTF8.self))
    }

    /// Parses padded Base64 (RFC 4648).
    static func base64(_ text: String) -> [UInt8]? {
        let bytes = Array(text.utf8)
        guard bytes.count % 4 == 0 else { return nil }
        let padding = bytes.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2 else { return nil }
        var result: [UInt8] = []
        var buffer: UInt32 = 0
        var bits = 0
        for byte in bytes.dropLast(padding) {
            guard let digit = base64Digit(byte) else { return nil }
            buffer = buffer << 6 | digit
            bits += 6
            if bits >= 8 {
                bits -= 8
                result.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
            }
        }
        return result
    }

    private static func base64Digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case 0x41...0x5A: UInt32(byte - 0x41)
        case 0x61...0x7A: UInt32(byte - 0x61) + 26
        case 0x30...0x39: UInt32(byte - 0x30) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
