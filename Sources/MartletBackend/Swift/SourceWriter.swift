/// Collects the lines of one Swift file, with indentation.
///
/// Emitters say what stands on a line; the writer alone knows where the line begins and how lines end.
struct SourceWriter {
    // Bytes, because a string looks at itself each time it grows.
    private var bytes: [UInt8] = []
    private var depth = 0

    /// - Parameter capacity: the bytes that are likely to be written.
    init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    /// All that was written.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Appends one line at the present depth; an empty line carries no spaces.
    mutating func line(_ content: String = "") {
        if !content.isEmpty {
            bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: depth * 4))
            bytes.append(contentsOf: content.utf8)
        }
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Appends `opening {`, what `body` writes one step deeper, and `}`.
    mutating func block(_ opening: String, _ body: (inout SourceWriter) -> Void) {
        line(opening + " {")
        indented(body)
        line("}")
    }

    /// Appends what `body` writes one step deeper.
    mutating func indented(_ body: (inout SourceWriter) -> Void) {
        depth += 1
        body(&self)
        depth -= 1
    }

    /// Appends `lead`, the items joined by commas, and `tail`, on one line where they fit and wrapped where they do not.
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
