extension KeySequence {
    /// The greatest number of changes that are applied one by one. For so few changes, this is cheaper than one pass
    /// over all blocks.
    private static let smallBatch = 8

    /// Removes the keys at the given positions. The positions ascend, and refer to the sequence before the call.
    ///
    /// Complexity: O(b + k · s) for b blocks, k removed keys and s keys per block.
    package mutating func removeAll(at sortedPositions: [Int]) {
        guard let first = sortedPositions.first, let last = sortedPositions.last else { return }
        precondition(first >= 0 && last < count, "removal lies outside the key sequence")
        precondition(
            !zip(sortedPositions, sortedPositions.dropFirst()).contains { $0 >= $1 }, "positions must ascend")
        if sortedPositions.count <= KeySequence.smallBatch {
            for position in sortedPositions.reversed() { remove(at: position) }
            return
        }
        var assembler = KeyBlockAssembler()
        assembler.reserveCapacity(blocks.count)
        var next = 0
        for (block, start) in zip(blocks, starts) {
            let firstOfBlock = next
            while next < sortedPositions.count, sortedPositions[next] < start + block.count { next += 1 }
            if firstOfBlock == next {
                assembler.append(block)
            } else {
                assembler.append(KeySequence.removing(sortedPositions[firstOfBlock..<next], from: block, at: start))
            }
        }
        self = KeySequence(blocks: assembler.blocks)
    }

    /// Inserts keys at the given positions. The positions ascend, and refer to the sequence after the call.
    ///
    /// The result is the same as if the keys were inserted one by one in the given order.
    ///
    /// Complexity: O(b + k · s) for b blocks, k inserted keys and s keys per block.
    package mutating func insertAll(_ insertions: [(position: Int, key: ObjectKey)]) {
        guard let first = insertions.first, let last = insertions.last else { return }
        precondition(
            first.position >= 0 && last.position < count + insertions.count, "insertion lies outside the key sequence")
        precondition(
            !zip(insertions, insertions.dropFirst()).contains { $0.position >= $1.position },
            "positions must ascend")
        if insertions.count <= KeySequence.smallBatch {
            for (position, key) in insertions { insert(key, at: position) }
            return
        }
        if isEmpty {
            self = KeySequence(insertions.map { $0.key })
            return
        }
        var assembler = KeyBlockAssembler()
        assembler.reserveCapacity(blocks.count)
        var next = 0
        for (index, block) in blocks.enumerated() {
            let start = starts[index]
            let end = index + 1 < blocks.count ? start + block.count : Int.max
            let firstOfBlock = next
            // `position` refers to the sequence after the call. If the number of earlier insertions (`next`) is
            // subtracted, the result refers to the sequence before the call.
            while next < insertions.count, insertions[next].position - next < end { next += 1 }
            if firstOfBlock == next {
                assembler.append(block)
            } else {
                let offset = start + firstOfBlock
                assembler.append(KeySequence.inserting(insertions[firstOfBlock..<next], into: block, at: offset))
            }
        }
        self = KeySequence(blocks: assembler.blocks)
    }

    private static func removing(
        _ positions: ArraySlice<Int>, from block: [ObjectKey], at start: Int
    ) -> [ObjectKey] {
        var kept: [ObjectKey] = []
        kept.reserveCapacity(block.count - positions.count)
        var from = 0
        for position in positions {
            kept.append(contentsOf: block[from..<(position - start)])
            from = position - start + 1
        }
        kept.append(contentsOf: block[from...])
        return kept
    }

    private static func inserting(
        _ insertions: ArraySlice<(position: Int, key: ObjectKey)>, into block: [ObjectKey], at start: Int
    ) -> [ObjectKey] {
        var filled: [ObjectKey] = []
        filled.reserveCapacity(block.count + insertions.count)
        var from = 0
        for (position, key) in insertions {
            let kept = position - start - filled.count
            filled.append(contentsOf: block[from..<(from + kept)])
            from += kept
            filled.append(key)
        }
        filled.append(contentsOf: block[from...])
        return filled
    }
}

/// Builds a list of blocks of valid sizes. The assembler joins a block that is too small with its neighbour, and splits
/// a block that is too large.
///
/// It reuses blocks of a valid size, so that they stay shared with the original sequence.
struct KeyBlockAssembler {
    private(set) var blocks: [[ObjectKey]] = []

    mutating func reserveCapacity(_ count: Int) {
        blocks.reserveCapacity(count)
    }

    mutating func append(_ keys: [ObjectKey]) {
        if keys.isEmpty { return }
        if let last = blocks.last, Swift.min(last.count, keys.count) < KeySequence.BlockSize.minimum {
            blocks.removeLast()
            divide(last + keys)
        } else {
            divide(keys)
        }
    }

    private mutating func divide(_ keys: [ObjectKey]) {
        if keys.count <= KeySequence.BlockSize.maximum {
            blocks.append(keys)
            return
        }
        let parts = (keys.count + KeySequence.BlockSize.ideal - 1) / KeySequence.BlockSize.ideal
        for part in 0..<parts {
            blocks.append(Array(keys[(keys.count * part / parts)..<(keys.count * (part + 1) / parts)]))
        }
    }
}
