// Set operations on runs. Their cost depends on the number of runs, not on the number of keys.

extension KeySet {
    /// The keys that are in at least one of the two sets.
    ///
    /// Complexity: O(runs of both).
    package func union(_ other: KeySet) -> KeySet {
        if isEmpty { return other }
        if other.isEmpty { return self }
        var result = KeySet()
        var mine = ranges[...]
        var theirs = other.ranges[...]
        while let left = mine.first, let right = theirs.first {
            if left.lowerBound <= right.lowerBound {
                result.append(left)
                mine.removeFirst()
            } else {
                result.append(right)
                theirs.removeFirst()
            }
        }
        for run in mine { result.append(run) }
        for run in theirs { result.append(run) }
        return result
    }

    /// Adds all keys of another set.
    ///
    /// Complexity: O(runs of the other set) if the other set begins above the last key of this set, otherwise O(runs of
    /// both).
    package mutating func formUnion(_ other: KeySet) {
        guard let last, let first = other.first else {
            if isEmpty { self = other }
            return
        }
        if first > last {
            for run in other.ranges { append(run) }
        } else {
            self = union(other)
        }
    }

    /// The keys of this set that are not in the other set.
    ///
    /// Complexity: O(runs of both).
    package func subtracting(_ other: KeySet) -> KeySet {
        if isEmpty || other.isEmpty { return self }
        var result = KeySet()
        var index = 0
        for run in ranges {
            while index < other.ranges.count, other.ranges[index].upperBound < run.lowerBound { index += 1 }
            var rest: ClosedRange<ObjectKey>? = run
            while let part = rest, index < other.ranges.count, other.ranges[index].lowerBound <= part.upperBound {
                let removed = other.ranges[index]
                if removed.lowerBound > part.lowerBound { result.append(part.lowerBound...(removed.lowerBound - 1)) }
                if removed.upperBound < part.upperBound {
                    rest = (removed.upperBound + 1)...part.upperBound
                    index += 1
                } else {
                    rest = nil
                }
            }
            if let rest { result.append(rest) }
        }
        return result
    }

    /// The keys that are in both sets.
    ///
    /// Complexity: O(runs of both).
    package func intersection(_ other: KeySet) -> KeySet {
        var result = KeySet()
        forEachSharedRun(with: other) { run in
            result.append(run)
            return true
        }
        return result
    }

    /// True if no key is in both sets.
    ///
    /// Complexity: O(runs of both). The search ends at the first shared key.
    package func isDisjoint(with other: KeySet) -> Bool {
        var isDisjoint = true
        forEachSharedRun(with: other) { _ in
            isDisjoint = false
            return false
        }
        return isDisjoint
    }

    /// True if every key of this set is in the other set.
    ///
    /// Complexity: O(runs of both).
    package func isSubset(of other: KeySet) -> Bool {
        subtracting(other).isEmpty
    }

    /// Calls `body` with every maximal run that is in both sets, in ascending order, until `body` returns false.
    private func forEachSharedRun(with other: KeySet, _ body: (ClosedRange<ObjectKey>) -> Bool) {
        var left = 0
        var right = 0
        while left < ranges.count, right < other.ranges.count {
            let mine = ranges[left]
            let theirs = other.ranges[right]
            let lower = Swift.max(mine.lowerBound, theirs.lowerBound)
            let upper = Swift.min(mine.upperBound, theirs.upperBound)
            if lower <= upper, !body(lower...upper) { return }
            if mine.upperBound <= theirs.upperBound { left += 1 } else { right += 1 }
        }
    }
}
