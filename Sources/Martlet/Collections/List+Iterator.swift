import MartletEngine
import MartletSQLite

extension List {
    /// Walks the elements of this moment, whatever the loop's body does to the list. Objects that it deletes meanwhile are
    /// handed out invalidated.
    public func makeIterator() -> Iterator {
        guard let core else { return Iterator(values: .init(rest: .plain(unmanaged))) }
        if let table = core.target { return Iterator(blocks: BlockIterator(core, table)) }
        let stored = core.count > 0 ? core.all() : []
        return Iterator(values: .init(rest: .stored(stored, source(core))))
    }

    /// Reads objects in blocks.
    public struct Iterator: IteratorProtocol {
        /// Those of a list of objects in a Realm.
        @usableFromInline var blocks: BlockIterator?
        @usableFromInline var values: Values?

        fileprivate init(blocks: BlockIterator) { self.blocks = blocks }

        fileprivate init(values: Values) { self.values = values }

        /// The next element.
        // As in results: the elements are objects of this very class, and inlined code handles them three times as fast.
        @inlinable public mutating func next() -> Element? {
            guard values == nil else { return values?.next() }
            guard let object = blocks?.next() else { return nil }
            return unsafeBitCast(object, to: Element.self)
        }
    }

    /// Elements that are in memory already.
    @usableFromInline struct Values {
        fileprivate enum Rest {
            case plain([Element])
            case stored([SQLValue], ElementSource)
        }

        fileprivate let rest: Rest
        private var position = 0

        fileprivate init(rest: Rest) { self.rest = rest }

        @usableFromInline mutating func next() -> Element? {
            defer { position += 1 }
            switch rest {
            case .plain(let elements): return position < elements.count ? elements[position] : nil
            case .stored(let elements, let source):
                guard position < elements.count else { return nil }
                return Element._element(StoredValue(elements[position]), source)
            }
        }
    }
}
