/// Lays out a graph: first each connected component, then the components relative to each other.
enum GraphLayout {
    static func picture(of graph: LayoutGraph) -> LayoutPicture {
        let parts = parts(of: graph)
        var pictures = parts.map { ColumnLayout.best($0.graph) }
        let size = PartPacking.place(&pictures)
        var result = LayoutPicture(
            frames: Array(repeating: LayoutFrame(x: 0, y: 0, width: 0, height: 0), count: graph.nodes.count),
            routes: Array(repeating: [], count: graph.edges.count), width: size.width, height: size.height)
        for (part, picture) in zip(parts, pictures) {
            for (node, frame) in zip(part.nodes, picture.frames) { result.frames[node] = frame }
            for (edge, route) in zip(part.edges, picture.routes) { result.routes[edge] = route }
        }
        return result
    }

    private struct Part {
        var graph = LayoutGraph(nodes: [], edges: [])
        var nodes: [Int] = []
        var edges: [Int] = []
    }

    private static func parts(of graph: LayoutGraph) -> [Part] {
        var parents = Array(graph.nodes.indices)
        func root(_ node: Int) -> Int {
            var node = node
            while parents[node] != node {
                parents[node] = parents[parents[node]]
                node = parents[node]
            }
            return node
        }
        for edge in graph.edges {
            let (first, second) = (root(edge.source), root(edge.target))
            parents[max(first, second)] = min(first, second)
        }
        var parts: [Part] = []
        var partOfRoot: [Int: Int] = [:]
        var local = Array(repeating: 0, count: graph.nodes.count)
        for node in graph.nodes.indices {
            let part = partOfRoot[root(node)] ?? parts.count
            if part == parts.count { parts.append(Part()) }
            partOfRoot[root(node)] = part
            local[node] = parts[part].nodes.count
            parts[part].nodes.append(node)
            parts[part].graph.nodes.append(graph.nodes[node])
        }
        for (index, edge) in graph.edges.enumerated() {
            guard let part = partOfRoot[root(edge.source)] else { continue }
            var moved = edge
            moved.source = local[edge.source]
            moved.target = local[edge.target]
            parts[part].edges.append(index)
            parts[part].graph.edges.append(moved)
        }
        return parts
    }
}

/// Arranges the components in rows. Within a row, components of low height are stacked.
enum PartPacking {
    static func place(_ parts: inout [LayoutPicture]) -> (width: Int, height: Int) {
        let gap = LayoutMetrics.partGap
        let area = parts.reduce(0.0) { $0 + Double(($1.width + gap) * ($1.height + gap)) }
        let ideal = (area * Double(LayoutMetrics.aspect) / 100).squareRoot()
        let limit = max(parts.map(\.width).max() ?? 0, Int(ideal))
        let order = parts.indices.sorted {
            (parts[$1].height, parts[$1].width, $0) < (parts[$0].height, parts[$0].width, $1)
        }
        var size = (width: 0, height: 0)
        // The current row, and the current stack within it.
        var row = (y: 0, height: 0)
        var stack = (x: 0, y: 0, width: 0)
        for index in order {
            let part = parts[index]
            let fitsBelow = stack.y > 0 && stack.y + part.height <= row.height && stack.x + part.width <= limit
            if !fitsBelow {
                stack = (stack.width > 0 ? stack.x + stack.width + gap : 0, 0, 0)
                if stack.x > 0, stack.x + part.width > limit {
                    row = (row.y + row.height + gap, 0)
                    stack.x = 0
                }
            }
            parts[index].move(by: stack.x, row.y + stack.y)
            row.height = max(row.height, stack.y + part.height)
            stack.width = max(stack.width, part.width)
            stack.y += part.height + gap
            size.width = max(size.width, stack.x + stack.width)
            size.height = max(size.height, row.y + row.height)
        }
        return size
    }
}
