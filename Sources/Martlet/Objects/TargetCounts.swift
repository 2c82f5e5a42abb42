import MartletEngine

/// How often a collection links to objects more, or less, than is written.
///
/// What happens is noted one by one and summed up when it is asked for, which takes a fraction of what looking each target up
/// would take: most are named once.
struct TargetCounts {
    private var linked: [ObjectKey] = []
    private var unlinked: [ObjectKey] = []
    private var greatestLength = 1 << 17

    var isEmpty: Bool { linked.isEmpty && unlinked.isEmpty }

    mutating func link(_ target: ObjectKey) {
        linked.append(target)
        if linked.count > greatestLength { fold() }
    }

    mutating func unlink(_ target: ObjectKey) {
        unlinked.append(target)
        if unlinked.count > greatestLength { fold() }
    }

    /// The targets whose number of links has changed, in the order of their keys.
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

    // What goes to and fro must not take ever more memory.
    private mutating func fold() {
        let changes = changes()
        linked = changes.flatMap { [ObjectKey](repeating: $0.target, count: max(0, $0.change)) }
        unlinked = changes.flatMap { [ObjectKey](repeating: $0.target, count: max(0, -$0.change)) }
        greatestLength = max(1 << 17, 2 * max(linked.count, unlinked.count))
    }
}
