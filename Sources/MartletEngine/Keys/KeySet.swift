/// A set of object keys, stored as the sorted list of its runs of consecutive keys.
///
/// The runtime assigns keys in order, and transactions usually change ranges of rows. Most sets therefore have only a
/// few runs, and even a million consecutive keys are only one run. Adjacent runs are always joined, so equal sets have
/// equal runs. A set contains fewer than 2^63 keys.
package struct KeySet: Sendable, Hashable {
    /// The runs of consecutive keys, ascending. Between two runs, at least one key is missing.
    package private(set) var ranges: [ClosedRange<ObjectKey>]

    /// The number of keys.
    package private(set) var count: Int

    package init() {
        ranges = []
        count = 0
    }

    /// Creates the set of the given keys, which ascend. Repeated keys are allowed.
    ///
    /// Complexity: O(number of keys).
    package init(sorted keys: some Sequence<ObjectKey>) {
        self.init()
        for key in keys {
            append(key...key)
        }
    }

    /// Creates the set of the given keys, which may be in any order. Repeated keys are allowed.
    ///
    /// Complexity: O(n) if the keys ascend, otherwise O(n log n).
    package init(_ keys: some Sequence<ObjectKey>) {
        var sorted = Array(keys)
        if zip(sorted, sorted.dropFirst()).contains(where: { $0 > $1 }) {
            sorted.sort()
        }
        self.init(sorted: sorted)
    }

    /// Creates the set of all keys of a range.
    package init(_ range: ClosedRange<ObjectKey>) {
        self.init()
        append(range)
    }

    package var isEmpty: Bool { ranges.isEmpty }

    /// The smallest key.
    package var first: ObjectKey? { ranges.first?.lowerBound }

    /// The greatest key.
    package var last: ObjectKey? { ranges.last?.upperBound }

    /// True if a key is a member of the set.
    ///
    /// Complexity: O(log runs).
    package func contains(_ key: ObjectKey) -> Bool {
        guard let first = ranges.first, let last = ranges.last,
            first.lowerBound <= key, key <= last.upperBound
        else { return false }
        return ranges[firstRun(endingAtOrAfter: key)].lowerBound <= key
    }

    /// Adds a key. Returns true if the key was not a member before.
    ///
    /// Complexity: amortised O(1) for a key above all others, otherwise O(runs). To add many keys in random order,
    /// collect them in an array first.
    @discardableResult
    package mutating func insert(_ key: ObjectKey) -> Bool {
        guard let last = ranges.last, key <= last.upperBound else {
            append(key...key)
            return true
        }
        let index = firstRun(endingAtOrAfter: key)
        let next = ranges[index]
        if next.lowerBound <= key { return false }
        let joinsNext = next.lowerBound - 1 == key
        let joinsPrevious = index > 0 && ranges[index - 1].upperBound + 1 == key
        switch (joinsPrevious, joinsNext) {
        case (true, true):
            ranges[index - 1] = ranges[index - 1].lowerBound...next.upperBound
            ranges.remove(at: index)
        case (true, false): ranges[index - 1] = ranges[index - 1].lowerBound...key
        case (false, true): ranges[index] = key...next.upperBound
        case (false, false): ranges.insert(key...key, at: index)
        }
        count += 1
        return true
    }

    /// Removes a key. Returns true if the key was a member before.
    ///
    /// Complexity: O(runs).
    @discardableResult
    package mutating func remove(_ key: ObjectKey) -> Bool {
        guard contains(key) else { return false }
        let index = firstRun(endingAtOrAfter: key)
        let run = ranges[index]
        switch (run.lowerBound == key, run.upperBound == key) {
        case (true, true): ranges.remove(at: index)
        case (true, false): ranges[index] = (key + 1)...run.upperBound
        case (false, true): ranges[index] = run.lowerBound...(key - 1)
        case (false, false):
            ranges[index] = run.lowerBound...(key - 1)
            ranges.insert((key + 1)...run.upperBound, at: index + 1)
        }
        count -= 1
        return true
    }

    /// Adds a run that does not begin before the last run of the set. It may overlap the last run or be adjacent to it.
    ///
    /// Complexity: amortised O(1).
    package mutating func append(_ run: ClosedRange<ObjectKey>) {
        guard let last = ranges.last else {
            ranges.append(run)
            count = KeySet.width(of: run)
            return
        }
        precondition(run.lowerBound >= last.lowerBound, "runs are appended to a key set in ascending order")
        if run.lowerBound > last.upperBound && run.lowerBound - 1 > last.upperBound {
            ranges.append(run)
            count += KeySet.width(of: run)
        } else if run.upperBound > last.upperBound {
            ranges[ranges.count - 1] = last.lowerBound...run.upperBound
            count += Int(run.upperBound - last.upperBound)
        }
    }

    /// The index of the first run that ends at `key` or later. If there is none, this is the number of runs.
    private func firstRun(endingAtOrAfter key: ObjectKey) -> Int {
        ranges.indices.partitionPoint { ranges[$0].upperBound >= key }
    }

    private static func width(of run: ClosedRange<ObjectKey>) -> Int {
        Int(run.upperBound - run.lowerBound) + 1
    }

    /// Traps if the runs do not ascend, if two runs are adjacent, or if the count is wrong.
    package func checkInvariants() {
        for (run, next) in zip(ranges, ranges.dropFirst()) {
            precondition(run.upperBound < next.lowerBound, "the runs of a key set do not ascend")
            precondition(run.upperBound + 1 < next.lowerBound, "two runs of a key set are adjacent")
        }
        precondition(
            count == ranges.reduce(0) { $0 + KeySet.width(of: $1) },
            "the count of a key set is not the number of keys in its runs")
    }
}

extension KeySet: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: ObjectKey...) {
        self.init(elements)
    }
}

extension KeySet: Sequence {
    package struct Iterator: IteratorProtocol {
        private var runs: IndexingIterator<[ClosedRange<ObjectKey>]>
        private var run: ClosedRange<ObjectKey>?

        fileprivate init(_ set: KeySet) {
            runs = set.ranges.makeIterator()
            run = runs.next()
        }

        package mutating func next() -> ObjectKey? {
            guard let current = run else { return nil }
            let key = current.lowerBound
            run = key < current.upperBound ? (key + 1)...current.upperBound : runs.next()
            return key
        }
    }

    /// Iterates over the keys in ascending order.
    package func makeIterator() -> Iterator { Iterator(self) }

    package var underestimatedCount: Int { count }
}
