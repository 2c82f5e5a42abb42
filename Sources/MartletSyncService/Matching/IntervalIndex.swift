import MartletEngine
package import MartletValues

/// An interval of values of one type, in the order of `ValueOrder`.
package struct ValueInterval: Sendable, Equatable {
    package struct Bound: Sendable, Equatable {
        package let value: SQLValue
        package let isIncluded: Bool

        package init(_ value: SQLValue, isIncluded: Bool) {
            self.value = value
            self.isIncluded = isIncluded
        }
    }

    /// Nil if the interval has no lower bound.
    package var lower: Bound?
    /// Nil if the interval has no upper bound.
    package var upper: Bound?

    package init(lower: Bound? = nil, upper: Bound? = nil) {
        self.lower = lower
        self.upper = upper
    }

    package func contains(_ value: SQLValue) -> Bool { beginsBefore(value) && endsAfter(value) }

    fileprivate func beginsBefore(_ value: SQLValue) -> Bool {
        guard let lower else { return true }
        let order = ValueOrder.compare(lower.value, value)
        return order < 0 || (order == 0 && lower.isIncluded)
    }

    fileprivate func endsAfter(_ value: SQLValue) -> Bool { Self.isAfter(upper, value) }

    fileprivate static func isAfter(_ upper: Bound?, _ value: SQLValue) -> Bool {
        guard let upper else { return true }
        let order = ValueOrder.compare(upper.value, value)
        return order > 0 || (order == 0 && upper.isIncluded)
    }

    fileprivate static func compareLower(_ left: Bound?, _ right: Bound?) -> Int {
        guard let left else { return right == nil ? 0 : -1 }
        guard let right else { return 1 }
        let order = ValueOrder.compare(left.value, right.value)
        return order != 0 ? order : (left.isIncluded ? 0 : 1) - (right.isIncluded ? 0 : 1)
    }

    fileprivate static func compareUpper(_ left: Bound?, _ right: Bound?) -> Int {
        guard let left else { return right == nil ? 0 : 1 }
        guard let right else { return -1 }
        let order = ValueOrder.compare(left.value, right.value)
        return order != 0 ? order : (left.isIncluded ? 1 : 0) - (right.isIncluded ? 1 : 0)
    }

    fileprivate static func compare(_ left: ValueInterval, _ right: ValueInterval) -> Int {
        let order = compareLower(left.lower, right.lower)
        return order != 0 ? order : compareUpper(left.upper, right.upper)
    }
}

