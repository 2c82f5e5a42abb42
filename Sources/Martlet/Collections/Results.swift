import MartletEngine
import MartletSQLite

/// The objects that a query finds: live, lazy, in order.
///
/// Chaining costs nothing until elements are asked for. A result reflects its Realm's uncommitted writes, and stays where
/// its Realm was opened.
public struct Results<Element: RealmCollectionValue> {
    let storage: ResultsStorage

    init(_ storage: ResultsStorage) { self.storage = storage }

    /// The number of members.
    public var count: Int { storage.count }

    /// The Realm that is queried.
    public var realm: Realm? { Realm(storage.context) }

    /// True once the Realm was invalidated, which ends the use of these, or the object was deleted whose linking objects
    /// or elements these are, which leaves them empty.
    public var isInvalidated: Bool { storage.isInvalidated }

    /// True for a frozen collection, as `freeze()` returns it.
    public var isFrozen: Bool { storage.context.isFrozen }

    /// The position of an object; nil if it is not a member. Complexity: O(n) for sorted results.
    public func index(of object: Element) -> Int? {
        guard let object = object._object, object._context === storage.context, object._state != .invalidated else {
            return nil
        }
        let keys = storage.keys
        return storage.plan.isInKeyOrder ? keys.positionAscending(of: object._key) : keys.firstPosition(of: object._key)
    }
}

extension Results: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { count }

    /// The member at a position. Traps if it is out of range.
    public subscript(position: Int) -> Element {
        guard let key = storage.key(at: position) else {
            Misuse.indexOutOfRange(position, count: count, "the results")
        }
        return Element._element(
            StoredValue(.integer(key)), ElementSource(context: storage.context, table: storage.table))
    }

    /// The first member; nil if there is none.
    public var first: Element? {
        storage.key(at: 0).map {
            Element._element(StoredValue(.integer($0)), ElementSource(context: storage.context, table: storage.table))
        }
    }

    /// The last member; nil if there is none.
    public var last: Element? { isEmpty ? nil : self[count - 1] }

    /// True if there are no members.
    public var isEmpty: Bool { storage.key(at: 0) == nil }

    /// Iterates over the current members. The body of the loop may delete or change them.
    public func makeIterator() -> Iterator {
        precondition(Element.self is AnyObject.Type)
        return Iterator(blocks: BlockIterator(storage))
    }

    /// Reads rows in blocks.
    public struct Iterator: IteratorProtocol {
        @usableFromInline var blocks: BlockIterator

        fileprivate init(blocks: BlockIterator) { self.blocks = blocks }

        /// The next member.
        // The members are objects of this very class: a checked cast of each would cost as much as reading it. Inlined,
        // because code that is generic at run time handles each member three times as long.
        @inlinable public mutating func next() -> Element? {
            guard let object = blocks.next() else { return nil }
            return unsafeBitCast(object, to: Element.self)
        }
    }
}

extension Results: Equatable {
    /// True for the same query on the same Realm.
    public static func == (left: Results, right: Results) -> Bool {
        left.storage === right.storage
            || (left.storage.context === right.storage.context && left.storage.plan == right.storage.plan)
    }
}

@available(
    *, unavailable, message: "live results stay where their Realm was opened; query a Realm that is opened there"
)
// Unavailable: results read through the Realm that they were asked of.
extension Results: @unchecked Sendable {}
