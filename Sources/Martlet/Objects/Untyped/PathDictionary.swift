/// A dictionary of the keys on the current path of a tree. `mark()` remembers a path, and `move(to:)` makes it the
/// current path again.
///
/// A depth-first visit of all nodes of a tree takes linear time.
struct PathDictionary<Key: Hashable, Value> {
    /// The end of a path.
    struct Mark: Equatable {
        fileprivate let position: Int?
    }

    private struct Node {
        let key: Key
        let value: Value
        let parent: Int?
        let depth: Int
    }

    private var nodes: [Node] = []
    /// The last node of the current path.
    private var end: Int?
    /// The number of nodes that `removeLast` does not remove from `nodes`, because marked paths may contain them.
    private var keptCount = 0
    private var values: [Key: Value] = [:]

    /// The value of a key on the current path.
    subscript(key: Key) -> Value? { values[key] }

    /// Appends a key, which the path does not contain yet.
    mutating func append(_ key: Key, _ value: Value) {
        nodes.append(Node(key: key, value: value, parent: end, depth: depth(end) + 1))
        end = nodes.count - 1
        values[key] = value
    }

    /// Removes the last key of the current path.
    mutating func removeLast() {
        leaveLast()
        if nodes.count > keptCount { nodes.removeLast() }
    }

    /// Marks the current path, so that `move(to:)` can return to it.
    mutating func mark() -> Mark {
        keptCount = nodes.count
        return Mark(position: end)
    }

    /// Makes a marked path the current path. Complexity: linear in the number of tree edges between the ends of both
    /// paths.
    mutating func move(to mark: Mark) {
        var entered: [Int] = []
        var next = mark.position
        while next != end {
            if let position = next, depth(position) >= depth(end) {
                entered.append(position)
                next = nodes[position].parent
            } else {
                leaveLast()
            }
        }
        for position in entered.reversed() { values[nodes[position].key] = nodes[position].value }
        end = mark.position
    }

    private func depth(_ position: Int?) -> Int { position.map { nodes[$0].depth } ?? 0 }

    private mutating func leaveLast() {
        guard let last = end else { return }
        values[nodes[last].key] = nil
        end = nodes[last].parent
    }
}