/// A set of numbered intervals. The index finds all intervals that contain a given value.
///
/// The intervals are stored in a treap (Seidel and Aragon 1996), in the order of their lower bounds. Each node also has
/// the greatest upper bound of its subtree, so a search skips subtrees that end before the value. Equal intervals share
/// a node. The order of the results does not depend on the priorities of the nodes.
///
/// Complexity: O(log *n*) expected to add and remove an interval, O(*k* log *n*) to find *k* intervals.
package struct IntervalIndex: Sendable {
    private struct Node: Sendable {
        var interval: ValueInterval
        var numbers: NumberSet
        var priority: UInt64
        var left = -1
        var right = -1
        var greatestUpper: ValueInterval.Bound?
    }

    private var nodes: [Node] = []
    private var unused: [Int] = []
    private var root = -1
    private var sequence: UInt64

    /// - Parameter seed: a random number from which the priorities are computed. It must be secret. If a client knew
    ///   the priorities, it could choose intervals that make the tree so deep that the recursive functions overflow the
    ///   stack.
    package init(seed: UInt64) { sequence = seed }

    package var isEmpty: Bool { root < 0 }

    /// Calls `body` with the number of each interval that contains the value.
    package func forEach(containing value: SQLValue, _ body: (Int) -> Void) { visit(root, value, body) }

    private func visit(_ node: Int, _ value: SQLValue, _ body: (Int) -> Void) {
        guard node >= 0, ValueInterval.isAfter(nodes[node].greatestUpper, value) else { return }
        visit(nodes[node].left, value, body)
        // If this interval begins after the value, all intervals to the right of it also begin after the value.
        guard nodes[node].interval.beginsBefore(value) else { return }
        if nodes[node].interval.endsAfter(value) { nodes[node].numbers.forEach(body) }
        visit(nodes[node].right, value, body)
    }

    package mutating func add(_ number: Int, _ interval: ValueInterval) {
        if let node = find(interval) {
            nodes[node].numbers.insert(number)
            return
        }
        let node = makeNode(interval, number)
        let (less, greater) = split(root, interval)
        root = merge(merge(less, node), greater)
    }

    /// Removes an interval that was added with this number.
    package mutating func remove(_ number: Int, _ interval: ValueInterval) {
        guard let node = find(interval) else { return }
        nodes[node].numbers.remove(number)
        guard nodes[node].numbers.isEmpty else { return }
        root = removing(interval, from: root)
        unused.append(node)
    }

    private func find(_ interval: ValueInterval) -> Int? {
        var node = root
        while node >= 0 {
            let order = ValueInterval.compare(interval, nodes[node].interval)
            if order == 0 { return node }
            node = order < 0 ? nodes[node].left : nodes[node].right
        }
        return nil
    }

    private mutating func makeNode(_ interval: ValueInterval, _ number: Int) -> Int {
        // SplitMix64 (Steele, Lea and Flood 2014).
        sequence &+= 0x9E37_79B9_7F4A_7C15
        var priority = sequence
        priority = (priority ^ (priority >> 30)) &* 0xBF58_476D_1CE4_E5B9
        priority = (priority ^ (priority >> 27)) &* 0x94D0_49BB_1331_11EB
        priority ^= priority >> 31
        var numbers = NumberSet()
        numbers.insert(number)
        let node = Node(interval: interval, numbers: numbers, priority: priority, greatestUpper: interval.upper)
        if let free = unused.popLast() {
            nodes[free] = node
            return free
        }
        nodes.append(node)
        return nodes.count - 1
    }

    // MARK: Treap

    // Computes the greatest upper bound of a node again, after its children have changed.
    private mutating func update(_ node: Int) {
        var greatest = nodes[node].interval.upper
        for child in [nodes[node].left, nodes[node].right] where child >= 0 {
            let upper = nodes[child].greatestUpper
            if ValueInterval.compareUpper(upper, greatest) > 0 { greatest = upper }
        }
        nodes[node].greatestUpper = greatest
    }

    // Splits a subtree into the nodes that precede the interval, and all other nodes.
    private mutating func split(_ node: Int, _ interval: ValueInterval) -> (Int, Int) {
        guard node >= 0 else { return (-1, -1) }
        if ValueInterval.compare(nodes[node].interval, interval) < 0 {
            let (less, greater) = split(nodes[node].right, interval)
            nodes[node].right = less
            update(node)
            return (node, greater)
        }
        let (less, greater) = split(nodes[node].left, interval)
        nodes[node].left = greater
        update(node)
        return (less, node)
    }

    // Joins two subtrees. All nodes of `left` must precede the nodes of `right`.
    private mutating func merge(_ left: Int, _ right: Int) -> Int {
        guard left >= 0 else { return right }
        guard right >= 0 else { return left }
        if nodes[left].priority > nodes[right].priority {
            let merged = merge(nodes[left].right, right)
            nodes[left].right = merged
            update(left)
            return left
        }
        let merged = merge(left, nodes[right].left)
        nodes[right].left = merged
        update(right)
        return right
    }

    // Removes the node of an interval from a subtree. Returns the new root of the subtree.
    private mutating func removing(_ interval: ValueInterval, from node: Int) -> Int {
        guard node >= 0 else { return node }
        let order = ValueInterval.compare(interval, nodes[node].interval)
        if order == 0 { return merge(nodes[node].left, nodes[node].right) }
        if order < 0 {
            let child = removing(interval, from: nodes[node].left)
            nodes[node].left = child
        } else {
            let child = removing(interval, from: nodes[node].right)
            nodes[node].right = child
        }
        update(node)
        return node
    }
}
