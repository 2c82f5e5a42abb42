import MartletEngine
import MartletValues

extension List {
    /// Iterates over the current elements. The body of the loop may change the list. If the body deletes objects,
    /// the iterator returns them as invalidated objects.
    public func makeIterator() -> Iterator { core.map { Iterator($0) } ?? Iterator(unmanaged) }

    /// An iterator that reads objects in blocks.
    public struct Iterator: IteratorProtocol {
        /// Reads the elements of a managed list or set of objects; nil for every other collection.
        @usableFromInline var blocks: BlockIterator?
        /// Returns the elements of every other collection.
        @usableFromInline var values: Values?

        /// Iterates over the elements of a managed list or set.
        init(_ core: CollectionCore) {
            if let table = core.target {
                blocks = BlockIterator(core, table)
            } else {
                let context = ElementContext(context: core.context)
                values = Values(StoredElements(core), context)
            }
        }

        /// Iterates over elements in memory.
        init(_ elements: [Element]) { values = Values(elements) }

        /// The next element.
        // As in `Results.Iterator`, every object is an instance of `Element`, so the cast is not checked. The function
        // is inlinable because inlined code is three times as fast.
        @inlinable public mutating func next() -> Element? {
            guard values == nil else { return values?.next() }
            guard let object = blocks?.next() else { return nil }
            return unsafeBitCast(object, to: Element.self)
        }
    }

    /// Iterates over elements in memory, or over stored values.
    @usableFromInline struct Values {
        private let plain: [Element]
        private var position = 0
        private var stored: StoredElements?
        private let elementContext: ElementContext?

        fileprivate init(_ elements: [Element]) {
            plain = elements
            elementContext = nil
        }

        fileprivate init(_ elements: StoredElements, _ elementContext: ElementContext) {
            plain = []
            stored = elements
            self.elementContext = elementContext
        }

        @usableFromInline mutating func next() -> Element? {
            if let elementContext {
                return stored?.next().map { Element._element(StoredValue($0), elementContext) }
            }
            guard position < plain.count else { return nil }
            defer { position += 1 }
            return plain[position]
        }
    }
}

/// Iterates over the stored values that a list, set or map has when the iteration starts, regardless of later changes.
/// In a map, keys and values alternate. Reads the values of a long collection in blocks.
struct StoredElements {
    private let core: CollectionCore
    /// Reads all values before the Realm moves to another state. Nil if all values that remain are in `block`.
    private var cursor: LazyCursor<[SQLValue]>?
    private var block: [SQLValue] = []
    private var position = 0
    /// The number of values before the end of the block.
    private var blockEnd = 0
    /// The number of blocks that were read before the current one.
    private(set) var blockNumber = 0
    private static let blockSize = 512

    init(_ core: CollectionCore) {
        self.core = core
        cursor = core.makeValueCursor()
        if cursor == nil, core.count > 0 { block = core.all() }
    }

    mutating func next() -> SQLValue? {
        if position == block.count, !readBlock() { return nil }
        defer { position += 1 }
        return block[position]
    }

    /// The links among the elements of the current block that have not been returned.
    var linksInBlock: [ObjectKey] {
        block[position...].compactMap { if case .integer(let key) = $0 { key } else { nil } }
    }

    private mutating func readBlock() -> Bool {
        guard let cursor else { return false }
        position = 0
        blockNumber += 1
        if let all = cursor.members {
            block = all
            position = blockEnd
            self.cursor = nil
        } else {
            block = core.elements(in: blockEnd..<min(blockEnd + Self.blockSize, core.count))
            blockEnd += block.count
        }
        return position < block.count
    }
}
