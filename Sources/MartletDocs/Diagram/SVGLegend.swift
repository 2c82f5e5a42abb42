/// Draws the legend, which explains the colors, lines and line ends that occur in the diagram.
struct SVGLegend {
    private(set) var text = ""
    private(set) var width = 0
    private(set) var height = 0
    private var x = 0

    init(_ diagram: DiagramModel, width limit: Int) {
        for kind in DiagramBox.Kind.allCases where diagram.boxes.contains(where: { $0.kind == kind }) {
            add(
                "<rect class=\"frame\" y=\"2\" width=\"22\" height=\"12\" rx=\"3\"/><path class=\"head\" d=\"M0 5Q0 2 3 2H19Q22 2 22 5V8H0Z\"/>",
                classes: "box \(kind.rawValue)", symbolWidth: 22, kind.rawValue, limit)
        }
        if diagram.boxes.contains(where: { $0.rows.contains(where: \.isPrimaryKey) }) {
            add(SVGStyle.key(x: 0, y: 3), classes: "row key", symbolWidth: 12, "primary key", limit)
        }
        let lines: [(DiagramRelation.Kind, Bool, String)] = [
            (.link, false, "link to one"), (.link, true, "links to many"), (.embedding, false, "embeds one"),
            (.embedding, true, "embeds many"), (.use, false, "enum value"), (.use, true, "enum values"),
            (.projection, false, "projection of"),
        ]
        for (kind, isToMany, words) in lines
        where diagram.relations.contains(where: { $0.kind == kind && $0.isToMany == isToMany }) {
            add(
                "<path class=\"stroke\" d=\"M44 8H0\"/>", classes: "line \(kind.rawValue)\(isToMany ? " many" : "")",
                symbolWidth: 44, words, limit)
        }
        if !text.isEmpty { height += 20 }
    }

    private mutating func add(_ symbol: String, classes: String, symbolWidth: Int, _ words: String, _ limit: Int) {
        let needed = symbolWidth + 7 + TextMeasure.width(words, size: SVGBox.rowFontSize)
        if x > 0, x + needed > limit {
            x = 0
            height += 20
        }
        text += "<g class=\"\(classes)\" transform=\"translate(\(x) \(height))\">\(symbol)</g>"
        text += "<text x=\"\(x + symbolWidth + 7)\" y=\"\(height + 12)\">\(words)</text>\n"
        width = max(width, x + needed)
        x += needed + 20
    }
}
