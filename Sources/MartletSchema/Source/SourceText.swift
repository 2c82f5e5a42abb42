/// A line and a column, both counted from 1. The column counts Unicode scalars.
public struct SourcePosition: Hashable, Comparable, Sendable {
    public let line: Int
    public let column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    public static func < (left: SourcePosition, right: SourcePosition) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// The bytes of one schema file and the offsets of its lines.
///
/// A line ends with LF, CRLF or a lone CR. Columns do not count a byte-order mark.
public struct SourceText: Sendable {
    public let file: SourceFileID
    /// The path relative to the schema folder, separated by `/`. Output names are derived from it.
    public let relativePath: String
    /// The path that diagnostics show.
    public let displayPath: String
    public let bytes: [UInt8]
    /// The offset of the first byte of each line.
    public let lineStarts: [Int]
    /// Speeds up the computation of columns in very long lines; nil if no line is very long.
    private let scalarCounts: ScalarCountTable?

    public init(file: SourceFileID, relativePath: String, displayPath: String, bytes: [UInt8]) {
        self.file = file
        self.relativePath = relativePath
        self.displayPath = displayPath
        self.bytes = bytes
        self.lineStarts = SourceText.lineStarts(of: bytes)
        self.scalarCounts = ScalarCountTable(bytes, lineStarts: lineStarts)
    }

    public init(file: SourceFileID, path: String, text: String) {
        self.init(file: file, relativePath: path, displayPath: path, bytes: Array(text.utf8))
    }

    /// 3 if the file begins with a UTF-8 byte-order mark, otherwise 0.
    public var byteOrderMarkLength: Int {
        bytes.count >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF ? 3 : 0
    }

    public var lineCount: Int { lineStarts.count }

    /// The whole file.
    public var span: SourceSpan { SourceSpan(file: file, start: 0, end: bytes.count) }

    /// The number of the line that contains the byte at an offset. Lines are numbered from 0.
    ///
    /// - Complexity: O(log *n*) in the number of lines.
    public func lineIndex(at offset: Int) -> Int {
        var low = 0
        var high = lineStarts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        return low
    }

    /// The line and column of the byte at an offset. An offset inside a scalar counts as the end of the scalar.
    public func position(at offset: Int) -> SourcePosition {
        let clamped = Swift.min(Swift.max(offset, 0), bytes.count)
        let line = lineIndex(at: clamped)
        let start = contentStart(ofLine: line)
        guard clamped > start else { return SourcePosition(line: line + 1, column: 1) }
        return SourcePosition(line: line + 1, column: count(start..<clamped).scalars + 1)
    }

    /// The column of the byte at an offset, in UTF-16 code units, which some formats and editors use. Columns are
    /// numbered from 1.
    public func utf16Column(at offset: Int) -> Int {
        let clamped = Swift.min(Swift.max(offset, 0), bytes.count)
        let start = contentStart(ofLine: lineIndex(at: clamped))
        guard clamped > start else { return 1 }
        let count = count(start..<clamped)
        return count.scalars + count.wide + 1
    }

    /// The byte range of a line, without its line break and without a byte-order mark. Lines are numbered from 0.
    public func lineRange(_ line: Int) -> Range<Int> {
        let start = contentStart(ofLine: line)
        var end = line + 1 < lineStarts.count ? lineStarts[line + 1] : bytes.count
        if end > start, bytes[end - 1] == 0x0A { end -= 1 }
        if end > start, bytes[end - 1] == 0x0D { end -= 1 }
        return start..<end
    }

    /// The text of a line, without its line break. Lines are numbered from 0.
    public func lineText(_ line: Int) -> String {
        String(decoding: bytes[lineRange(line)], as: UTF8.self)
    }

    /// The text of a range. Bytes that are not UTF-8 become replacement characters.
    public func text(of span: SourceSpan) -> String {
        let start = Swift.min(Swift.max(span.start, 0), bytes.count)
        let end = Swift.min(Swift.max(span.end, start), bytes.count)
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    private func contentStart(ofLine line: Int) -> Int {
        line == 0 ? byteOrderMarkLength : lineStarts[line]
    }

    private static func lineStarts(of bytes: [UInt8]) -> [Int] {
        var starts = [0]
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == 0x0A {
                starts.append(index)
            } else if byte == 0x0D {
                if index < bytes.count, bytes[index] == 0x0A { index += 1 }
                starts.append(index)
            }
        }
        return starts
    }

    /// Counts the scalars of a range. A stray continuation byte counts as part of the previous scalar.
    private func count(_ range: Range<Int>) -> ScalarCountTable.Count {
        scalarCounts?.count(range, in: bytes) ?? ScalarCountTable.Count(bytes[range])
    }
}
