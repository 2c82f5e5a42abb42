/// Lays out one connected component of a graph in columns from left to right, with the method of Sugiyama, Tagawa and
/// Toda (1981). The layout differs from this method in three points: Lines end at given positions of the boxes, consist
/// of horizontal and vertical segments, and can share dummy vertices.
struct ColumnLayout {
    private let input: LayoutGraph
    private let graph: LayeredGraph
    private var placement: VerticalPlacement
    /// The width of every column.
    private let widths: [Int]
    /// The tracks in the channel to the right of every column.
    private var channels: [ChannelTracks] = []
    /// The left edge of every column.
    private var lefts: [Int] = []
    private var width = 0

    /// The layout with the lowest cost among the layouts for several maximum column heights.
    static func best(_ graph: LayoutGraph) -> LayoutPicture {
        let positions = CycleBreaker(nodeCount: graph.nodes.count, edges: graph.edges).positions()
        let assignment = LayerAssignment(graph, positions: positions)
        var best: (picture: LayoutPicture, cost: Double)?
        var seen: Set<[Int]> = []
        for maximumHeight in columnHeights(graph) {
            let layers = assignment.columns(maximumHeight: maximumHeight)
            guard seen.insert(layers).inserted else { continue }
            let picture = ColumnLayout(graph, layers: layers).picture()
            let cost = Self.cost(of: picture)
            if cost < best?.cost ?? .infinity { best = (picture, cost) }
        }
        return best?.picture ?? LayoutPicture(frames: [], routes: [], width: 0, height: 0)
    }

    /// The maximum column heights to try. For large graphs, this is only one height, because each attempt is slow.
    private static func columnHeights(_ graph: LayoutGraph) -> [Int] {
        let area = graph.nodes.reduce(0.0) {
            $0 + Double(($1.width + 90) * ($1.height + LayoutMetrics.boxGap))
        }
        let ideal = (area * 100 / Double(LayoutMetrics.aspect)).squareRoot()
        let factors = graph.nodes.count > 300 ? [1.3] : [0.6, 0.75, 0.9, 1.05, 1.2, 1.4, 1.7, 2.2, 1000]
        return factors.map { Int(ideal * $0) }
    }

    /// The cost of a layout. Small layouts with a good aspect ratio and short lines have a lower cost.
    private static func cost(of picture: LayoutPicture) -> Double {
        let shape = Double(picture.width) / Double(max(1, picture.height)) / (Double(LayoutMetrics.aspect) / 100)
        let size = Double(picture.width * picture.height).squareRoot()
        let averageLength = Double(picture.wireLength) / Double(max(1, picture.routes.count))
        return (size * 2 + averageLength * 3) * max(shape, 1 / shape).squareRoot()
    }

    private init(_ input: LayoutGraph, layers: [Int]) {
        self.input = input
        graph = CrossingReducer.reduced(LayeredGraph(input, layers: layers))
        placement = VerticalPlacement(graph)
        let vertices = graph.vertices
        widths = graph.columns.map { column in
            column.compactMap { vertices[$0].node }.map { input.nodes[$0].width }.max() ?? 0
        }
        channels = makeChannels()
        for round in 0..<(vertices.count > 1500 ? 2 : 24) where resolveConflicts(round) { channels = makeChannels() }
        var x = 0
        for (column, width) in widths.enumerated() {
            lefts.append(x)
            x += width
            let tracks = channels[column].count
            let isLast = column == widths.count - 1
            if isLast, tracks == 0 { break }
            x += LayoutMetrics.channelPadding + max(0, tracks - 1) * LayoutMetrics.trackGap
            x += isLast ? LayoutMetrics.trackGap : LayoutMetrics.channelPadding
        }
        width = x
    }

    private var tops: [Int] { placement.tops }

    /// Moves vertices whose lines would overlap with the chosen tracks. Each conflict of a channel moves one vertex.
    ///
    /// - Returns: whether a vertex was moved.
    private mutating func resolveConflicts(_ round: Int) -> Bool {
        // The step size varies. With a constant size, vertices could move back and forth in every round.
        let step = [6, 4, 9, 5, 11, 7][round % 6]
        var changed = false
        for (column, channel) in channels.enumerated() {
            let segments = graph.columns[column].flatMap { graph.rightSegments[$0] }.map { graph.segments[$0] }
            for conflict in channel.conflicts {
                let ends = segments.flatMap { segment in
                    let isEntering =
                        segment.net == conflict.entering && tops[segment.left] + segment.leftOffset == conflict.height
                    let isLeaving =
                        segment.net == conflict.leaving
                        && ChannelTracks.touch(tops[segment.right] + segment.rightOffset, conflict.height)
                    return (isEntering ? [segment.left] : []) + (isLeaving ? [segment.right] : [])
                }
                // A dummy vertex is moved if possible. Otherwise a box is moved.
                let order = ends.filter(graph.isDummy) + ends.filter { !graph.isDummy($0) }
                if order.contains(where: { placement.nudge($0, by: step) }) { changed = true }
            }
        }
        return changed
    }

