import Foundation
import Testing

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// The boxes and lines of an SVG diagram, parsed from its text.
final class ParsedSVG: NSObject, XMLParserDelegate {
    struct Point: Hashable {
        let x: Int
        let y: Int
    }

    struct Box {
        let kind: String
        var name = ""
        let x: Int
        let y: Int
        var width = 0
        var height = 0
        /// The names on the left side of the rows.
        var rows: [String] = []
        var href: String?
    }

    struct Line {
        let classes: String
        /// The tooltip. It names the property of the link and the target type.
        var title = ""
        var points: [Point] = []

        var source: String { String(title.prefix { $0 != "." && $0 != " " }) }
        var target: String { title.prefix { $0 != ";" }.split(separator: " ").last.map(String.init) ?? "" }
    }

    private(set) var boxes: [Box] = []
    private(set) var lines: [Line] = []
    private(set) var width = 0
    private(set) var height = 0
    /// The character data of all elements.
    private(set) var text = ""
    /// The elements that have begun and not ended.
    private var path: [(name: String, classes: String)] = []
    /// The character data since the last tag.
    private var piece = ""

    init(_ svg: String) throws {
        super.init()
        let parser = XMLParser(data: Data(svg.utf8))
        parser.delegate = self
        try #require(parser.parse(), "the picture is not well-formed: \(String(describing: parser.parserError))")
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        let classes = attributes["class"] ?? ""
        if name == "svg" {
            width = Int(attributes["width"] ?? "") ?? 0
            height = Int(attributes["height"] ?? "") ?? 0
        }
        let isInLegend = path.contains { $0.classes == "legend" }
        if name == "g", classes.hasPrefix("box "), !isInLegend {
            let numbers = ParsedSVG.numbers(in: attributes["transform"] ?? "")
            boxes.append(
                Box(kind: String(classes.split(separator: " ")[1]), x: numbers[0], y: numbers[1]))
        }
        if classes == "frame", !isInLegend {
            boxes[boxes.count - 1].width = Int(attributes["width"] ?? "") ?? 0
            boxes[boxes.count - 1].height = Int(attributes["height"] ?? "") ?? 0
        }
        if name == "a" { boxes[boxes.count - 1].href = attributes["href"] }
        if name == "g", classes.hasPrefix("line "), !isInLegend { lines.append(Line(classes: classes)) }
        if classes == "stroke", !isInLegend {
            let numbers = ParsedSVG.numbers(in: attributes["d"] ?? "")
            lines[lines.count - 1].points = stride(from: 0, to: numbers.count - 1, by: 2).map {
                Point(x: numbers[$0], y: numbers[$0 + 1])
            }
        }
        path.append((name, classes))
        piece = ""
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        piece += string
        text += string
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        let ended = path.removeLast()
        let parent = path.last?.classes ?? ""
        if name == "title", parent.hasPrefix("line ") { lines[lines.count - 1].title = piece }
        if ended.classes == "name" { boxes[boxes.count - 1].name = piece }
        if name == "text", ended.classes.isEmpty, parent.hasPrefix("row") { boxes[boxes.count - 1].rows.append(piece) }
        piece = ""
    }

    private static func numbers(in text: String) -> [Int] {
        text.split { !($0.isNumber || $0 == "-") }.compactMap { Int($0) }
    }

    func box(named name: String) -> Box? { boxes.first { $0.name == name } }
}

extension ParsedSVG {
    /// Returns a description of each defect that makes the diagram hard to read.
    func defects() -> [String] { overlaps() + crossings() + wrongEnds() + coveredLines() + outside() }

    private func overlaps() -> [String] {
        boxes.indices.flatMap { index in
            boxes[..<index].filter { $0.meets(boxes[index]) }.map { "'\($0.name)' and '\(boxes[index].name)' overlap" }
        }
    }

    /// Finds lines that cross a box. The box may also be at an end of the line.
    private func crossings() -> [String] {
        lines.flatMap { line in
            zip(line.points, line.points.dropFirst()).flatMap { start, end in
                boxes.filter { $0.isCrossed(from: start, to: end) }.map { "'\(line.title)' runs through '\($0.name)'" }
            }
        }
    }

    /// Finds lines with an end at a wrong place. A line must begin at the left or right side of its target, and end at
    /// the left or right side of its source.
    private func wrongEnds() -> [String] {
        lines.filter { line in
            guard let first = line.points.first, let last = line.points.last, let source = box(named: line.source),
                let target = box(named: line.target)
            else { return true }
            return !target.touchesSide(first) || !source.touchesSide(last)
        }.map { "'\($0.title)' does not go from box to box" }
    }

    /// Finds overlapping lines. Lines may overlap only if they begin at the same point and have the same classes.
    private func coveredLines() -> [String] {
        // The segments of all lines by direction (true is vertical), and then by the coordinate that their ends share.
        var pieces: [Bool: [Int: [(low: Int, high: Int, line: Int)]]] = [:]
        for (index, line) in lines.enumerated() {
            for (start, end) in zip(line.points, line.points.dropFirst()) where start != end {
                if start.x == end.x {
                    pieces[true, default: [:]][start.x, default: []].append(
                        (min(start.y, end.y), max(start.y, end.y), index))
                } else if start.y == end.y {
                    pieces[false, default: [:]][start.y, default: []].append(
                        (min(start.x, end.x), max(start.x, end.x), index))
                }
            }
        }
        var defects: [String] = []
        for sorted in pieces.values.flatMap(\.values) {
            for (index, piece) in sorted.enumerated() {
                for other in sorted[..<index] where piece.low < other.high && other.low < piece.high {
                    let (first, second) = (lines[piece.line], lines[other.line])
                    let isShared = first.points.first == second.points.first && first.classes == second.classes
                    if !isShared { defects.append("'\(first.title)' covers '\(second.title)'") }
                }
            }
        }
        return defects
    }

    private func outside() -> [String] {
        let places = lines.flatMap(\.points) + boxes.map { Point(x: $0.x + $0.width, y: $0.y + $0.height) }
        let isInside = places.allSatisfy { $0.x >= 0 && $0.y >= 0 && $0.x <= width && $0.y <= height }
        return isInside ? [] : ["something lies outside of the picture"]
    }
}

extension ParsedSVG.Box {
    fileprivate func meets(_ other: ParsedSVG.Box) -> Bool {
        let isBeside = x + width <= other.x || other.x + other.width <= x
        let isAbove = y + height <= other.y || other.y + other.height <= y
        return !isBeside && !isAbove
    }

    fileprivate func isCrossed(from start: ParsedSVG.Point, to end: ParsedSVG.Point) -> Bool {
        let isBeside = max(start.x, end.x) <= x || min(start.x, end.x) >= x + width
        let isAbove = max(start.y, end.y) <= y || min(start.y, end.y) >= y + height
        return !isBeside && !isAbove
    }

    fileprivate func touchesSide(_ point: ParsedSVG.Point) -> Bool {
        (point.x == x || point.x == x + width) && y < point.y && point.y < y + height
    }
}
