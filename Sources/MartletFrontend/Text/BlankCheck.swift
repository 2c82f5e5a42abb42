import MartletSchema

/// Finds Unicode spaces where YAML requires an ASCII space: in indentation, and after the ':' of a key.
///
/// Authors copy such characters from word processors and web pages, and cannot see them. Unicode spaces inside texts
/// are allowed.
struct BlankCheck {
    private(set) var diagnostics: [Diagnostic] = []
    /// Ranges of the source that the YAML parser must read as ASCII spaces.
    private(set) var replacedRanges: [Range<Int>] = []

    private let source: SourceText
    /// The indentation of the key of the current block scalar; nil outside of block scalars.
    private var blockScalarColumn: Int?

    init(_ source: SourceText) {
        self.source = source
        guard source.bytes.contains(where: UnicodeSpace.isLead) else { return }
        for line in 0..<source.lineCount { check(source.lineRange(line)) }
    }

    private mutating func check(_ line: Range<Int>) {
        let spaces = source.bytes[line].prefix { $0 == Byte.space }.count
        guard spaces < line.count else { return }
        if let indentation = blockScalarColumn {
            if spaces > indentation { return }
            blockScalarColumn = nil
        }
        let start = end(ofBlanksAt: line.lowerBound, in: line)
        let rest = source.bytes[start..<line.upperBound]
        if rest.first == Byte.hash { return }
        if let found = rangeFromFirstUnicodeSpace(line.lowerBound..<start), isKeyOrItem(rest) {
            report(found.lowerBound..<start, "indents this line")
        }
        if let last = rest.last(where: { !$0.isBlank }), [UInt8(ascii: "|"), UInt8(ascii: ">")].contains(last) {
            blockScalarColumn = spaces
        }
        for colon in rest.indices where rest[colon] == Byte.colon {
            guard colon + 1 < line.upperBound, UnicodeSpace(source.bytes, at: colon + 1) != nil,
                let key = key(before: colon, from: start)
            else { continue }
            report(colon + 1..<end(ofBlanksAt: colon + 1, in: line), "is after the ':' of '\(key.shortened)'")
        }
    }

    private func end(ofBlanksAt start: Int, in line: Range<Int>) -> Int {
        var index = start
        while index < line.upperBound {
            if source.bytes[index].isBlank {
                index += 1
            } else if let blank = UnicodeSpace(source.bytes, at: index) {
                index += blank.length
            } else {
                break
            }
        }
        return min(index, line.upperBound)
    }

    /// The part of the range that begins with its first Unicode space; nil if the range contains none.
    private func rangeFromFirstUnicodeSpace(_ range: Range<Int>) -> Range<Int>? {
        range.first { UnicodeSpace(source.bytes, at: $0) != nil }.map { $0..<range.upperBound }
    }

    /// Whether the line begins with `name:` or a dash. Other lines can be the continuation of a text.
    private func isKeyOrItem(_ bytes: ArraySlice<UInt8>) -> Bool {
        if bytes.first == Byte.dash { return true }
        let name = bytes.prefix(while: \.isNameByte)
        return !name.isEmpty && name.endIndex < bytes.endIndex && bytes[name.endIndex] == Byte.colon
    }

    /// The key before a colon; nil if the text before the colon is not a key.
    private func key(before colon: Int, from start: Int) -> String? {
        var first = colon
        while first > start, source.bytes[first - 1].isNameByte { first -= 1 }
        guard first < colon else { return nil }
        var before = first
        while before > start, source.bytes[before - 1].isBlank { before -= 1 }
        let opens: [UInt8] = [UInt8(ascii: "{"), Byte.comma, Byte.dash]
        guard before == start || opens.contains(source.bytes[before - 1]) else { return nil }
        return String(decoding: source.bytes[first..<colon], as: UTF8.self)
    }

    /// - Parameter predicate: the words that follow the name of the Unicode space in the message.
    private mutating func report(_ range: Range<Int>, _ predicate: String) {
        guard let first = rangeFromFirstUnicodeSpace(range)?.lowerBound,
            let name = UnicodeSpace(source.bytes, at: first)?.name
        else { return }
        replacedRanges.append(range)
        guard replacedRanges.count <= 100 else { return }
        let span = SourceSpan(file: source.file, start: range.lowerBound, end: range.upperBound)
        diagnostics.append(
            Diagnostic(
                .yamlMistake, "\(name) \(predicate), and YAML reads it as a letter; write a space", at: span,
                label: "looks like a space", help: "write a space",
                fixes: [Fix("write a space", .safe, [Edit(span, spaces(for: range))])]))
    }

    /// One ASCII space for each Unicode scalar in the range.
    func spaces(for range: Range<Int>) -> String {
        String(repeating: " ", count: source.bytes[range].count { $0 & 0xC0 != 0x80 })
    }
}

/// A Unicode space character other than the ASCII space.
struct UnicodeSpace {
    /// Whether a byte can be the first byte of a Unicode space. The function must be fast, because it is called for
    /// every byte of a schema.
    static func isLead(_ byte: UInt8) -> Bool {
        byte == 0xC2 || byte >= 0xE1 && byte <= 0xE3
    }

    let length: Int
    let name: String

    init?(_ bytes: [UInt8], at index: Int) {
        guard Self.isLead(bytes[index]) else { return nil }
        guard bytes[index] != 0xC2 else {
            guard index + 1 < bytes.count, bytes[index + 1] == 0xA0 else { return nil }
            (length, name) = (2, "a no-break space (U+00A0)")
            return
        }
        guard index + 2 < bytes.count else { return nil }
        let scalar =
            UInt32(bytes[index] & 0x0F) << 12 | UInt32(bytes[index + 1] & 0x3F) << 6
            | UInt32(bytes[index + 2] & 0x3F)
        switch scalar {
        case 0x1680, 0x2000...0x200A, 0x202F, 0x205F, 0x3000:
            length = 3
            name = "a Unicode space (U+\(String(scalar, radix: 16, uppercase: true)))"
        default: return nil
        }
    }
}