    private func makeChannels() -> [ChannelTracks] {
        var nets: [[Int: ChannelNet]] = Array(repeating: [:], count: graph.columns.count)
        for segment in graph.segments {
            let column = graph.vertices[segment.left].layer
            nets[column][segment.net, default: ChannelNet(net: segment.net)].lefts
                .append(tops[segment.left] + segment.leftOffset)
            nets[column][segment.net, default: ChannelNet(net: segment.net)].rights
                .append(tops[segment.right] + segment.rightOffset)
        }
        for (index, edge) in input.edges.enumerated() where edge.source == edge.target {
            let net = graph.netOfEdge[index]
            nets[graph.vertices[edge.source].layer][net, default: ChannelNet(net: net)].lefts +=
                [tops[edge.source] + edge.sourceOffset, tops[edge.source] + edge.targetOffset]
        }
        return nets.map { nets in ChannelTracks(nets.values.sorted { $0.net < $1.net }) }
    }

    // MARK: The picture

    private func picture() -> LayoutPicture {
        let frames = input.nodes.indices.map { node in
            let column = graph.vertices[node].layer
            return LayoutFrame(
                x: lefts[column], y: tops[node], width: widths[column], height: input.nodes[node].height)
        }
        var picture = LayoutPicture(frames: frames, routes: input.edges.indices.map(route), width: width, height: 0)
        let places = picture.frames.map(\.y) + picture.routes.flatMap { $0.map(\.y) }
        let top = places.min() ?? 0
        picture.move(by: 0, -top)
        picture.height = (picture.frames.map { $0.y + $0.height } + places.map { $0 - top }).max() ?? 0
        return picture
    }

    private func trackX(of net: Int, channel: Int) -> Int? {
        channels[channel].tracks[net].map {
            lefts[channel] + widths[channel] + LayoutMetrics.channelPadding + $0 * LayoutMetrics.trackGap
        }
    }

    private func route(of index: Int) -> [LayoutPoint] {
        let edge = input.edges[index]
        let net = graph.netOfEdge[index]
        let start = tops[edge.source] + edge.sourceOffset
        let end = tops[edge.target] + edge.targetOffset
        let column = graph.vertices[edge.source].layer
        let side = lefts[column] + widths[column]
        guard edge.source != edge.target else {
            let x = trackX(of: net, channel: column) ?? side
            return ColumnLayout.simplified([
                LayoutPoint(x: side, y: start), LayoutPoint(x: x, y: start), LayoutPoint(x: x, y: end),
                LayoutPoint(x: side, y: end),
            ])
        }
        let chain = graph.chains[index]
        let isForward = column < graph.vertices[edge.target].layer
        var points = [LayoutPoint(x: isForward ? side : lefts[column], y: start)]
        for (from, to) in zip(chain, chain.dropFirst()) {
            let channel = min(graph.vertices[from].layer, graph.vertices[to].layer)
            let fromY = graph.isDummy(from) ? tops[from] : start
            let toY = graph.isDummy(to) ? tops[to] : end
            guard fromY != toY, let x = trackX(of: net, channel: channel) else { continue }
            points += [LayoutPoint(x: x, y: fromY), LayoutPoint(x: x, y: toY)]
        }
        let last = graph.vertices[edge.target].layer
        points.append(LayoutPoint(x: isForward ? lefts[last] : lefts[last] + widths[last], y: end))
        return ColumnLayout.simplified(points)
    }

    /// Removes duplicate points, and points on the segment between their neighbors.
    private static func simplified(_ points: [LayoutPoint]) -> [LayoutPoint] {
        var result: [LayoutPoint] = []
        for point in points where point != result.last {
            if result.count > 1 {
                let (first, second) = (result[result.count - 2], result[result.count - 1])
                if (first.x == second.x && second.x == point.x) || (first.y == second.y && second.y == point.y) {
                    result.removeLast()
                }
            }
            result.append(point)
        }
        return result
    }
}
