import MartletFrontend
import MartletSchema

/// Builds the lines of a formatted file.
struct LayoutLines {
    private struct Line {
        var text: String
        var comment: String?
        /// Whether a nested block, or the content of a flow list or mapping, begins after the line. The formatter adds
        /// no blank line after such a line.
        var startsBlock = false
    }

    private var lines: [Line] = []
    /// Whether the next text continues the last line, because this line ends with a `-` or a `:`.
    private(set) var continuesLine = false

    /// The width of the last line in Unicode scalars.
    var width: Int { lines.last?.text.unicodeScalars.count ?? 0 }

    var isEmpty: Bool { lines.isEmpty }

    /// Writes a text to a new line, or appends it to the last line if `continuesLine` is true.
    mutating func begin(_ text: String, indent: Int) {
        if continuesLine {
            append(" " + text)
        } else {
            lines.append(Line(text: String(repeating: " ", count: indent) + text))
        }
        continuesLine = false
    }

    mutating func append(_ text: String) {
        if lines.isEmpty { lines.append(Line(text: "")) }
        lines[lines.count - 1].text += text
    }

    /// Adds a line without changing its text.
    mutating func add(_ text: String) {
        lines.append(Line(text: text))
    }

    /// Makes the next text continue the last line.
    mutating func continueLine() { continuesLine = true }

    mutating func markBlockStart() {
        if !lines.isEmpty { lines[lines.count - 1].startsBlock = true }
    }

    /// Adds a blank line. No blank line is added at the start of the file, after a blank line, or after the start of a
    /// block.
    mutating func addBlank() {
        guard let last = lines.last, !last.startsBlock, !last.text.isEmpty else { return }
        lines.append(Line(text: ""))
    }

    /// Adds a trailing comment to the last line.
    ///
    /// - Returns: false if the last line cannot have a trailing comment.
    mutating func attach(comment: String) -> Bool {
        guard let last = lines.last, last.comment == nil, !last.text.isEmpty, !last.text.isComment else { return false }
        lines[lines.count - 1].comment = comment
        return true
    }

    /// The text of all lines. The trailing comments of consecutive lines are aligned.
    func render() -> String {
        var text = ""
        var index = 0
        while index < lines.count {
            var end = index
            while end < lines.count, lines[end].comment != nil { end += 1 }
            let column = (lines[index..<end].map(\.text.unicodeScalars.count).max() ?? 0) + 2
            for line in lines[index..<end] {
                let padding = String(repeating: " ", count: column - line.text.unicodeScalars.count)
                text += line.text + padding + (line.comment ?? "") + "\n"
            }
            if end == index {
                text += lines[index].text + "\n"
                end += 1
            }
            index = end
        }
        return text
    }
}

extension String {
    fileprivate var isComment: Bool { utf8.first { $0 != Byte.space } == Byte.hash }
}
