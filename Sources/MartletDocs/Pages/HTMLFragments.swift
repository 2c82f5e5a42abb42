/// Builds fragments of the page. All text from a schema is escaped with `Markup`.
struct HTMLFragments {
    let anchors: Set<String>

    /// A name as a link to its declaration. If the page does not contain the declaration, the name is plain text.
    func link(_ anchor: String, _ text: String? = nil) -> String {
        let shown = Markup.escapedLine(text ?? anchor)
        guard anchors.contains(anchor) else { return shown }
        return "<a href=\"#\(Markup.escapedLine(anchor))\">\(shown)</a>"
    }

    /// Formats documentation. Empty lines separate paragraphs. Text in backquotes becomes code, and a link if it is the
    /// name of a declaration.
    ///
    /// - Parameter owner: the type whose members can be referenced without the type name.
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
        // An unpaired backquote is ordinary text.
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
