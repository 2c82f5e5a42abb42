import MartletSchema

/// Checks the bytes of a file before YAML parsing: size, encoding and disallowed characters.
struct EncodingCheck {
    static let maximumBytes = 1 << 20

    private let source: SourceText
    private(set) var diagnostics: [Diagnostic] = []
    /// False if the file must not be parsed.
    private(set) var isReadable = true
    /// The ranges of disallowed characters and invalid bytes. They are removed before parsing.
    private(set) var removedRanges: [Range<Int>] = []

    init(_ source: SourceText) {
        self.source = source
        if source.bytes.count > Self.maximumBytes {
            let limit = "the file is larger than the 1048576 bytes allowed; split it"
            report(.limitExceeded, limit, 0..<0)
            isReadable = false
        } else if source.bytes.starts(with: [0xFF, 0xFE]) || source.bytes.starts(with: [0xFE, 0xFF]) {
            report(.yamlSubset, "the file is UTF-16; save it as UTF-8", 0..<2)
            isReadable = false
        } else {
            scan()
        }
    }

    private mutating func scan() {
        let bytes = source.bytes
        var index = source.byteOrderMarkLength
        var invalid = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte < 0x80 {
                if byte < 0x20 || byte == 0x7F, !byte.isLineBreak, byte != Byte.tab {
                    refuse(scalar: UInt32(byte), index..<index + 1)
                }
                index += 1
            } else if let (scalar, length) = Self.decode(bytes, at: index) {
                if Self.isRefused(scalar) { refuse(scalar: scalar, index..<index + length) }
                index += length
            } else {
                invalid += 1
                removedRanges.append(index..<index + 1)
                if invalid == 1 {
                    report(.yamlSubset, "this byte is not UTF-8; save the file as UTF-8", index..<index + 1)
                }
                index += 1
            }
        }
    }

    private mutating func refuse(scalar: UInt32, _ range: Range<Int>) {
        removedRanges.append(range)
        guard removedRanges.count <= 20 else { return }
        let digits = String(scalar, radix: 16, uppercase: true)
        let name = "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        let kind = Self.isDirectional(scalar) ? "bidirectional control" : "control"
        let span = SourceSpan(file: source.file, start: range.lowerBound, end: range.upperBound)
        diagnostics.append(
            Diagnostic(
                .yamlSubset, "\(kind) character '\(name)' is not allowed in a schema; remove it", at: span,
                label: "invisible character here", fixes: [Fix("remove the character", .suggested, [Edit(span, "")])]))
    }

    private mutating func report(_ code: DiagnosticCode, _ message: String, _ range: Range<Int>) {
        let span = SourceSpan(file: source.file, start: range.lowerBound, end: range.upperBound)
        diagnostics.append(Diagnostic(code, message, at: span))
    }

    private static func isDirectional(_ scalar: UInt32) -> Bool {
        (0x202A...0x202E).contains(scalar) || (0x2066...0x2069).contains(scalar) || scalar == 0x200E
            || scalar == 0x200F || scalar == 0x061C
    }

    private static func isRefused(_ scalar: UInt32) -> Bool {
        (0x80...0x9F).contains(scalar) || isDirectional(scalar) || scalar == 0x2028 || scalar == 0x2029
            || scalar == 0xFEFF || (0xFFF9...0xFFFB).contains(scalar) || scalar & 0xFFFE == 0xFFFE
    }

    /// Decodes one scalar of more than one byte from UTF-8. The result is nil for invalid bytes, including overlong
    /// forms and surrogates.
    private static func decode(_ bytes: [UInt8], at index: Int) -> (scalar: UInt32, length: Int)? {
        let first = bytes[index]
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        guard first >= 0xC2, first <= 0xF4, index + length <= bytes.count else { return nil }
        var scalar = UInt32(first) & (0xFF >> UInt32(length + 1))
        for byte in bytes[(index + 1)..<(index + length)] {
            guard byte & 0xC0 == 0x80 else { return nil }
            scalar = scalar << 6 | UInt32(byte & 0x3F)
        }
        let minimum: UInt32 = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80
        guard scalar >= minimum, scalar <= 0x10FFFF, !(0xD800...0xDFFF).contains(scalar) else { return nil }
        return (scalar, length)
    }
}
