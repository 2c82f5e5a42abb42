import MartletSchema

/// Reports embedded objects that contain themselves through properties that are neither optional nor collections. The
/// nesting of such objects would be infinite.
enum EmbeddingCheck {
    private struct Edge {
        let owner: String
        let target: Spanned<String>
    }

    static func run(
        _ names: [String], _ scopes: [String: Resolver.ObjectScope], _ diagnostics: inout LimitedFindings
    ) {
        var edges: [Edge] = []
        for name in names {
            guard let scope = scopes[name], scope.syntax.isEmbedded else { continue }
            for property in scope.syntax.properties {
                guard let type = property.type, type.isSingle, type.optional == nil,
                    scopes[type.name.value]?.syntax.isEmbedded == true
                else { continue }
                edges.append(Edge(owner: name, target: type.name))
            }
        }
        let endless = cyclic(edges)
        guard !endless.isEmpty else { return }
        let places = Set(endless.map(\.target.span))
        // The diagnostic about the cycle replaces the diagnostic `badOptionality` at the same place.
        diagnostics.removeAll { finding in
            finding.code == .badOptionality && finding.span.map(places.contains) == true
        }
        for edge in endless {
            guard diagnostics.storesFindings(at: edge.target.span) else {
                diagnostics.recordDropped(at: edge.target.span, isError: true)
                continue
            }
            let corrected = "\(edge.target.value)?"
            diagnostics.append(
                Diagnostic(
                    .embedding, "the nesting of '\(edge.owner)' never ends; write '\(corrected)'", at: edge.target.span,
                    label: "leads to a cycle", help: "write '\(corrected)'",
                    fixes: [Fix("write '\(corrected)'", .safe, [Edit(edge.target.span.ending, "?")])]))
        }
    }

    /// The edges that remain after repeated removal of nodes without outgoing or incoming edges: the edges of cycles,
    /// and the edges on paths from one cycle to another.
    private static func cyclic(_ edges: [Edge]) -> [Edge] {
        let forward = withoutDeadEnds(edges, from: \.owner, to: \.target.value)
        return withoutDeadEnds(forward, from: \.target.value, to: \.owner)
    }

    private static func withoutDeadEnds(
        _ edges: [Edge], from source: KeyPath<Edge, String>, to target: KeyPath<Edge, String>
    ) -> [Edge] {
        var outgoing: [String: Int] = [:]
        var incoming: [String: [Int]] = [:]
        for (index, edge) in edges.enumerated() {
            outgoing[edge[keyPath: source], default: 0] += 1
            incoming[edge[keyPath: target], default: []].append(index)
        }
        var pending = incoming.keys.filter { outgoing[$0] == nil }
        var isRemoved = [Bool](repeating: false, count: edges.count)
        while let name = pending.popLast() {
            for index in incoming[name] ?? [] where !isRemoved[index] {
                isRemoved[index] = true
                let owner = edges[index][keyPath: source]
                outgoing[owner, default: 0] -= 1
                if outgoing[owner] == 0 { pending.append(owner) }
            }
        }
        return edges.indices.filter { !isRemoved[$0] }.map { edges[$0] }
    }
}
