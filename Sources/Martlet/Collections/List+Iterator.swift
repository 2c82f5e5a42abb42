import MartletEngine
import MartletValues

extension List {
    /// Iterates over the current elements. The body of the loop may change the list. If the body deletes objects,
    /// the iterator returns them as invalidated objects.
    public func makeIterator() -> Iterator {
        guard let core else { return Iterator(values: .init(storage: .plain(unmanaged))) }
        if let table = core.target { return Iterator(blocks: BlockIterator(core, table)) }
        let stored = core.count > 0 ? core.all() : []
        return Iterator(values: .init(storage: .stored(stored, elementContext(core))))
    }

    /// An iterator that reads objects in blocks.
    public struct Iterator: IteratorProtocol {
        /// Reads the elements of a managed list of objects; nil for every other list.
        @usableFromInline var blocks: BlockIterator?
        /// Returns the elements of every other list.
        @usableFromInline var values: Values?

        fileprivate init(blocks: BlockIterator) { self.blocks = blocks }

        fileprivate init(values: Values) { self.values = values }

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
