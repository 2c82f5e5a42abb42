/// Assigns a layer (a column) to each node (a box). As far as possible, edges point to the right, and no column is
/// higher than a given maximum.
struct LayerAssignment {
    private let nodes: [LayoutNode]
    private let order: [Int]
    private let successors: [[Int]]
    private let predecessors: [[Int]]
    private var layers: [Int]

    /// - Parameter positions: the position of each box in an order of all boxes. An edge against this order counts as
    ///   an edge in the other direction.
    init(_ graph: LayoutGraph, positions: [Int]) {
        nodes = graph.nodes
        var successors = Array(repeating: [Int](), count: nodes.count)
        var predecessors = successors
        for edge in graph.edges where edge.source != edge.target {
            let isForward = positions[edge.source] < positions[edge.target]
            let (left, right) = isForward ? (edge.source, edge.target) : (edge.target, edge.source)
            successors[left].append(right)
            predecessors[right].append(left)
        }
        self.successors = successors
        self.predecessors = predecessors
        order = nodes.indices.sorted { positions[$0] < positions[$1] }
        layers = Array(repeating: 0, count: nodes.count)
    }

    /// The column of each box, from 0.
    func columns(maximumHeight: Int) -> [Int] {
        var copy = self
        copy.assignLongestPaths()
        copy.shiftRight()
        copy.moveOverflowLeft(maximumHeight: maximumHeight)
        copy.moveOverflowRight(maximumHeight: maximumHeight)
        copy.shorten(maximumHeight: maximumHeight)
        return copy.normalized()
    }

    private mutating func assignLongestPaths() {
        for node in order { layers[node] = (predecessors[node].map { layers[$0] }.max() ?? -1) + 1 }
    }

    /// Moves boxes to the right while that reduces the total edge length. Successors in the next column move too. For
    /// example, a box without predecessors moves from column 0 to the column before its nearest successor.
    private mutating func shiftRight() {
        for _ in 0..<(nodes.count > 300 ? 4 : 40) {
            var changed = false
            for node in order.reversed() + order {
                while shiftOnce(node) { changed = true }
            }
            if !changed { return }
        }
    }

    private mutating func shiftOnce(_ node: Int) -> Bool {
        var members: Set<Int> = [node]
        var waiting = [node]
        while let next = waiting.popLast() {
            for follower in successors[next]
            where layers[follower] == layers[next] + 1 && members.insert(follower).inserted {
                waiting.append(follower)
            }
        }
        var gain = 0
        for member in members {
            gain += successors[member].count { !members.contains($0) }
            gain -= predecessors[member].count { !members.contains($0) }
        }
        guard gain > 0 else { return false }
        for member in members { layers[member] += 1 }
        return true
    }

    /// Moves boxes to the column where their edges are shortest, within the range that their neighbors permit.
    private mutating func shorten(maximumHeight: Int?) {
        var heights = columnHeights()
        for _ in 0..<8 {
            var changed = false
            for node in order.reversed() + order {
                let target = bestLayer(of: node)
                guard target != layers[node] else { continue }
                if let maximumHeight, heights[target, default: 0] + space(node) > maximumHeight { continue }
                heights[layers[node], default: 0] -= space(node)
                heights[target, default: 0] += space(node)
                layers[node] = target
                changed = true
            }
            if !changed { return }
        }
    }

    private func bestLayer(of node: Int) -> Int {
        let low = predecessors[node].map { layers[$0] }.max().map { $0 + 1 }
        let high = successors[node].map { layers[$0] }.min().map { $0 - 1 }
        let pull = successors[node].count - predecessors[node].count
        switch (low, high) {
        case (let low?, let high?): return pull > 0 ? high : pull < 0 ? low : min(max(layers[node], low), high)
        case (let low?, nil): return low
        case (nil, let high?): return high
        case (nil, nil): return layers[node]
        }
    }

    /// Moves boxes without predecessors to the left, out of overfull columns.
    private mutating func moveOverflowLeft(maximumHeight: Int) {
        var columns = nodesByColumn()
        guard var column = columns.keys.max() else { return }
        while column >= (columns.keys.min() ?? column) {
            var members = columns[column] ?? []
            var height = members.reduce(0) { $0 + space($1) }
            for node in members.reversed()
            where height > maximumHeight && predecessors[node].isEmpty && members.count > 1 {
                members.removeAll { $0 == node }
                height -= space(node)
                layers[node] = column - 1
                columns[column - 1, default: []].append(node)
            }
            columns[column] = members
            column -= 1
        }
    }

    /// Moves boxes to the right, together with their successors, out of columns that are still overfull.
    private mutating func moveOverflowRight(maximumHeight: Int) {
        guard var column = layers.min() else { return }
        while column <= (layers.max() ?? column) {
            var members = order.filter { layers[$0] == column }
            var height = members.reduce(0) { $0 + space($1) }
            while height > maximumHeight, members.count > 1 {
                guard let cheapest = members.min(by: { cost(ofPushing: $0) < cost(ofPushing: $1) }) else { break }
                members.removeAll { $0 == cheapest }
                height -= space(cheapest)
                push(cheapest, to: column + 1)
            }
            column += 1
        }
    }

    /// The cost of moving a box to the right. Boxes without successors have the lowest cost.
    private func cost(ofPushing node: Int) -> (Int, Int, Int) {
        (successors[node].count, predecessors[node].isEmpty ? 1 : 0, -node)
    }

    private mutating func push(_ node: Int, to layer: Int) {
        var waiting = [(node, layer)]
        while let (node, layer) = waiting.popLast() {
            guard layers[node] < layer else { continue }
            layers[node] = layer
            waiting += successors[node].map { ($0, layer + 1) }
        }
    }

    private func space(_ node: Int) -> Int { nodes[node].height + LayoutMetrics.boxGap }

    private func columnHeights() -> [Int: Int] {
        nodes.indices.reduce(into: [:]) { $0[layers[$1], default: 0] += space($1) }
    }

    private func nodesByColumn() -> [Int: [Int]] {
        order.reduce(into: [:]) { $0[layers[$1], default: []].append($1) }
    }

    /// The column of each box, renumbered so that no column is empty.
    private func normalized() -> [Int] {
        let used = Set(layers).sorted()
        let numbers = Dictionary(uniqueKeysWithValues: zip(used, used.indices))
        return layers.map { numbers[$0] ?? 0 }
    }
}
