/// The lines of a `PatchedText`, which is the text of a schema file with the edits of the syntax recovery. Recovery
/// rules examine the lines around a syntax error.
struct TextLines {
    let bytes: [UInt8]
    private let starts: [Int]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var starts = [0]
        for (offset, byte) in bytes.enumerated() {
            let isBreak =
                byte == Byte.lineFeed
                || byte == Byte.carriageReturn && !(offset + 1 < bytes.count && bytes[offset + 1] == Byte.lineFeed)
            if isBreak { starts.append(offset + 1) }
        }
        self.starts = starts
    }

    var count: Int { starts.count }

    func line(at offset: Int) -> Int {
        var low = 0
        var high = starts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= offset { low = middle } else { high = middle }
        }
        return low
    }

    /// The range of a line without its line break.
    func range(_ line: Int) -> Range<Int> {
        let start = starts[line]
        var end = line + 1 < starts.count ? starts[line + 1] : bytes.count
        while end > start, bytes[end - 1].isLineBreak { end -= 1 }
        return start..<end
    }

    /// The range of a line without indentation, trailing blanks and comment.
    func content(_ line: Int) -> Range<Int> {
        let range = range(line)
        var start = range.lowerBound
        while start < range.upperBound, bytes[start].isBlank { start += 1 }
        var end = range.upperBound
        var index = start
        var quote: UInt8?
        while index < range.upperBound {
            let byte = bytes[index]
            if let open = quote {
                if byte == Byte.backslash, open == Byte.doubleQuote { index += 1 }
                if byte == open { quote = nil }
            } else if byte == Byte.doubleQuote || byte == Byte.singleQuote {
                quote = byte
            } else if byte == Byte.hash, index == start || bytes[index - 1].isBlank {
                end = index
                break
            }
            index += 1
        }
        while end > start, bytes[end - 1].isBlank { end -= 1 }
        return start..<max(start, end)
    }

    func indentation(_ line: Int) -> Int {
        content(line).lowerBound - range(line).lowerBound
    }

    func isBlankOrComment(_ line: Int) -> Bool { content(line).isEmpty }

    /// The nearest previous line that is neither blank nor a comment.
    func previous(_ line: Int) -> Int? {
        var current = line - 1
        while current >= 0 {
            if !isBlankOrComment(current) { return current }
            current -= 1
        }
        return nil
    }

    /// The range of the key at the start of a line, after the dashes of list items, and the range of its value.
    func keyAndValue(_ line: Int) -> (key: Range<Int>, value: Range<Int>)? {
        let content = content(line)
        var start = content.lowerBound
        while start + 1 < content.upperBound, bytes[start] == Byte.dash, bytes[start + 1].isBlank {
            start += 1
            while start < content.upperBound, bytes[start].isBlank { start += 1 }
        }
        var end = start
        while end < content.upperBound, bytes[end].isNameByte { end += 1 }
        guard end > start, end < content.upperBound, bytes[end] == Byte.colon else { return nil }
        var value = end + 1
        guard value == content.upperBound || bytes[value].isBlank else { return nil }
        while value < content.upperBound, bytes[value].isBlank { value += 1 }
        return (start..<end, value..<content.upperBound)
    }

    func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }

    /// A line and its nested lines: the lines directly below it that are indented more deeply.
    func block(_ line: Int) -> Range<Int> {
        let depth = indentation(line)
        var last = line
        var current = line + 1
        while current < count {
            if !isBlankOrComment(current) {
                guard indentation(current) > depth else { break }
                last = current
            }
            current += 1
        }
        return range(line).lowerBound..<range(last).upperBound
    }
}
