/// The object keys of a result in their order. A key occurs at most once, except in results on lists, maps and linking
/// objects, where it occurs as often as in the collection.
///
/// The keys are stored in several arrays of about 512 keys, called chunks. A further array contains the position of the
/// first key of each chunk. Copies share the chunks, so copying is O(1). The first change of a shared copy copies the
/// list of chunks. Inserting or removing one key changes one chunk, sometimes its neighbours, and the starts of the
/// chunks after it.
package struct KeySequence: Sendable {
    /// The sizes of chunks. If there is only one chunk, it may have fewer keys than the minimum.
    enum ChunkSize {
        static let minimum = 128
        static let ideal = 512
        static let maximum = 1024
    }

    /// The keys, in order. No chunk is empty.
    private(set) var chunks: [[ObjectKey]]

    /// For each chunk, the position of its first key.
    private(set) var starts: [Int]

    /// The number of keys.
    package private(set) var count: Int

    /// An empty sequence.
    package init() {
        chunks = []
        starts = []
        count = 0
    }

    /// The given keys in the given order.
    ///
    /// Complexity: O(n).
    package init(_ keys: [ObjectKey]) {
        var assembler = KeyChunkAssembler()
        assembler.append(keys)
        self.init(chunks: assembler.chunks)
    }

    /// A sequence of the given chunks, which already have valid sizes.
    init(chunks: [[ObjectKey]]) {
        self.chunks = chunks
        starts = []
        starts.reserveCapacity(chunks.count)
        count = 0
        for chunk in chunks {
            starts.append(count)
            count += chunk.count
        }
    }

    /// Whether there are no keys.
    package var isEmpty: Bool { count == 0 }

    /// The key at a position.
    ///
    /// Complexity: O(log c) for c chunks.
    package subscript(position: Int) -> ObjectKey {
        precondition(0 <= position && position < count, "position lies outside the key sequence")
        let index = chunkIndex(at: position)
        return chunks[index][position - starts[index]]
    }

    /// Inserts a key at a position. The positions of the keys from there on increase by one.
    ///
    /// Complexity: O(s + c) for s keys per chunk and c chunks.
    package mutating func insert(_ key: ObjectKey, at position: Int) {
        precondition(0 <= position && position <= count, "insertion lies outside the key sequence")
        if chunks.isEmpty {
            self = KeySequence([key])
            return
        }
        let index = chunkIndex(at: position)
        chunks[index].insert(key, at: position - starts[index])
        if chunks[index].count > ChunkSize.maximum {
            rebuild(index..<(index + 1))
        } else {
            shiftStarts(after: index, by: 1)
        }
    }

    /// Removes the key at a position. The positions of the keys after it decrease by one.
    ///
    /// Complexity: O(s + c) for s keys per chunk and c chunks.
    @discardableResult
    package mutating func remove(at position: Int) -> ObjectKey {
        precondition(0 <= position && position < count, "removal lies outside the key sequence")
        let index = chunkIndex(at: position)
        let key = chunks[index].remove(at: position - starts[index])
        if chunks[index].count >= ChunkSize.minimum {
            shiftStarts(after: index, by: -1)
        } else {
            let first = index > 0 ? index - 1 : index
            rebuild(first..<Swift.min(first + 2, chunks.count))
        }
        return key
    }

    /// The index of the chunk that contains a position; the last chunk for the position after the end.
    func chunkIndex(at position: Int) -> Int {
        Swift.max(0, starts.indices.partitionPoint { starts[$0] > position } - 1)
    }

    private mutating func shiftStarts(after index: Int, by offset: Int) {
        count += offset
        let firstShifted = index + 1
        starts.withUnsafeMutableBufferPointer { starts in
            for later in firstShifted..<Swift.max(firstShifted, starts.count) {
                starts[later] &+= offset
            }
        }
    }

    /// Splits and joins a few neighbouring chunks so that they have valid sizes, and updates the starts after them.
    private mutating func rebuild(_ range: Range<Int>) {
        var assembler = KeyChunkAssembler()
        for chunk in chunks[range] { assembler.append(chunk) }
        chunks.replaceSubrange(range, with: assembler.chunks)
        var start = starts[range.lowerBound]
        starts.removeSubrange(range.lowerBound...)
        for chunk in chunks[range.lowerBound...] {
            starts.append(start)
            start += chunk.count
        }
        count = start
    }

    /// Traps unless the chunks have valid sizes, the starts and the count are right, and no key occurs twice. For tests
    /// of sequences whose keys are distinct.
    package func checkInvariants() {
        precondition(starts.count == chunks.count, "the numbers of chunks and of starts differ")
        var position = 0
        for (chunk, start) in zip(chunks, starts) {
            precondition(start == position, "a chunk does not start where the previous one ends")
            precondition(!chunk.isEmpty && chunk.count <= ChunkSize.maximum, "a chunk is empty or too large")
            precondition(chunk.count >= ChunkSize.minimum || chunks.count == 1, "one of several chunks is too small")
            position += chunk.count
        }
        precondition(position == count, "the count is not the number of keys in the chunks")
        precondition(Set(chunks.joined()).count == count, "a key occurs twice")
    }
}

extension KeySequence: Sequence {
    package struct Iterator: IteratorProtocol {
        private let chunks: [[ObjectKey]]
        private var chunk: [ObjectKey]
        private var nextChunk: Int
        private var offset = 0

        fileprivate init(_ chunks: [[ObjectKey]]) {
            self.chunks = chunks
            chunk = chunks.first ?? []
            nextChunk = 1
        }

        package mutating func next() -> ObjectKey? {
            if offset == chunk.count {
                guard nextChunk < chunks.count else { return nil }
                chunk = chunks[nextChunk]
                nextChunk += 1
                offset = 0
            }
            defer { offset += 1 }
            return chunk[offset]
        }
    }

    /// Iterates over the keys in order. Later changes of the sequence do not affect the iterator.
    package func makeIterator() -> Iterator { Iterator(chunks) }

    package var underestimatedCount: Int { count }
}

extension KeySequence: Equatable {
    /// Whether both contain the same keys in the same order.
    ///
    /// Complexity: O(n). If the chunks have the same starts, shared chunks are not compared.
    package static func == (left: KeySequence, right: KeySequence) -> Bool {
        if left.count != right.count { return false }
        if left.starts == right.starts { return left.chunks == right.chunks }
        return left.elementsEqual(right)
    }
}

extension KeySequence: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: ObjectKey...) {
        self.init(elements)
    }
}
