/// A place as people count it: line and column from 1, columns in Unicode scalars.
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

/// The bytes of one schema file with a table of its lines.
///
/// A line ends with LF, CRLF or a lone CR. A byte-order mark counts as no column.
public struct SourceText: Sendable {
    public let file: SourceFileID
    /// Relative to the schema folder, with `/`: what output names are made of.
    public let relativePath: String
    /// As findings show it.
    public let displayPath: String
    public let bytes: [UInt8]
    /// The offset of the first byte of each line.
    public let lineStarts: [Int]
    /// Makes columns of very long lines cheap; nil when there is no such line.
    private let columns: ColumnIndex?

    public init(file: SourceFileID, relativePath: String, displayPath: String, bytes: [UInt8]) {
        self.file = file
        self.relativePath = relativePath
        self.displayPath = displayPath
        self.bytes = bytes
        self.lineStarts = SourceText.lineStarts(of: bytes)
        self.columns = ColumnIndex(bytes, lineStarts: lineStarts)
    }

    public init(file: SourceFileID, path: String, text: String) {
        self.init(file: file, relativePath: path, displayPath: path, bytes: Array(text.utf8))
    }

    /// 3 with a UTF-8 byte-order mark, else 0.
    public var markLength: Int {
        bytes.count >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF ? 3 : 0
    }

    public var lineCount: Int { lineStarts.count }

    /// The whole file.
    public var span: SourceSpan { SourceSpan(file: file, start: 0, end: bytes.count) }

    /// The number of the line, from 0, that holds this byte.
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

    /// Line and column of a byte, both from 1; an offset inside a scalar counts as its beginning.
    public func position(at offset: Int) -> SourcePosition {
        let clamped = Swift.min(Swift.max(offset, 0), bytes.count)
        let line = lineIndex(at: clamped)
        let start = contentStart(ofLine: line)
        guard clamped > start else { return SourcePosition(line: line + 1, column: 1) }
        return SourcePosition(line: line + 1, column: count(start..<clamped).scalars + 1)
    }

    /// The column of a byte, from 1, in UTF-16 code units, as some formats and editors count.
    public func utf16Column(at offset: Int) -> Int {
        let clamped = Swift.min(Swift.max(offset, 0), bytes.count)
        let start = contentStart(ofLine: lineIndex(at: clamped))
        guard clamped > start else { return 1 }
        let count = count(start..<clamped)
        return count.scalars + count.wide + 1
    }

    /// The bytes of a line, from 0, without its line break and without a byte-order mark.
    public func lineRange(_ line: Int) -> Range<Int> {
        let start = contentStart(ofLine: line)
        var end = line + 1 < lineStarts.count ? lineStarts[line + 1] : bytes.count
        if end > start, bytes[end - 1] == 0x0A { end -= 1 }
        if end > start, bytes[end - 1] == 0x0D { end -= 1 }
        return start..<end
    }

    /// The text of a line, from 0, without its line break.
    public func lineText(_ line: Int) -> String {
        String(decoding: bytes[lineRange(line)], as: UTF8.self)
    }

    /// The text of a range; bytes that are no UTF-8 become replacement characters.
    public func text(of span: SourceSpan) -> String {
        let start = Swift.min(Swift.max(span.start, 0), bytes.count)
        let end = Swift.min(Swift.max(span.end, start), bytes.count)
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    private func contentStart(ofLine line: Int) -> Int {
        line == 0 ? markLength : lineStarts[line]
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

    /// Counts the bytes that begin a scalar; a stray continuation byte belongs to what stands before it.
    private func count(_ range: Range<Int>) -> ColumnIndex.Count {
        columns?.count(range, in: bytes) ?? ColumnIndex.Count(bytes[range])
    }
}
