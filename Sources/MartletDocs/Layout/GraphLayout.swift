/// Lays out a graph: first each connected component, then the components relative to each other.
enum GraphLayout {
    static func picture(of graph: LayoutGraph) -> LayoutPicture {
        let components = components(of: graph)
        var pictures = components.map { ColumnLayout.best($0.graph) }
        let size = ComponentPacking.place(&pictures)
        var result = LayoutPicture(
            frames: Array(repeating: LayoutFrame(x: 0, y: 0, width: 0, height: 0), count: graph.nodes.count),
            routes: Array(repeating: [], count: graph.edges.count), width: size.width, height: size.height)
        for (component, picture) in zip(components, pictures) {
            for (node, frame) in zip(component.nodes, picture.frames) { result.frames[node] = frame }
            for (edge, route) in zip(component.edges, picture.routes) { result.routes[edge] = route }
        }
        return result
    }

    private struct Component {
        var graph = LayoutGraph(nodes: [], edges: [])
        var nodes: [Int] = []
        var edges: [Int] = []
    }

    private static func components(of graph: LayoutGraph) -> [Component] {
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
        var components: [Component] = []
        var componentOfRoot: [Int: Int] = [:]
        var local = Array(repeating: 0, count: graph.nodes.count)
        for node in graph.nodes.indices {
            let component = componentOfRoot[root(node)] ?? components.count
            if component == components.count { components.append(Component()) }
            componentOfRoot[root(node)] = component
            local[node] = components[component].nodes.count
            components[component].nodes.append(node)
            components[component].graph.nodes.append(graph.nodes[node])
        }
        for (index, edge) in graph.edges.enumerated() {
            guard let component = componentOfRoot[root(edge.source)] else { continue }
            var moved = edge
            moved.source = local[edge.source]
            moved.target = local[edge.target]
            components[component].edges.append(index)
            components[component].graph.edges.append(moved)
        }
        return components
    }
}

/// Arranges the components in rows. Within a row, components of low height are stacked.
enum ComponentPacking {
    static func place(_ components: inout [LayoutPicture]) -> (width: Int, height: Int) {
        let gap = LayoutMetrics.componentGap
        let area = components.reduce(0.0) { $0 + Double(($1.width + gap) * ($1.height + gap)) }
        let ideal = (area * Double(LayoutMetrics.aspect) / 100).squareRoot()
        let limit = max(components.map(\.width).max() ?? 0, Int(ideal))
        let order = components.indices.sorted {
            (components[$1].height, components[$1].width, $0) < (components[$0].height, components[$0].width, $1)
        }
        var size = (width: 0, height: 0)
        // The current row, and the current stack within it.
        var row = (y: 0, height: 0)
        var stack = (x: 0, y: 0, width: 0)
        for index in order {
            let component = components[index]
            let fitsBelow =
                stack.y > 0 && stack.y + component.height <= row.height && stack.x + component.width <= limit
            if !fitsBelow {
                stack = (stack.width > 0 ? stack.x + stack.width + gap : 0, 0, 0)
                if stack.x > 0, stack.x + component.width > limit {
                    row = (row.y + row.height + gap, 0)
                    stack.x = 0
                }
            }
            components[index].move(by: stack.x, row.y + stack.y)
            row.height = max(row.height, stack.y + component.height)
            stack.width = max(stack.width, component.width)
            stack.y += component.height + gap
            size.width = max(size.width, stack.x + stack.width)
            size.height = max(size.height, row.y + row.height)
        }
        return size
    }
}
