/// Determines the vertical position of each vertex. The vertices of a column are moved so that their lines to adjacent
/// columns become straight as far as the minimum gaps permit. The method is isotonic regression by pooling adjacent
/// violators.
struct VerticalPlacement {
    private let graph: LayeredGraph
    /// The top of each vertex.
    private(set) var tops: [Int]

    init(_ graph: LayeredGraph) {
        self.graph = graph
        tops = Array(repeating: 0, count: graph.vertices.count)
        for column in graph.columns { stack(column) }
        let rounds = graph.vertices.count > 1500 ? 3 : 10
        for round in 0..<rounds {
            for column in graph.columns.dropFirst() { place(column, left: true, right: round > 2) }
            for column in graph.columns.dropLast().reversed() { place(column, left: round > 2, right: true) }
        }
        for column in graph.columns { place(column, left: true, right: true) }
        for _ in 0..<2 {
            for column in graph.columns { align(column, toLeft: true) }
            for column in graph.columns.reversed() { align(column, toLeft: false) }
        }
        let least = graph.vertices.indices.map { tops[$0] }.min() ?? 0
        for index in tops.indices { tops[index] -= least }
    }

    private mutating func stack(_ column: [Int]) {
        var y = 0
        for (index, vertex) in column.enumerated() {
            if index > 0 { y += graph.gap(column[index - 1], vertex) }
            tops[vertex] = y
            y += graph.vertices[vertex].height
        }
        for vertex in column { tops[vertex] -= y / 2 }
    }

    /// Adjacent vertices that are moved together. `preferences` are the preferred positions of the block's top, sorted.
    private struct Block {
        var members: [(vertex: Int, offset: Int)]
        var preferences: [(place: Int, weight: Int)]
        var height: Int

        /// The weighted median of the preferred positions, which keeps as many lines straight as possible.
        var best: Int {
            let total = preferences.reduce(0) { $0 + $1.weight }
            var sum = 0
            for preference in preferences {
                sum += preference.weight * 2
                if sum >= total { return preference.place }
            }
            return 0
        }
    }

    private mutating func place(_ column: [Int], left: Bool, right: Bool) {
        var blocks: [(block: Block, place: Int)] = []
        for vertex in column {
            let block = Block(
                members: [(vertex, 0)], preferences: preferences(of: vertex, left, right),
                height: graph.vertices[vertex].height)
            var next = (block: block, place: block.best)
            while let last = blocks.last, let end = last.block.members.last, let start = next.block.members.first {
                let least = last.place + last.block.height + graph.gap(end.vertex, start.vertex)
                guard next.place < least else { break }
                blocks.removeLast()
                next = joined(last.block, next.block, by: least - last.place)
            }
            blocks.append(next)
        }
        for (block, place) in blocks {
            for member in block.members { tops[member.vertex] = place + member.offset }
        }
    }

    private func joined(_ first: Block, _ second: Block, by offset: Int) -> (block: Block, place: Int) {
        var block = first
        block.members += second.members.map { ($0.vertex, $0.offset + offset) }
        block.height = offset + second.height
        block.preferences = []
        block.preferences.reserveCapacity(first.preferences.count + second.preferences.count)
        // Merges the two sorted lists.
        var index = 0
        for preference in second.preferences {
            while index < first.preferences.count, first.preferences[index].place <= preference.place - offset {
                block.preferences.append(first.preferences[index])
                index += 1
            }
            block.preferences.append((preference.place - offset, preference.weight))
        }
        block.preferences += first.preferences[index...]
        return (block, block.best)
    }

    /// The preferred positions of a vertex, sorted. A vertex without lines prefers its current position, with a low
    /// weight.
    private func preferences(of vertex: Int, _ left: Bool, _ right: Bool) -> [(place: Int, weight: Int)] {
        var preferences: [(place: Int, weight: Int)] = []
        if left {
            for segment in graph.leftSegments[vertex].map({ graph.segments[$0] }) {
                preferences.append((tops[segment.left] + segment.leftOffset - segment.rightOffset, segment.weight * 2))
            }
        }
        if right {
            for segment in graph.rightSegments[vertex].map({ graph.segments[$0] }) {
                preferences.append((tops[segment.right] + segment.rightOffset - segment.leftOffset, segment.weight * 2))
            }
        }
        if preferences.isEmpty { return [(tops[vertex], 1)] }
        return preferences.sorted { $0 < $1 }
    }

    /// Removes small steps from lines. If there is space, each dummy vertex moves to the y position at which its line
    /// continues in the adjacent column.
    private mutating func align(_ column: [Int], toLeft: Bool) {
        for (index, vertex) in column.enumerated() where graph.isDummy(vertex) {
            let preferences = preferences(of: vertex, toLeft, !toLeft)
            guard let preference = preferences.min(by: { abs($0.place - tops[vertex]) < abs($1.place - tops[vertex]) })
            else {
                continue
            }
            var low = Int.min
            var high = Int.max
            if index > 0 {
                let above = column[index - 1]
                low = tops[above] + graph.vertices[above].height + graph.gap(above, vertex)
            }
            if index + 1 < column.count { high = tops[column[index + 1]] - graph.gap(vertex, column[index + 1]) }
            if low <= preference.place, preference.place <= high { tops[vertex] = preference.place }
        }
    }

    /// Moves a vertex up or down by a small step, if its neighbors leave space.
    ///
    /// - Returns: whether the vertex was moved.
    mutating func nudge(_ vertex: Int, by step: Int) -> Bool {
        let column = graph.columns[graph.vertices[vertex].layer]
        guard let index = column.firstIndex(of: vertex) else { return false }
        let above = index > 0 ? tops[vertex] - bottom(of: column[index - 1]) : .max
        let below = index + 1 < column.count ? tops[column[index + 1]] - bottom(of: vertex) : .max
        guard max(above, below) >= 2 * step else { return false }
        tops[vertex] += below >= above ? step : -step
        return true
    }

    private func bottom(of vertex: Int) -> Int { tops[vertex] + graph.vertices[vertex].height }
}
