import MartletSchema

/// Maps offsets in the text of a scalar to offsets in the file. The two texts differ if the YAML parser joined lines or
/// replaced escapes.
struct ScalarOffsets {
    private let scalar: YAMLScalar
    /// For each byte of the text, the offset of the byte in the file. Empty if the text appears verbatim in the file,
    /// or if the bytes could not be aligned.
    private let offsets: [Int]

    /// - Parameter bytes: the text of the file.
    init(_ scalar: YAMLScalar, in bytes: [UInt8]) {
        self.scalar = scalar
        offsets = scalar.contentStart == nil ? Self.aligned(scalar, bytes) ?? [] : []
    }

    /// The source range of a range of the text's bytes; the whole scalar if the source range is unknown.
    func span(of range: Range<Int>) -> SourceSpan {
        guard !offsets.isEmpty else { return scalar.span(of: range) }
        let last = offsets[offsets.count - 1] + 1
        let start = range.lowerBound < offsets.count ? offsets[range.lowerBound] : last
        let end = range.isEmpty ? start : offsets[min(range.upperBound, offsets.count) - 1] + 1
        return SourceSpan(file: scalar.span.file, start: start, end: max(start, end))
    }

    /// The file offset of each byte of the text; nil if the text does not match the file. A sequence of blanks and line
    /// breaks can have another length in the file, and quotes and backslashes can be escaped there. All other bytes
    /// must be equal.
    private static func aligned(_ scalar: YAMLScalar, _ bytes: [UInt8]) -> [Int]? {
        var position = start(of: scalar, bytes)
        var result: [Int] = []
        for byte in scalar.text.utf8 {
            guard !byte.isBlank, !byte.isLineBreak else {
                result.append(min(position, bytes.count - 1))
                continue
            }
            while position < scalar.span.end, bytes[position].isBlank || bytes[position].isLineBreak { position += 1 }
            guard position < scalar.span.end else { return nil }
            result.append(position)
            let next = position + 1 < scalar.span.end ? bytes[position + 1] : 0
            let isEscape =
                scalar.style == .singleQuoted && byte == Byte.singleQuote && next == Byte.singleQuote
                || scalar.style == .doubleQuoted && bytes[position] == Byte.backslash && next == byte
                    && (byte == Byte.doubleQuote || byte == Byte.backslash)
            guard isEscape || bytes[position] == byte else { return nil }
            position += isEscape ? 2 : 1
        }
        return result
    }

    private static func start(of scalar: YAMLScalar, _ bytes: [UInt8]) -> Int {
        switch scalar.style {
        case .plain: return scalar.span.start
        case .singleQuoted, .doubleQuoted: return scalar.span.start + 1
        case .block:
            // The line of the '|' or '>' is not part of the text.
            let rest = bytes[scalar.span.start..<scalar.span.end]
            return rest.firstIndex(of: Byte.lineFeed) ?? scalar.span.end
        }
    }
}
