/// Writes a diagram for Graphviz. Boxes are tables in HTML-like labels; lines connect their rows.
struct DOTWriter {
    private let diagram: DiagramModel

    init(_ diagram: DiagramModel) {
        self.diagram = diagram
    }

    var text: String {
        var text = """
            digraph schema {
              graph [rankdir=LR, nodesep=0.35, ranksep=1.1, fontname="Helvetica"]
              node [shape=plain, fontname="Helvetica", fontsize=11]
              edge [fontname="Helvetica", fontsize=9, color="#475582"]

            """
        for box in diagram.boxes { text += node(of: box) }
        for relation in diagram.relations { text += edge(of: relation) }
        return text + "}\n"
    }

    // MARK: Boxes

    private func node(of box: DiagramBox) -> String {
        let color =
            switch box.kind {
            case .object: "#dce5fb"
            case .embedded: "#d5f0e0"
            case .enumeration: "#fbeac6"
            case .projection: "#e8defa"
            }
        let kind = box.kind == .object ? "" : "<br/><font point-size=\"9\">\(box.kind.rawValue)</font>"
        let tip = DOTWriter.quoted(box.documentation ?? box.name)
        var text = "  \(DOTWriter.quoted(box.name)) [tooltip=\(tip), label=<\n"
        text += "    <table border=\"0\" cellborder=\"1\" cellspacing=\"0\" cellpadding=\"4\" color=\"#8792b5\">\n"
        text +=
            "      <tr><td port=\"head\" bgcolor=\"\(color)\"><b>\(Markup.escapedLine(box.name))</b>\(kind)</td></tr>\n"
        for (index, row) in box.rows.enumerated() { text += tableRow(row, index) }
        return text + "    </table>>]\n"
    }

    private func tableRow(_ row: DiagramRow, _ index: Int) -> String {
        let name = Markup.escapedLine(row.name)
        let marked = row.isPrimaryKey ? "<b><u>\(name)</u></b>" : row.isDeprecated ? "<s>\(name)</s>" : name
        let detail = Markup.escapedLine(TextMeasure.shortened(row.detail, size: 11, to: SVGBox.maximumDetailWidth))
        let tail = detail.isEmpty ? "" : " <font color=\"#5c6582\">\(detail)</font>"
        return "      <tr><td port=\"r\(index)\" align=\"left\">\(marked)\(tail)</td></tr>\n"
    }

    // MARK: Lines

    private func edge(of relation: DiagramRelation) -> String {
        let source = place(relation.source, relation.sourceRow)
        let target = place(relation.target, relation.targetRow)
        var attributes: [(String, String)] = []
        let tip = diagram.sentence(about: relation)
        switch relation.kind {
        case .link:
            attributes = [("arrowhead", relation.isToMany ? "crow" : "normal")]
            attributes += [("headlabel", relation.multiplicityText)]
        case .embedding:
            attributes = [("dir", "both"), ("arrowtail", "diamond")]
            attributes += [("arrowhead", relation.isToMany ? "crow" : "none"), ("color", "#2f7d55")]
            attributes += [("headlabel", relation.multiplicityText)]
        case .use: attributes = [("style", "dashed"), ("arrowhead", "vee"), ("color", "#98701c")]
        case .projection: attributes = [("style", "dashed"), ("arrowhead", "empty"), ("color", "#7a4fb5")]
        }
        attributes += [("tooltip", tip)]
        if relation.sourceRow == nil { attributes += [("label", relation.label)] }
        let list = attributes.map { "\($0)=\(DOTWriter.quoted($1))" }.joined(separator: ", ")
        return "  \(source) -> \(target) [\(list)]\n"
    }

    private func place(_ box: Int, _ row: Int?) -> String {
        "\(DOTWriter.quoted(diagram.boxes[box].name)):\(row.map { "r\($0)" } ?? "head")"
    }

    /// Quotes and escapes a text. Graphviz interprets backslashes and HTML entities in quoted text.
    static func quoted(_ text: String) -> String {
        "\""
            + Markup.escapedLine(text).split(separator: "\\", omittingEmptySubsequences: false)
            .joined(separator: "\\\\") + "\""
    }
}
