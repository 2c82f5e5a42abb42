import MartletSchema

/// Recovery from invalid escapes in double-quoted scalars.
extension RecoveryRules {
    /// Recovers from invalid escapes. One diagnostic reports all invalid escapes of a scalar, because a path or a
    /// regular expression can contain many.
    @Sendable static func badEscape(_ site: FailureSite) -> SyntaxRecovery? {
        // 'hexdecimal' is the spelling in the message of libyaml.
        guard site.contextContains("quoted scalar"),
            site.problemContains("escape") || site.problemContains("hexdecimal"),
            let opening = site.failure.contextOffset
        else { return nil }
        let scan = EscapeScan(site.bytes, from: opening)
        guard let first = scan.bad.first, let last = scan.bad.last else { return nil }
        let range = first.range.lowerBound..<last.range.upperBound
        var corrected: [UInt8] = []
        var cursor = range.lowerBound
        for escape in scan.bad {
            corrected += site.bytes[cursor..<escape.range.lowerBound] + escape.replacement
            cursor = escape.range.upperBound
        }
        var notes: [DiagnosticNote] = []
        if scan.bad.count > 1 {
            let others = scan.bad.count == 2 ? "one more escape" : "\(scan.bad.count - 1) more escapes"
            notes.append(DiagnosticNote("\(others) of this text cannot be read"))
        }
        if let known = scan.firstKnown, scan.bad.contains(where: { $0.kind == .unknown }) {
            notes.append(
                DiagnosticNote(
                    "'\(site.lines.text(known))' is a valid YAML escape; if a backslash is meant, "
                        + "write the backslash twice here too",
                    at: site.text.span(known)))
        }
        let text = String(decoding: corrected, as: UTF8.self)
        let (reason, help) = advice(on: first)
        let isCertain =
            scan.firstKnown == nil && scan.bad.allSatisfy { $0.kind == .unknown || $0.kind == .quote }
        let fix = Fix(help, isCertain ? .safe : .suggested, [Edit(site.text.span(range), text)])
        let hasFix = scan.bad.allSatisfy { $0.kind != .noScalar }
        let word = first.kind == .unknown ? "unknown escape" : "invalid escape"
        let diagnostic = Diagnostic(
            .yamlMistake,
            "\(word) '\(site.lines.text(first.range).shortened)' in double quotes; \(reason)\(help)",
            at: site.text.span(first.range), notes: notes, help: help, fixes: hasFix ? [fix] : [])
        return SyntaxRecovery(diagnostic, replace: range, with: text)
    }

    private static func advice(on escape: BadEscape) -> (reason: String, help: String) {
        switch escape.kind {
        case .unknown: ("", "write the backslash twice")
        case .quote: ("", "write the single quote without a backslash")
        case .surrogates:
            ("YAML has no surrogates, ", "write '\(String(decoding: escape.replacement, as: UTF8.self))'")
        case .noScalar: ("no character has this number, ", "write the character itself")
        case .digits(let count): ("", "write all \(count) hexadecimal digits, or the backslash twice")
        }
    }
}

/// An escape that libyaml rejects.
struct BadEscape {
    enum Kind: Equatable {
        /// A backslash that does not begin a YAML escape, as in the regular expression `\d` or in the path `C:\xml`.
        case unknown
        /// The escape `\'`, which YAML does not have.
        case quote
        /// Two escapes for the halves of a surrogate pair, as in JSON.
        case surrogates
        /// A number that is not a Unicode scalar value, such as half of a surrogate pair.
        case noScalar
        /// A numeric escape with too few digits. The associated value is the required number of digits.
        case digits(Int)
    }

    let range: Range<Int>
    let kind: Kind
    let replacement: [UInt8]
}

/// Scans all escapes of a double-quoted scalar in order, so that an escaped backslash does not start another escape.
struct EscapeScan {
    private(set) var bad: [BadEscape] = []
    /// The first valid escape that may be unintended, such as `\n` in the path `C:\new`.
    private(set) var firstKnown: Range<Int>?

    private let bytes: [UInt8]

    /// - Parameter opening: the offset of the opening quote.
    init(_ bytes: [UInt8], from opening: Int) {
        self.bytes = bytes
        var index = opening + 1
        while index < bytes.count, bytes[index] != Byte.doubleQuote {
            index = bytes[index] == Byte.backslash ? readEscape(at: index) : index + 1
        }
    }

    /// - Returns: the offset after the escape.
    private mutating func readEscape(at start: Int) -> Int {
        guard start + 1 < bytes.count else { return bytes.count }
        let byte = bytes[start + 1]
        switch byte {
        case Byte.backslash, Byte.doubleQuote, UInt8(ascii: "/"), Byte.lineFeed, Byte.carriageReturn:
            return start + 2
        case Byte.singleQuote:
            return record(start..<start + 2, .quote, [Byte.singleQuote])
        case UInt8(ascii: "x"): return readNumber(at: start, digits: 2)
        case UInt8(ascii: "u"): return readNumber(at: start, digits: 4)
        case UInt8(ascii: "U"): return readNumber(at: start, digits: 8)
        case let byte where Self.known.contains(byte):
            firstKnown = firstKnown ?? start..<start + 2
            return start + 2
        default: return recordUnknown(start)
        }
    }

    /// The second characters of the valid escapes that the cases above do not handle.
    private static let known = Set("0abtnvfre N_LP\t".utf8)

    private mutating func readNumber(at start: Int, digits: Int) -> Int {
        let end = start + 2 + digits
        let count = bytes[(start + 2)..<min(end, bytes.count)].prefix { $0.hexadecimalValue != nil }.count
        guard count > 0 else { return recordUnknown(start) }
        guard count == digits, let value = number(at: start, digits) else {
            return record(
                start..<start + 2 + count, .digits(digits), [Byte.backslash] + bytes[start..<start + 2 + count])
        }
        if Unicode.Scalar(value) != nil {
            firstKnown = firstKnown ?? start..<end
            return end
        }
        if (0xD800..<0xDC00).contains(value), digits == 4, end + 6 <= bytes.count, bytes[end] == Byte.backslash,
            bytes[end + 1] == UInt8(ascii: "u"), let low = number(at: end, 4), (0xDC00..<0xE000).contains(low)
        {
            let scalar = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
            let text = String(scalar, radix: 16, uppercase: true)
            let zeros = String(repeating: "0", count: 8 - text.utf8.count)
            return record(start..<end + 6, .surrogates, Array("\\U\(zeros)\(text)".utf8))
        }
        return record(start..<end, .noScalar, Array("\\uFFFD".utf8))
    }

    private func number(at start: Int, _ digits: Int) -> UInt32? {
        var value: UInt32 = 0
        for byte in bytes[(start + 2)..<start + 2 + digits] {
            guard let digit = byte.hexadecimalValue else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    private mutating func recordUnknown(_ start: Int) -> Int {
        let end = bytes.utf8SequenceEnd(start + 2)
        return record(start..<end, .unknown, [Byte.backslash] + bytes[start..<end])
    }

    private mutating func record(_ range: Range<Int>, _ kind: BadEscape.Kind, _ replacement: [UInt8]) -> Int {
        bad.append(BadEscape(range: range, kind: kind, replacement: replacement))
        return range.upperBound
    }
}
