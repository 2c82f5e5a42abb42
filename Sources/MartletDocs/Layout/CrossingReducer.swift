/// Orders the vertices of each column to reduce crossings. Sweeps in alternating directions move each vertex to the
/// barycenter of its neighbors. After each sweep of a small graph, adjacent vertices are swapped if that removes
/// crossings, in at most four passes.
struct CrossingReducer {
    private var graph: LayeredGraph
    private var positions: [Int]

    static func reduced(_ graph: LayeredGraph) -> LayeredGraph {
        var reducer = CrossingReducer(graph)
        return reducer.run()
    }

    private init(_ graph: LayeredGraph) {
        self.graph = graph
        positions = Array(repeating: 0, count: graph.vertices.count)
        for column in graph.columns { updatePositions(of: column) }
    }

    private mutating func run() -> LayeredGraph {
        let isLarge = graph.vertices.count > 1500
        var best = graph.columns
        var least = crossings()
        for sweep in 0..<(isLarge ? 6 : 24) {
            let range = Array(graph.columns.indices)
            for column in sweep.isMultiple(of: 2) ? range : range.reversed() {
                sort(column, byLeft: sweep.isMultiple(of: 2))
            }
            if !isLarge { swapNeighbors() }
            let count = crossings()
            if count < least {
                least = count
                best = graph.columns
            }
        }
        graph.columns = best
        return graph
    }

    private mutating func updatePositions(of column: [Int]) {
        for (position, vertex) in column.enumerated() { positions[vertex] = position }
    }

    private mutating func sort(_ column: Int, byLeft: Bool) {
        let members = graph.columns[column]
        let keys = members.map { vertex in barycenter(of: vertex, byLeft: byLeft) ?? Double(positions[vertex]) }
        let sorted = members.indices.sorted { (keys[$0], $0) < (keys[$1], $1) }.map { members[$0] }
        graph.columns[column] = sorted
        updatePositions(of: sorted)
    }

    /// The average position of the far ends of the vertex's lines, in the left or right column; nil if there are no
    /// lines.
    private func barycenter(of vertex: Int, byLeft: Bool) -> Double? {
        let segments = byLeft ? graph.leftSegments[vertex] : graph.rightSegments[vertex]
        guard !segments.isEmpty else { return nil }
        let sum = segments.reduce(0.0) { total, index in
            let segment = graph.segments[index]
            return total + (byLeft ? key(segment.left, segment.leftOffset) : key(segment.right, segment.rightOffset))
        }
        return sum / Double(segments.count)
    }

    /// The position of a line's end in its column: the index of the vertex, plus a fraction for the offset of the line
    /// in the vertex.
    private func key(_ vertex: Int, _ offset: Int) -> Double {
        Double(positions[vertex]) + Double(offset) / Double(max(1, graph.vertices[vertex].height) + 1)
    }

    // MARK: Counting

    private func crossings() -> Int {
        graph.columns.dropLast().reduce(0) { $0 + crossings(rightOf: $1) }
    }

    /// The number of crossings between a column and the next column. Two lines cross if their ends have different
    /// orders in the two columns. A binary indexed tree counts these inversions.
    private func crossings(rightOf column: [Int]) -> Int {
        let ends = column.flatMap { vertex in
            graph.rightSegments[vertex].map { index in
                let segment = graph.segments[index]
                return (key(segment.left, segment.leftOffset), key(segment.right, segment.rightOffset))
            }
        }.sorted { $0 < $1 }
        let ranks = Dictionary(
            Set(ends.map(\.1)).sorted().enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        var tree = Array(repeating: 0, count: ranks.count + 1)
        var count = 0
        for (number, end) in ends.enumerated() {
            let rank = ranks[end.1] ?? 0
            var index = rank + 1
            var below = 0
            while index > 0 {
                below += tree[index]
                index &= index - 1
            }
            count += number - below
            index = rank + 1
            while index < tree.count {
                tree[index] += 1
                index += index & -index
            }
        }
        return count
    }

    // MARK: Swapping

    private mutating func swapNeighbors() {
        for _ in 0..<4 {
            var changed = false
            for column in graph.columns.indices {
                for index in graph.columns[column].indices.dropLast() where swapGain(column, index) > 0 {
                    graph.columns[column].swapAt(index, index + 1)
                    updatePositions(of: graph.columns[column])
                    changed = true
                }
            }
            if !changed { return }
        }
    }

    /// The number of crossings that are removed if a vertex is swapped with the vertex below it.
    private func swapGain(_ column: Int, _ index: Int) -> Int {
        let upper = graph.columns[column][index]
        let lower = graph.columns[column][index + 1]
        var gain = 0
        for isLeft in [true, false] {
            let first = farKeys(of: upper, isLeft: isLeft)
            let second = farKeys(of: lower, isLeft: isLeft)
            for one in first { for other in second { gain += one > other ? 1 : one < other ? -1 : 0 } }
        }
        return gain
    }

    /// The positions of the line ends in the adjacent column at the left or right.
    private func farKeys(of vertex: Int, isLeft: Bool) -> [Double] {
        (isLeft ? graph.leftSegments[vertex] : graph.rightSegments[vertex]).map { index in
            let segment = graph.segments[index]
            return isLeft ? key(segment.left, segment.leftOffset) : key(segment.right, segment.rightOffset)
        }
    }
}
