/// The range of the bytes of a field in its file.
struct CSVField {
    var start: Int
    var end: Int
    /// Whether the field contains doubled quotes. If so, `text(in:)` replaces each pair of quotes with one quote.
    var isEscaped = false

    func text(in bytes: UnsafeRawBufferPointer) -> String {
        let slice = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        guard isEscaped else { return String(decoding: slice, as: UTF8.self) }
        var unescaped: [UInt8] = []
        var index = 0
        while index < slice.count {
            unescaped.append(slice[index])
            index += slice[index] == CSVScanner.quote ? 2 : 1
        }
        return String(decoding: unescaped, as: UTF8.self)
    }
}

/// Splits one row of a CSV file into fields.
struct CSVScanner {
    static let quote = UInt8(ascii: "\"")
    private static let comma = UInt8(ascii: ","), lineFeed = UInt8(ascii: "\n"), carriageReturn = UInt8(ascii: "\r")

    private(set) var position: Int
    /// The number of lines of the row: more than one if a quoted field contains line breaks.
    private(set) var lines = 1

    init(start: Int) { position = start }

    /// Appends the fields of the row at `position` to `fields`, and advances `position` to the next row. Returns a
    /// description of the error, if there is one.
    mutating func scanRow(_ bytes: UnsafeRawBufferPointer, into fields: inout [CSVField]) -> String? {
        while true {
            let isQuoted = position < bytes.count && bytes[position] == Self.quote
            if let problem = isQuoted ? scanQuoted(bytes, into: &fields) : scanPlain(bytes, into: &fields) {
                return problem
            }
            guard position < bytes.count else { return nil }
            let separator = bytes[position]
            position += 1
            if separator == Self.lineFeed { return nil }
        }
    }

    // Appends a field without quotes. Stops at the separator that ends the field, and does not consume it.
    private mutating func scanPlain(_ bytes: UnsafeRawBufferPointer, into fields: inout [CSVField]) -> String? {
        let start = position
        while position < bytes.count, bytes[position] != Self.comma, bytes[position] != Self.lineFeed {
            if bytes[position] == Self.quote { return "a quote inside a field that does not begin with one" }
            if bytes[position] == 0 { return "a zero byte: this is not text" }
            position += 1
        }
        let endsLine = position == bytes.count || bytes[position] == Self.lineFeed
        let hasReturn = endsLine && position > start && bytes[position - 1] == Self.carriageReturn
        fields.append(CSVField(start: start, end: hasReturn ? position - 1 : position))
        return nil
    }

    private mutating func scanQuoted(_ bytes: UnsafeRawBufferPointer, into fields: inout [CSVField]) -> String? {
        position += 1
        var field = CSVField(start: position, end: position)
        while true {
            guard position < bytes.count else { return "a quote that is never closed" }
            let byte = bytes[position]
            position += 1
            if byte == Self.lineFeed { lines += 1 }
            guard byte == Self.quote else { continue }
            guard position < bytes.count, bytes[position] == Self.quote else { break }
            field.isEscaped = true
            position += 1
        }
        field.end = position - 1
        fields.append(field)
        if position + 1 < bytes.count, bytes[position] == Self.carriageReturn, bytes[position + 1] == Self.lineFeed {
            position += 1
        }
        guard position == bytes.count || bytes[position] == Self.comma || bytes[position] == Self.lineFeed else {
            return "text after a closing quote"
        }
        return nil
    }
}
