/// The object keys of a result in their order. A key usually occurs at most once. In a result over a list, a map or
/// linking objects, a key occurs as often as in the collection.
///
/// The keys are stored in several arrays of about 512 keys, called blocks. A further array contains the position of the
/// first key of each block, called its start. Copies share the blocks, so copying is O(1). The first change of a shared
/// copy copies the list of blocks. The insertion or removal of one key changes one block, sometimes its neighbours, and
/// the starts of the blocks after it.
package struct KeySequence: Sendable {
    /// The sizes of blocks. If there is only one block, it may have fewer keys than the minimum.
    enum BlockSize {
        static let minimum = 128
        static let ideal = 512
        static let maximum = 1024
    }

    /// The keys, in order. No block is empty.
    private(set) var blocks: [[ObjectKey]]

    /// For each block, the position of its first key.
    private(set) var starts: [Int]

    /// The number of keys.
    package private(set) var count: Int

    package init() {
        blocks = []
        starts = []
        count = 0
    }

    /// Creates a sequence of the given keys in the given order.
    ///
    /// Complexity: O(n).
    package init(_ keys: [ObjectKey]) {
        var assembler = KeyBlockAssembler()
        assembler.append(keys)
        self.init(blocks: assembler.blocks)
    }

    /// Creates a sequence of the given blocks, which already have valid sizes.
    init(blocks: [[ObjectKey]]) {
        self.blocks = blocks
        starts = []
        starts.reserveCapacity(blocks.count)
        count = 0
        for block in blocks {
            starts.append(count)
            count += block.count
        }
    }

    package var isEmpty: Bool { count == 0 }

    /// The key at a position.
    ///
    /// Complexity: O(log b) for b blocks.
    package subscript(position: Int) -> ObjectKey {
        precondition(0 <= position && position < count, "position lies outside the key sequence")
        let index = blockIndex(at: position)
        return blocks[index][position - starts[index]]
    }

    /// Inserts a key at a position. The positions of the key that was there, and of all keys after it, increase by one.
    ///
    /// Complexity: O(s + b) for s keys per block and b blocks.
    package mutating func insert(_ key: ObjectKey, at position: Int) {
        precondition(0 <= position && position <= count, "insertion lies outside the key sequence")
        if blocks.isEmpty {
            self = KeySequence([key])
            return
        }
        let index = blockIndex(at: position)
        blocks[index].insert(key, at: position - starts[index])
        if blocks[index].count > BlockSize.maximum {
            rebuild(index..<(index + 1))
        } else {
            shiftStarts(after: index, by: 1)
        }
    }

    /// Removes and returns the key at a position. The positions of the keys after it decrease by one.
    ///
    /// Complexity: O(s + b) for s keys per block and b blocks.
    @discardableResult
    package mutating func remove(at position: Int) -> ObjectKey {
        precondition(0 <= position && position < count, "removal lies outside the key sequence")
        let index = blockIndex(at: position)
        let key = blocks[index].remove(at: position - starts[index])
        if blocks[index].count >= BlockSize.minimum {
            shiftStarts(after: index, by: -1)
        } else {
            let first = index > 0 ? index - 1 : index
            rebuild(first..<Swift.min(first + 2, blocks.count))
        }
        return key
    }

    /// The index of the block that contains a position. For the position after the end, this is the index of the last
    /// block.
    func blockIndex(at position: Int) -> Int {
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

    /// Splits and joins a few neighbouring blocks so that they have valid sizes, and updates the starts after them.
    private mutating func rebuild(_ range: Range<Int>) {
        var assembler = KeyBlockAssembler()
        for block in blocks[range] { assembler.append(block) }
        blocks.replaceSubrange(range, with: assembler.blocks)
        var start = starts[range.lowerBound]
        starts.removeSubrange(range.lowerBound...)
        for block in blocks[range.lowerBound...] {
            starts.append(start)
            start += block.count
        }
        count = start
    }

    /// Traps if a block has an invalid size, if a start or the count is wrong, or if a key occurs twice. Tests call
    /// this method on sequences whose keys are distinct.
    package func checkInvariants() {
        precondition(starts.count == blocks.count, "the numbers of blocks and of starts differ")
        var position = 0
        for (block, start) in zip(blocks, starts) {
            precondition(start == position, "a block does not start where the previous one ends")
            precondition(!block.isEmpty && block.count <= BlockSize.maximum, "a block is empty or too large")
            precondition(block.count >= BlockSize.minimum || blocks.count == 1, "one of several blocks is too small")
            position += block.count
        }
        precondition(position == count, "the count is not the number of keys in the blocks")
        precondition(Set(blocks.joined()).count == count, "a key occurs twice")
    }
}

extension KeySequence: Sequence {
    package struct Iterator: IteratorProtocol {
        private let blocks: [[ObjectKey]]
        private var block: [ObjectKey]
        private var nextBlock: Int
        private var offset = 0

        fileprivate init(_ blocks: [[ObjectKey]]) {
            self.blocks = blocks
            block = blocks.first ?? []
            nextBlock = 1
        }

        package mutating func next() -> ObjectKey? {
            if offset == block.count {
                guard nextBlock < blocks.count else { return nil }
                block = blocks[nextBlock]
                nextBlock += 1
                offset = 0
            }
            defer { offset += 1 }
            return block[offset]
        }
    }

    /// Iterates over the keys in order. Later changes of the sequence do not affect the iterator.
    package func makeIterator() -> Iterator { Iterator(blocks) }

    package var underestimatedCount: Int { count }
}

extension KeySequence: Equatable {
    /// True if both sequences contain the same keys in the same order.
    ///
    /// Complexity: O(n). If both sequences have the same starts, the keys of shared blocks are not compared.
    package static func == (left: KeySequence, right: KeySequence) -> Bool {
        if left.count != right.count { return false }
        if left.starts == right.starts { return left.blocks == right.blocks }
        return left.elementsEqual(right)
    }
}

extension KeySequence: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: ObjectKey...) {
        self.init(elements)
    }
}
