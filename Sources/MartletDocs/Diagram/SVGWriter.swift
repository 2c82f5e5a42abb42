/// Writes a self-contained SVG, without external fonts, scripts or style sheets.
struct SVGWriter {
    private static let margin = 24

    private let diagram: DiagramModel
    private let boxes: [SVGBox]
    let picture: LayoutPicture
    /// Returns the link target of a box, for diagrams in pages.
    private let linkTarget: ((DiagramBox) -> String)?

    init(_ diagram: DiagramModel, linkTarget: ((DiagramBox) -> String)? = nil) {
        self.diagram = diagram
        self.linkTarget = linkTarget
        var ends: [Set<SVGBox.LineEnd>] = diagram.boxes.map { _ in [] }
        for relation in diagram.relations where relation.targetRow == nil {
            ends[relation.target].insert(relation.lineEnd)
        }
        let starts = SVGWriter.starts(of: diagram)
        let boxes = diagram.boxes.indices.map { SVGBox(diagram.boxes[$0], ends: ends[$0], starts: starts[$0].count) }
        self.boxes = boxes
        picture = GraphLayout.picture(of: SVGWriter.graph(of: diagram, boxes, starts))
    }

    /// Lines with equal keys form a bundle.
    private struct BundleKey: Hashable {
        let kind: DiagramRelation.Kind
        let target: Int
        let offset: Int
    }

    /// Lines that start at the head of one box form a group if their keys are equal.
    fileprivate struct StartKey: Hashable {
        let target: Int
        let targetRow: Int?
        let end: SVGBox.LineEnd
    }

    /// For each box, the groups of lines that start at its head, with the index of each group. All lines of a group
    /// start at the same position.
    private static func starts(of diagram: DiagramModel) -> [[StartKey: Int]] {
        var starts: [[StartKey: Int]] = diagram.boxes.map { _ in [:] }
        for relation in diagram.relations where relation.sourceRow == nil {
            let key = StartKey(relation)
            let count = starts[relation.source].count
            if starts[relation.source][key] == nil { starts[relation.source][key] = count }
        }
        return starts
    }

    /// The layout graph. Lines of one kind that end at the same position form a bundle.
    private static func graph(
        of diagram: DiagramModel, _ boxes: [SVGBox], _ starts: [[StartKey: Int]]
    ) -> LayoutGraph {
        var bundles: [BundleKey: Int] = [:]
        let edges = diagram.relations.map { relation in
            let source = boxes[relation.source]
            let target = boxes[relation.target]
            let end = relation.targetRow.map(target.offset(ofRow:)) ?? target.offset(of: relation.lineEnd)
            let key = BundleKey(kind: relation.kind, target: relation.target, offset: end)
            let bundle = bundles[key] ?? bundles.count
            bundles[key] = bundle
            return LayoutEdge(
                source: relation.source,
                sourceOffset: relation.sourceRow.map(source.offset(ofRow:))
                    ?? source.offset(ofStart: starts[relation.source][StartKey(relation)] ?? 0),
                target: relation.target, targetOffset: end, bundle: bundle)
        }
        return LayoutGraph(nodes: boxes.map { LayoutNode(width: $0.width, height: $0.height) }, edges: edges)
    }

    // MARK: The document

