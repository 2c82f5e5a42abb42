import MartletSchema

/// The lines of a laid-out text as they come to be.
struct LayoutLines {
    private struct Line {
        var text: String
        var comment: String?
        /// Ends with what opens a block: no blank line stands behind it.
        var isOpening = false
    }

    private var lines: [Line] = []
    /// True when the last line waits for what stands behind its dash.
    private(set) var isOpen = false

    /// Of the last line, in Unicode scalars.
    var width: Int { lines.last?.text.unicodeScalars.count ?? 0 }

    var isEmpty: Bool { lines.isEmpty }

    /// Begins a line, or goes on with the open one.
    mutating func begin(_ text: String, indent: Int) {
        if isOpen {
            append(" " + text)
        } else {
            lines.append(Line(text: String(repeating: " ", count: indent) + text))
        }
        isOpen = false
    }

    mutating func append(_ text: String) {
        if lines.isEmpty { lines.append(Line(text: "")) }
        lines[lines.count - 1].text += text
    }

    /// A line as it is.
    mutating func add(_ text: String) {
        lines.append(Line(text: text))
    }

    mutating func open() { isOpen = true }

    mutating func markOpening() {
        if !lines.isEmpty { lines[lines.count - 1].isOpening = true }
    }

    /// At most one blank line, and none at the beginning of the file or of a block.
    mutating func addBlank() {
        guard let last = lines.last, !last.isOpening, !last.text.isEmpty else { return }
        lines.append(Line(text: ""))
    }

    /// False when the last line cannot take a comment at its end.
    mutating func attach(comment: String) -> Bool {
        guard let last = lines.last, last.comment == nil, !last.text.isEmpty, !last.text.isComment else { return false }
        lines[lines.count - 1].comment = comment
        return true
    }

    /// Comments at the ends of neighbouring lines stand below each other.
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
