extension KeySequence {
    /// The first position whose key satisfies a predicate that, once true, stays true; the count if none does.
    ///
    /// Complexity: O(log n) calls of the predicate.
    package func position<Failure: Error>(
        where predicate: (ObjectKey) throws(Failure) -> Bool
    ) throws(Failure) -> Int {
        let index = try partitionPoint(0..<chunks.count) { (index) throws(Failure) in
            try predicate(chunks[index][chunks[index].count - 1])
        }
        if index == chunks.count { return count }
        let chunk = chunks[index]
        let offset = try partitionPoint(0..<(chunk.count - 1)) { (offset) throws(Failure) in
            try predicate(chunk[offset])
        }
        return starts[index] + offset
    }

    /// The first position from `start` on whose key satisfies a predicate that, once true, stays true.
    ///
    /// Looks near `start` first (galloping search, Bentley and Yao 1976), which pays when many such positions are
    /// asked for in ascending order.
    ///
    /// Complexity: O(log d) calls of the predicate for a position d behind `start`.
    package func position<Failure: Error>(
        from start: Int, where predicate: (ObjectKey) throws(Failure) -> Bool
    ) throws(Failure) -> Int {
        var low = start
        var step = 1
        while low < count {
            let probe = Swift.min(low + step - 1, count - 1)
            if try predicate(self[probe]) {
                return try partitionPoint(low..<probe) { (position) throws(Failure) in try predicate(self[position]) }
            }
            low = probe + 1
            step *= 2
        }
        return count
    }

    /// The position of a key in a sequence whose keys ascend.
    ///
    /// Complexity: O(log n).
    package func positionAscending(of key: ObjectKey) -> Int? {
        let position = insertionPositionAscending(for: key)
        return position < count && self[position] == key ? position : nil
    }

    /// The first position whose key is not below `key`, in a sequence whose keys ascend.
    ///
    /// Complexity: O(log n).
    package func insertionPositionAscending(for key: ObjectKey) -> Int {
        position { $0 >= key }
    }

    /// The position of a key in a sequence of any order.
    ///
    /// Complexity: O(n).
    package func firstPosition(of key: ObjectKey) -> Int? {
        for (chunk, start) in zip(chunks, starts) {
            if let offset = chunk.firstIndex(of: key) { return start + offset }
        }
        return nil
    }

    /// The positions of all keys that are members of a set, ascending.
    ///
    /// Complexity: O(n log runs), in one pass that ends once every key of the set is found.
    package func positions(of set: KeySet) -> [Int] {
        var found: [Int] = []
        guard let lowest = set.first, let highest = set.last else { return found }
        for (chunk, start) in zip(chunks, starts) {
            for (offset, key) in chunk.enumerated() where lowest <= key && key <= highest && set.contains(key) {
                found.append(start + offset)
            }
            if found.count == set.count { break }
        }
        return found
    }

    /// The keys at a range of positions.
    ///
    /// Complexity: O(log chunks + length of the range).
    package func keys(in range: Range<Int>) -> [ObjectKey] {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "range lies outside the key sequence")
        var keys: [ObjectKey] = []
        keys.reserveCapacity(range.count)
        var index = chunkIndex(at: range.lowerBound)
        var position = range.lowerBound
        while position < range.upperBound {
            let offset = position - starts[index]
            let end = Swift.min(chunks[index].count, offset + range.upperBound - position)
            keys.append(contentsOf: chunks[index][offset..<end])
            position += end - offset
            index += 1
        }
        return keys
    }

    /// Whether the keys ascend.
    ///
    /// Complexity: O(n).
    package var isAscending: Bool {
        var previous: ObjectKey?
        for chunk in chunks {
            for key in chunk {
                if let previous, previous >= key { return false }
                previous = key
            }
        }
        return true
    }

    /// The first index of a range that satisfies a predicate that, once true, stays true; its end if none does.
    private func partitionPoint<Failure: Error>(
        _ range: Range<Int>, where predicate: (Int) throws(Failure) -> Bool
    ) throws(Failure) -> Int {
        var low = range.lowerBound
        var high = range.upperBound
        while low < high {
            let middle = (low + high) / 2
            if try predicate(middle) {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return low
    }
}
