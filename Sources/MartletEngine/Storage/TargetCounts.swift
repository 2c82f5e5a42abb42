/// For each object, how the number of links from one collection to it has changed since the last write to the file.
///
/// Every added link is appended to one array, and every removed link to another array. The arrays are summed up on
/// demand. Most targets occur once, so these arrays are much faster than a dictionary.
package struct TargetCounts {
    private var linked: [ObjectKey] = []
    private var unlinked: [ObjectKey] = []
    private var foldThreshold = 1 << 17
    /// The changes by target. Nil until `change(of:)` needs them.
    private var byTarget: [ObjectKey: Int]?

    package init() {}

    package var isEmpty: Bool { linked.isEmpty && unlinked.isEmpty }

    package mutating func link(_ target: ObjectKey) {
        linked.append(target)
        byTarget?[target, default: 0] += 1
        if linked.count > foldThreshold { fold() }
    }

    package mutating func unlink(_ target: ObjectKey) {
        unlinked.append(target)
        byTarget?[target, default: 0] -= 1
        if unlinked.count > foldThreshold { fold() }
    }

    /// How the number of links to a target has changed.
    ///
    /// Complexity: O(1) on average. The first call is O(n).
    package mutating func change(of target: ObjectKey) -> Int {
        if isEmpty { return 0 }
        if byTarget == nil { byTarget = Dictionary(uniqueKeysWithValues: changes().map { ($0.target, $0.change) }) }
        return byTarget?[target] ?? 0
    }

    /// The targets with a changed number of links, in the order of their keys.
    func changes() -> [(target: ObjectKey, change: Int)] {
        let (more, fewer) = (linked.sorted(), unlinked.sorted())
        var changes: [(target: ObjectKey, change: Int)] = []
        changes.reserveCapacity(more.count)
        var (next, other) = (0, 0)
        while next < more.count || other < fewer.count {
            let target = min(next < more.count ? more[next] : .max, other < fewer.count ? fewer[other] : .max)
            var change = 0
            while next < more.count, more[next] == target { (next, change) = (next + 1, change + 1) }
            while other < fewer.count, fewer[other] == target { (other, change) = (other + 1, change - 1) }
            if change != 0 { changes.append((target, change)) }
        }
        return changes
    }

    // Removes the links that occur in both arrays. Otherwise, links that are added and removed repeatedly would use
    // more and more memory.
    private mutating func fold() {
        let changes = changes()
        linked = changes.flatMap { [ObjectKey](repeating: $0.target, count: max(0, $0.change)) }
        unlinked = changes.flatMap { [ObjectKey](repeating: $0.target, count: max(0, -$0.change)) }
        foldThreshold = max(1 << 17, 2 * max(linked.count, unlinked.count))
    }
}
