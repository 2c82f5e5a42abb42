extension KeySequence {
    /// Up to this number of changes, applying them one by one is cheaper than one pass over all chunks.
    private static let smallBatch = 8

    /// Removes the keys at the given positions. The positions ascend, and refer to the sequence before the call.
    ///
    /// Complexity: O(c + k · s) for c chunks, k removed keys and s keys per chunk.
    package mutating func removeAll(at sortedPositions: [Int]) {
        guard let first = sortedPositions.first, let last = sortedPositions.last else { return }
        precondition(first >= 0 && last < count, "removal lies outside the key sequence")
        precondition(
            !zip(sortedPositions, sortedPositions.dropFirst()).contains { $0 >= $1 }, "positions must ascend")
        if sortedPositions.count <= KeySequence.smallBatch {
            for position in sortedPositions.reversed() { remove(at: position) }
            return
        }
        var assembler = KeyChunkAssembler()
        assembler.reserveCapacity(chunks.count)
        var next = 0
        for (chunk, start) in zip(chunks, starts) {
            let firstOfChunk = next
            while next < sortedPositions.count, sortedPositions[next] < start + chunk.count { next += 1 }
            if firstOfChunk == next {
                assembler.append(chunk)
            } else {
                assembler.append(KeySequence.removing(sortedPositions[firstOfChunk..<next], from: chunk, at: start))
            }
        }
        self = KeySequence(chunks: assembler.chunks)
    }

    /// Inserts keys at the given positions. The positions ascend, and refer to the sequence after the call.
    ///
    /// The result equals inserting the keys one by one in the given order.
    ///
    /// Complexity: O(c + k · s) for c chunks, k inserted keys and s keys per chunk.
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
        var assembler = KeyChunkAssembler()
        assembler.reserveCapacity(chunks.count)
        var next = 0
        for (index, chunk) in chunks.enumerated() {
            let start = starts[index]
            let end = index + 1 < chunks.count ? start + chunk.count : Int.max
            let firstOfChunk = next
            // The position of an insertion, minus the number of insertions before it, is its position before the call.
            while next < insertions.count, insertions[next].position - next < end { next += 1 }
            if firstOfChunk == next {
                assembler.append(chunk)
            } else {
                let offset = start + firstOfChunk
                assembler.append(KeySequence.inserting(insertions[firstOfChunk..<next], into: chunk, at: offset))
            }
        }
        self = KeySequence(chunks: assembler.chunks)
    }

    private static func removing(
        _ positions: ArraySlice<Int>, from chunk: [ObjectKey], at start: Int
    ) -> [ObjectKey] {
        var kept: [ObjectKey] = []
        kept.reserveCapacity(chunk.count - positions.count)
        var from = 0
        for position in positions {
            kept.append(contentsOf: chunk[from..<(position - start)])
            from = position - start + 1
        }
        kept.append(contentsOf: chunk[from...])
        return kept
    }

    private static func inserting(
        _ insertions: ArraySlice<(position: Int, key: ObjectKey)>, into chunk: [ObjectKey], at start: Int
    ) -> [ObjectKey] {
        var filled: [ObjectKey] = []
        filled.reserveCapacity(chunk.count + insertions.count)
        var from = 0
        for (position, key) in insertions {
            let kept = position - start - filled.count
            filled.append(contentsOf: chunk[from..<(from + kept)])
            from += kept
            filled.append(key)
        }
        filled.append(contentsOf: chunk[from...])
        return filled
    }
}

/// Builds a list of chunks: joins small chunks with their neighbour and splits large ones.
///
/// Chunks of a valid size are reused, so they stay shared with the original sequence.
struct KeyChunkAssembler {
    private(set) var chunks: [[ObjectKey]] = []

    mutating func reserveCapacity(_ count: Int) {
        chunks.reserveCapacity(count)
    }

    mutating func append(_ keys: [ObjectKey]) {
        if keys.isEmpty { return }
        if let last = chunks.last, Swift.min(last.count, keys.count) < KeySequence.ChunkSize.minimum {
            chunks.removeLast()
            divide(last + keys)
        } else {
            divide(keys)
        }
    }

    private mutating func divide(_ keys: [ObjectKey]) {
        if keys.count <= KeySequence.ChunkSize.maximum {
            chunks.append(keys)
            return
        }
        let parts = (keys.count + KeySequence.ChunkSize.ideal - 1) / KeySequence.ChunkSize.ideal
        for part in 0..<parts {
            chunks.append(Array(keys[(keys.count * part / parts)..<(keys.count * (part + 1) / parts)]))
        }
    }
}
