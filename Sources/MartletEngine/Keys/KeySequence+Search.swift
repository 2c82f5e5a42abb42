extension KeySequence {
    /// The first position whose key satisfies a monotonic predicate (once true, it stays true). If no key satisfies the
    /// predicate, this is the count.
    ///
    /// Complexity: O(log n) calls of the predicate.
    package func position<Failure: Error>(
        where predicate: (ObjectKey) throws(Failure) -> Bool
    ) throws(Failure) -> Int {
        let index = try blocks.indices.partitionPoint { (index) throws(Failure) in
            try predicate(blocks[index][blocks[index].count - 1])
        }
        if index == blocks.count { return count }
        let block = blocks[index]
        return starts[index]
            + (try (0..<(block.count - 1)).partitionPoint { (offset) throws(Failure) in try predicate(block[offset]) })
    }

    /// The first position at or after `start` whose key satisfies a monotonic predicate (once true, it stays true). If
    /// no such key satisfies the predicate, this is the count.
    ///
    /// The method searches near `start` first. This is fast for a series of searches with ascending results, each of
    /// which starts at the previous result.
    ///
    /// Complexity: O(log d) calls of the predicate for a result d positions after `start`.
    package func position<Failure: Error>(
        from start: Int, where predicate: (ObjectKey) throws(Failure) -> Bool
    ) throws(Failure) -> Int {
        try (start..<count).partitionPointGalloping { (position) throws(Failure) in try predicate(self[position]) }
    }

    /// The position of a key in a sequence whose keys ascend; nil if the sequence does not contain the key.
    ///
    /// Complexity: O(log n).
    package func positionAscending(of key: ObjectKey) -> Int? {
        let position = insertionPositionAscending(for: key)
        return position < count && self[position] == key ? position : nil
    }

    /// The first position whose key is `key` or greater, in a sequence whose keys ascend. If there is no such key, this
    /// is the count.
    ///
    /// Complexity: O(log n).
    package func insertionPositionAscending(for key: ObjectKey) -> Int {
        position { $0 >= key }
    }

    /// The first position of a key in a sequence of any order; nil if the sequence does not contain the key.
    ///
    /// Complexity: O(n).
    package func firstPosition(of key: ObjectKey) -> Int? {
        for (block, start) in zip(blocks, starts) {
            if let offset = block.firstIndex(of: key) { return start + offset }
        }
        return nil
    }

    /// The positions of all occurrences of the keys of a set, in ascending order.
    ///
    /// Complexity: O(n log r) for a set of r runs. If no key occurs twice in the sequence, the pass over the blocks ends
    /// when every key of the set is found.
    package func positions(of set: KeySet, areKeysDistinct: Bool = true) -> [Int] {
        var found: [Int] = []
        guard let lowest = set.first, let highest = set.last else { return found }
        for (block, start) in zip(blocks, starts) {
            for (offset, key) in block.enumerated() where lowest <= key && key <= highest && set.contains(key) {
                found.append(start + offset)
            }
            if areKeysDistinct, found.count == set.count { break }
        }
        return found
    }

    /// The keys at a range of positions.
    ///
    /// Complexity: O(log b + k) for b blocks and a range of k positions.
    package func keys(in range: Range<Int>) -> [ObjectKey] {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "range lies outside the key sequence")
        var keys: [ObjectKey] = []
        keys.reserveCapacity(range.count)
        var index = blockIndex(at: range.lowerBound)
        var position = range.lowerBound
        while position < range.upperBound {
            let offset = position - starts[index]
            let end = Swift.min(blocks[index].count, offset + range.upperBound - position)
            keys.append(contentsOf: blocks[index][offset..<end])
            position += end - offset
            index += 1
        }
        return keys
    }

    /// The keys at ascending positions.
    ///
    /// Complexity: O(k + t · log b) for k positions in t of b blocks.
    package func keys(at sortedPositions: [Int]) -> [ObjectKey] {
        var index = 0
        return sortedPositions.map { position in
            precondition(0 <= position && position < count, "position lies outside the key sequence")
            if position >= starts[index] + blocks[index].count { index = blockIndex(at: position) }
            return blocks[index][position - starts[index]]
        }
    }

    /// True if the keys ascend and no key occurs twice.
    ///
    /// Complexity: O(n).
    package var isAscending: Bool {
        var previous: ObjectKey?
        for block in blocks {
            for key in block {
                if let previous, previous >= key { return false }
                previous = key
            }
        }
        return true
    }
}