    var document: String { "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + element }

    /// The SVG element without the XML declaration, for embedding in a page.
    var element: String {
        let legend = SVGLegend(diagram, width: max(picture.width, 420))
        let width = max(picture.width, legend.width) + 2 * Self.margin
        let height = picture.height + legend.height + 2 * Self.margin + (picture.height > 0 ? 26 : 0)
        let count = "\(diagram.boxes.count) \(diagram.boxes.count == 1 ? "type" : "types")"
        let lines = "\(diagram.relations.count) \(diagram.relations.count == 1 ? "line" : "lines")"
        var text = """
            <svg xmlns="http://www.w3.org/2000/svg" class="martlet-diagram" viewBox="0 0 \(width) \(height)" \
            width="\(width)" height="\(height)" role="\(linkTarget == nil ? "img" : "group")" \
            aria-label="Diagram of the schema: \(count), \(lines)">
            <style>
            \(SVGStyle.text)</style>
            \(SVGStyle.markers)
            <rect class="paper" width="\(width)" height="\(height)"/>
            <g transform="translate(\(Self.margin) \(Self.margin))">

            """
        for index in diagram.relations.indices { text += line(index) }
        for index in boxes.indices { text += box(index) }
        text += "<g class=\"legend\" transform=\"translate(0 \(picture.height + (picture.height > 0 ? 26 : 0)))\">\n"
        return text + legend.text + "</g>\n</g>\n</svg>\n"
    }

    // MARK: Boxes

    private func box(_ index: Int) -> String {
        let shape = boxes[index]
        let box = shape.box
        let frame = picture.frames[index]
        let classes = "box \(box.kind.rawValue)\(box.isDeprecated ? " deprecated" : "")"
        var text = "<g class=\"\(classes)\" transform=\"translate(\(frame.x) \(frame.y))\">\n"
        text += title(name: box.name, box.kind.rawValue, box.documentation)
        if let linkTarget { text += "<a href=\"\(Markup.escapedLine(linkTarget(box)))\">\n" }
        text += "<rect class=\"frame\" width=\"\(frame.width)\" height=\"\(frame.height)\" rx=\"6\"/>\n"
        let head = headPath(frame, height: shape.headHeight, isWholeBox: box.rows.isEmpty)
        text += "<path class=\"head\" d=\"\(head)\"/>\n"
        text +=
            "<text class=\"name\" x=\"\(SVGBox.padding)\" y=\"\(shape.headHeight / 2 + 5)\">\(Markup.escapedLine(box.name))</text>\n"
        let kind = SVGBox.kindText(of: box)
        if !kind.isEmpty {
            text +=
                "<text class=\"kind\" x=\"\(frame.width - SVGBox.padding)\" y=\"\(shape.headHeight / 2 + 4)\">\(kind)</text>\n"
        }
        if linkTarget != nil { text += "</a>\n" }
        for row in box.rows.indices { text += self.row(row, of: shape, width: frame.width) }
        return text + "</g>\n"
    }

    private func headPath(_ frame: LayoutFrame, height: Int, isWholeBox: Bool) -> String {
        let width = frame.width
        let foot =
            isWholeBox
            ? "V\(height - 6)Q\(width) \(height) \(width - 6) \(height)H6Q0 \(height) 0 \(height - 6)" : "V\(height)H0"
        return "M0 6Q0 0 6 0H\(width - 6)Q\(width) 0 \(width) 6\(foot)Z"
    }

    private func row(_ index: Int, of shape: SVGBox, width: Int) -> String {
        let row = shape.box.rows[index]
        let y = shape.offset(ofRow: index)
        let stateClasses = [row.isPrimaryKey ? "key" : "", row.isDeprecated ? "old" : "", row.isOverflow ? "rest" : ""]
        let classes = (["row"] + stateClasses.filter { !$0.isEmpty }).joined(separator: " ")
        var text = "<g class=\"\(classes)\">\n"
        if !row.isOverflow {
            let marks = [
                row.isPrimaryKey ? "primary key" : nil, row.isIndexed ? "indexed" : nil,
                row.isDeprecated ? "deprecated" : nil,
            ].compactMap(\.self)
            let type = ([row.detail].filter { !$0.isEmpty } + marks).joined(separator: ", ")
            text += title(name: row.name, type, row.documentation)
        }
        if row.isPrimaryKey { text += SVGStyle.key(x: 5, y: y - 5) }
        text += "<text x=\"\(SVGBox.inset)\" y=\"\(y + 4)\">\(Markup.escapedLine(row.name))</text>\n"
        if !shape.details[index].isEmpty {
            let detail = Markup.escapedLine(shape.details[index])
            text += "<text class=\"detail\" x=\"\(width - SVGBox.padding)\" y=\"\(y + 4)\">\(detail)</text>\n"
        }
        return text + "</g>\n"
    }

    private func title(name: String, _ what: String, _ documentation: String?) -> String {
        let head = what.isEmpty ? name : "\(name): \(what)"
        return "<title>\(Markup.escaped(head + (documentation.map { "\n" + $0 } ?? "")))</title>\n"
    }

    // MARK: Lines

    /// A line, drawn from the target to the source. Lines on a shared path have the same target, so their dashes
    /// coincide. The path of the class `hit-area` is invisible and wider, so that the pointer hits the line more
    /// easily.
    private func line(_ index: Int) -> String {
        let relation = diagram.relations[index]
        let path = SVGPath.rounded(picture.routes[index].reversed())
        let classes = "line \(relation.kind.rawValue)\(relation.isToMany ? " many" : "")"
        return """
            <g class="\(classes)">
            <title>\(Markup.escapedLine(diagram.sentence(about: relation)))</title>
            <path class="hit-area" d="\(path)"/>
            <path class="stroke" d="\(path)"/>
            </g>

            """
    }
}

extension SVGWriter.StartKey {
    fileprivate init(_ relation: DiagramRelation) {
        self.init(target: relation.target, targetRow: relation.targetRow, end: relation.lineEnd)
    }
}

/// Converts straight segments to a path with rounded corners.
enum SVGPath {
    private static let radius = 6

    static func rounded(_ points: [LayoutPoint]) -> String {
        guard let first = points.first, let last = points.last else { return "" }
        var path = "M\(first.x) \(first.y)"
        for index in points.indices.dropFirst().dropLast() {
            let (before, corner, after) = (points[index - 1], points[index], points[index + 1])
            let reach = min(radius, length(before, corner) / 2, length(corner, after) / 2)
            let start = toward(before, from: corner, by: reach)
            let end = toward(after, from: corner, by: reach)
            path += "L\(start.x) \(start.y)Q\(corner.x) \(corner.y) \(end.x) \(end.y)"
        }
        return path + "L\(last.x) \(last.y)"
    }

    private static func length(_ first: LayoutPoint, _ second: LayoutPoint) -> Int {
        abs(first.x - second.x) + abs(first.y - second.y)
    }

    /// Moves a point toward the other end of its segment. Segments are horizontal or vertical, so only one coordinate
    /// changes.
    private static func toward(_ target: LayoutPoint, from point: LayoutPoint, by distance: Int) -> LayoutPoint {
        LayoutPoint(
            x: point.x + (target.x - point.x).signum() * distance, y: point.y + (target.y - point.y).signum() * distance
        )
    }
}
