/// Orders the boxes of a cyclic graph so that few edges point backwards. The method is the greedy heuristic of Eades,
/// Lin and Smyth (1993).
struct CycleBreaker {
    private let successors: [[Int]]
    private let predecessors: [[Int]]

    init(nodeCount: Int, edges: [LayoutEdge]) {
        var successors = Array(repeating: [Int](), count: nodeCount)
        var predecessors = successors
        for edge in edges where edge.source != edge.target {
            successors[edge.source].append(edge.target)
            predecessors[edge.target].append(edge.source)
        }
        self.successors = successors
        self.predecessors = predecessors
    }

    /// The position of each box in the order.
    func positions() -> [Int] {
        var out = successors.map(\.count)
        var into = predecessors.map(\.count)
        var left: [Int] = []
        var right: [Int] = []
        var rest = Array(successors.indices)
        var isTaken = Array(repeating: false, count: rest.count)
        func take(_ node: Int) {
            isTaken[node] = true
            for next in successors[node] { into[next] -= 1 }
            for previous in predecessors[node] { out[previous] -= 1 }
        }
        while !rest.isEmpty {
            var changed = true
            while changed {
                changed = false
                for node in rest where !isTaken[node] && out[node] == 0 {
                    right.append(node)
                    take(node)
                    changed = true
                }
                for node in rest where !isTaken[node] && into[node] == 0 {
                    left.append(node)
                    take(node)
                    changed = true
                }
                rest.removeAll { isTaken[$0] }
            }
            // Among equally good boxes, the box that the schema declares first is taken.
            guard let best = rest.max(by: { (out[$0] - into[$0], $1) < (out[$1] - into[$1], $0) }) else { break }
            left.append(best)
            take(best)
            rest.removeAll { isTaken[$0] }
        }
        var positions = Array(repeating: 0, count: successors.count)
        for (position, node) in (left + right.reversed()).enumerated() { positions[node] = position }
        return positions
    }
}
