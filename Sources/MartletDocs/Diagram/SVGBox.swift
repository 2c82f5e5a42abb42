/// The size of a box, and the positions where lines begin and end.
struct SVGBox {
    static let titleFontSize = 13
    static let rowFontSize = 11
    private static let minimumHeadHeight = 36
    static let rowHeight = 18
    /// The distance of a row's name from the left side of the box. The symbol of a primary key is drawn in this space.
    static let inset = 20
    static let padding = 10
    static let maximumDetailWidth = 210

    let box: DiagramBox
    /// The text at the right side of each row.
    let details: [String]
    let width: Int
    let headHeight: Int
    let height: Int
    private let endsAtHead: [LineEnd]
    private let startsAtHead: Int

    /// The kinds of lines that end at the head of a box, from top to bottom.
    enum LineEnd: Int, CaseIterable {
        case toOne
        case toMany
        case projection
    }

    /// - Parameters:
    ///   - ends: the kinds of lines that end at the head.
    ///   - starts: the number of groups of lines that begin at the head instead of at a row.
    init(_ box: DiagramBox, ends: Set<LineEnd>, starts: Int) {
        self.box = box
        startsAtHead = starts
        endsAtHead = LineEnd.allCases.filter(ends.contains)
        details = box.rows.map {
            TextMeasure.shortened($0.shortDetail ?? $0.detail, size: Self.rowFontSize, to: Self.maximumDetailWidth)
        }
        let title = TextMeasure.width(box.name, size: Self.titleFontSize, isBold: true)
        let kind = TextMeasure.width(SVGBox.kindText(of: box), size: Self.rowFontSize - 1)
        let rows = zip(box.rows, details).map { row, detail in
            Self.inset + TextMeasure.width(row.name, size: Self.rowFontSize, isBold: row.isPrimaryKey)
                + (detail.isEmpty ? 0 : 18 + TextMeasure.width(detail, size: Self.rowFontSize))
        }
        width = max(118, Self.padding + title + (kind > 0 ? 16 + kind : 0), rows.max() ?? 0) + Self.padding
        headHeight = max(Self.minimumHeadHeight, (ends.count + starts + 1) * 8)
        height = headHeight + (box.rows.isEmpty ? 0 : box.rows.count * Self.rowHeight + 6)
    }

    static func kindText(of box: DiagramBox) -> String { box.kind == .object ? "" : box.kind.rawValue }

    func offset(ofRow row: Int) -> Int { headHeight + 3 + row * Self.rowHeight + Self.rowHeight / 2 }

    func offset(of end: LineEnd) -> Int { offset(ofPlace: endsAtHead.firstIndex(of: end) ?? 0) }

    func offset(ofStart start: Int) -> Int { offset(ofPlace: endsAtHead.count + start) }

    /// The offset of one of the positions at the head. The positions are distributed evenly over the height of the
    /// head.
    private func offset(ofPlace place: Int) -> Int {
        headHeight * (2 * place + 1) / (2 * max(1, endsAtHead.count + startsAtHead))
    }
}

extension DiagramRelation {
    var lineEnd: SVGBox.LineEnd { kind == .projection ? .projection : isToMany ? .toMany : .toOne }
}

extension DiagramModel {
    /// A description of a line, for tooltips and screen readers.
    func sentence(about relation: DiagramRelation) -> String {
        let source = boxes[relation.source].name
        let target = boxes[relation.target].name
        let name = "\(source).\(relation.label)"
        let isValue = relation.kind == .use
        let one = isValue ? "one value of \(target)" : "one \(target)"
        let many = isValue ? "values of \(target)" : target
        let targets =
            switch relation.multiplicity {
            case .one: relation.isOptional ? "at most \(one)" : one
            case .list: "a list of \(many)"
            case .set: "a set of \(many)"
            case .map: "a map of \(many)"
            }
        let back = relation.inverseLabel.map { "; inverse: \(target).\($0)" } ?? ""
        return switch relation.kind {
        case .link: "\(name) links to \(targets)\(back)"
        case .embedding: "\(name) embeds \(targets)"
        case .use: "\(name) has \(targets)"
        case .projection: "\(source) is a projection of \(target)"
        }
    }
}
