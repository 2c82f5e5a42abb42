/// A vertex of a column: a box or a dummy vertex. A dummy vertex is a point at which lines cross the column. A net
/// consists of the lines of one bundle (`LayoutEdge.bundle`) that run in one direction. In each column, the lines of a
/// net share one dummy vertex.
struct LayeredVertex {
    /// The index of the box; nil for a dummy vertex.
    let node: Int?
    let layer: Int
    let height: Int
}

/// A segment of a line between two adjacent columns.
struct LayeredSegment {
    let left: Int
    let leftOffset: Int
    let right: Int
    let rightOffset: Int
    /// Identifies the bundle and the direction. Segments of the same net can share a path.
    let net: Int
    /// The weight of this segment in the vertical placement. Segments with a higher weight are more likely to be
    /// straight.
    let weight: Int
}

/// The boxes in columns. A line that crosses a column has a dummy vertex there, which all lines of its net share.
struct LayeredGraph {
    private(set) var vertices: [LayeredVertex]
    private(set) var segments: [LayeredSegment] = []
    /// The vertices of each column from top to bottom.
    var columns: [[Int]]
    /// The vertices of each edge from source to target. An edge from a box to itself has no vertices.
    private(set) var chains: [[Int]] = []
    private(set) var netOfEdge: [Int] = []
    /// For each vertex, the indices of the segments at its left side and at its right side.
    private(set) var leftSegments: [[Int]] = []
    private(set) var rightSegments: [[Int]] = []

    init(_ graph: LayoutGraph, layers: [Int]) {
        vertices = graph.nodes.indices.map {
            LayeredVertex(node: $0, layer: layers[$0], height: graph.nodes[$0].height)
        }
        columns = Array(repeating: [], count: (layers.max() ?? -1) + 1)
        var dummies: [DummyKey: Int] = [:]
        for edge in graph.edges { add(edge, layers, &dummies) }
        for index in vertices.indices { columns[vertices[index].layer].append(index) }
        leftSegments = Array(repeating: [], count: vertices.count)
        rightSegments = leftSegments
        for (index, segment) in segments.enumerated() {
            rightSegments[segment.left].append(index)
            leftSegments[segment.right].append(index)
        }
    }

    private struct DummyKey: Hashable {
        let net: Int
        let layer: Int
    }

    private mutating func add(_ edge: LayoutEdge, _ layers: [Int], _ dummies: inout [DummyKey: Int]) {
        let from = layers[edge.source]
        let to = layers[edge.target]
        let isForward = from < to
        let net = edge.bundle * 2 + (isForward ? 0 : 1)
        netOfEdge.append(net)
        guard edge.source != edge.target else {
            chains.append([])
            return
        }
        var chain = [edge.source]
        // If a dummy vertex already exists, another line of the net has added all segments between this vertex and the
        // target.
        var isKnown = false
        for layer in stride(from: from + (isForward ? 1 : -1), to: to, by: isForward ? 1 : -1) {
            let found = dummies[DummyKey(net: net, layer: layer)]
            let dummy = found ?? vertices.count
            if found == nil {
                vertices.append(LayeredVertex(node: nil, layer: layer, height: 0))
                dummies[DummyKey(net: net, layer: layer)] = dummy
            }
            if !isKnown { join(chain[chain.count - 1], dummy, edge, isForward, net) }
            isKnown = isKnown || found != nil
            chain.append(dummy)
        }
        if !isKnown { join(chain[chain.count - 1], edge.target, edge, isForward, net) }
        chains.append(chain + [edge.target])
    }

    private mutating func join(_ from: Int, _ to: Int, _ edge: LayoutEdge, _ isForward: Bool, _ net: Int) {
        let fromOffset = vertices[from].node == nil ? 0 : edge.sourceOffset
        let toOffset = vertices[to].node == nil ? 0 : edge.targetOffset
        let dummyCount = (vertices[from].node == nil ? 1 : 0) + (vertices[to].node == nil ? 1 : 0)
        segments.append(
            LayeredSegment(
                left: isForward ? from : to, leftOffset: isForward ? fromOffset : toOffset,
                right: isForward ? to : from, rightOffset: isForward ? toOffset : fromOffset, net: net,
                weight: [2, 3, 8][dummyCount]))
    }

    func isDummy(_ vertex: Int) -> Bool { vertices[vertex].node == nil }

    /// The minimum distance between two adjacent vertices of a column.
    func gap(_ upper: Int, _ lower: Int) -> Int {
        isDummy(upper) || isDummy(lower) ? LayoutMetrics.lineGap : LayoutMetrics.boxGap
    }
}
