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
                values = Values(storage: .stored(core.count > 0 ? core.all() : [], context))
            }
        }

        /// Iterates over elements in memory.
        init(_ elements: [Element]) { values = Values(storage: .plain(elements)) }

        /// The next element.
        // As in `Results.Iterator`, every object is an instance of `Element`, so the cast is not checked. The function
        // is inlinable because inlined code is three times as fast.
        @inlinable public mutating func next() -> Element? {
            guard values == nil else { return values?.next() }
            guard let object = blocks?.next() else { return nil }
            return unsafeBitCast(object, to: Element.self)
        }
    }

    /// Iterates over elements that are already in memory.
    @usableFromInline struct Values {
        fileprivate enum Storage {
            case plain([Element])
            case stored([SQLValue], ElementContext)
        }

        fileprivate let storage: Storage
        private var position = 0

        fileprivate init(storage: Storage) { self.storage = storage }

        @usableFromInline mutating func next() -> Element? {
            defer { position += 1 }
            switch storage {
            case .plain(let elements): return position < elements.count ? elements[position] : nil
            case .stored(let elements, let elementContext):
                guard position < elements.count else { return nil }
                return Element._element(StoredValue(elements[position]), elementContext)
            }
        }
    }
}
