/// Pieces of the page. Everything that comes from a schema goes through `Markup`.
struct HTMLText {
    let anchors: Set<String>

    /// A name that leads to its place, where there is one.
    func link(_ anchor: String, _ text: String? = nil) -> String {
        let shown = Markup.escapedLine(text ?? anchor)
        guard anchors.contains(anchor) else { return shown }
        return "<a href=\"#\(Markup.escapedLine(anchor))\">\(shown)</a>"
    }

    /// Paragraphs stand between empty lines; what stands in backquotes is code, and leads to what it names.
    ///
    /// - Parameter owner: the type whose members need not be qualified.
    func documentation(_ text: String?, in owner: String) -> String {
        guard let text else { return "" }
        var paragraphs: [[Substring]] = [[]]
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.allSatisfy(\.isWhitespace) {
                paragraphs.append([])
            } else {
                paragraphs[paragraphs.count - 1].append(line)
            }
        }
        let shown = paragraphs.filter { !$0.isEmpty }.map { lines in
            "<p>\(withCode(lines.joined(separator: "\n"), in: owner))</p>"
        }
        return shown.isEmpty ? "" : "<div class=\"doc\">\(shown.joined(separator: "\n"))</div>\n"
    }

    private func withCode(_ text: String, in owner: String) -> String {
        let pieces = text.split(separator: "`", omittingEmptySubsequences: false)
        // A backquote without a partner is text.
        let paired = pieces.count.isMultiple(of: 2) ? pieces.count - 1 : pieces.count
        var result = ""
        for (index, piece) in pieces.enumerated() {
            if index >= paired {
                result += "`" + Markup.escaped(String(piece))
            } else if index.isMultiple(of: 2) {
                result += Markup.escaped(String(piece))
            } else {
                let name = String(piece)
                let anchor = anchors.contains(name) ? name : "\(owner).\(name)"
                result += "<code>\(link(anchor, name))</code>"
            }
        }
        return result
    }

    static func badge(_ text: String, _ style: String = "") -> String {
        "<span class=\"badge\(style.isEmpty ? "" : " " + style)\">\(Markup.escapedLine(text))</span>"
    }

    static func count(_ number: Int, _ one: String, _ many: String) -> String {
        "\(number) \(number == 1 ? one : many)"
    }
}
