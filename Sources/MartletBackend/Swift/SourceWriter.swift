/// Collects the indented lines of one Swift file.
///
/// Emitters provide the contents of lines; the writer adds indentation and line ends.
struct SourceWriter {
    // The text is stored as bytes, because each append to a string would check the contents of the string.
    private var bytes: [UInt8] = []
    private var depth = 0

    /// - Parameter capacity: the expected number of bytes.
    init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    /// The text written so far.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Appends one line at the current depth. An empty line has no trailing spaces.
    mutating func line(_ content: String = "") {
        if !content.isEmpty {
            bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: depth * 4))
            bytes.append(contentsOf: content.utf8)
        }
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Appends `opening {`, the indented output of `body`, and `}`.
    mutating func block(_ opening: String, _ body: (inout SourceWriter) -> Void) {
        line(opening + " {")
        indented(body)
        line("}")
    }

    /// Appends the output of `body`, indented by one level.
    mutating func indented(_ body: (inout SourceWriter) -> Void) {
        depth += 1
        body(&self)
        depth -= 1
    }

    /// Appends `lead`, the items separated by commas, and `tail`. If the text does not fit on one line, the items are
    /// written on further, indented lines.
    mutating func wrapped(_ lead: String, _ items: [String], _ tail: String) {
        let oneLine = lead + items.joined(separator: ", ") + tail
        if depth * 4 + oneLine.utf8.count <= SourceWriter.lineLength {
            return line(oneLine)
        }
        line(lead)
        indented { $0.fill(items) }
        line(tail)
    }

    private mutating func fill(_ items: [String]) {
        var current = ""
        for (index, item) in items.enumerated() {
            let piece = index == items.count - 1 ? item : item + ","
            let joined = current.isEmpty ? piece : current + " " + piece
            if !current.isEmpty, depth * 4 + joined.utf8.count > SourceWriter.lineLength {
                line(current)
                current = piece
            } else {
                current = joined
            }
        }
        if !current.isEmpty { line(current) }
    }

    private static let lineLength = 120
}
