import MartletEngine
import MartletValues

/// The objects that match a query: live, lazy and ordered.
///
/// A query runs when its members are accessed, not when the query is built. Results include uncommitted changes of
/// their Realm. They can be used only in the isolation in which their Realm was opened.
public struct Results<Element: RealmCollectionValue> {
    let storage: ResultsStorage

    init(_ storage: ResultsStorage) { self.storage = storage }

    /// The number of members.
    public var count: Int { storage.count }

    /// The Realm that is queried.
    public var realm: Realm? { Realm(storage.context) }

    /// True after the Realm was invalidated. Using the results then traps. If the results contain the linking objects
    /// or elements of an owner, also true after the owner was deleted. The results are then empty.
    public var isInvalidated: Bool { storage.isInvalidated }

    /// True for a frozen collection, which `freeze()` returns.
    public var isFrozen: Bool { storage.context.isFrozen }

    /// The position of an object; nil if the object is not a member. Complexity: O(n) for sorted results.
    public func index(of object: Element) -> Int? {
        guard let object = object._object, object._context === storage.context, object._state != .invalidated else {
            return nil
        }
        return storage.position(of: object._key)
    }
}

extension Results where Element: ObjectBase {
    /// True if an object is a member. Complexity: one look-up in the file if the results have not read their members
    /// yet.
    public func contains(_ object: Element) -> Bool {
        guard object._context === storage.context else { return contains { $0 == object } }
        return object._state != .invalidated && storage.contains(object._key)
    }
}

extension Results where Element: ObjectBase {
    /// The first position of an object; nil if the object is not a member. Equals `index(of:)`, except that an object
    /// of another Realm is compared with each member.
    public func firstIndex(of object: Element) -> Int? {
        guard object._context === storage.context else { return firstIndex { $0 == object } }
        return index(of: object)
    }
}

extension Results: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { count }

    /// The member at a position. Traps if the position is out of range.
    public subscript(position: Int) -> Element {
        guard let object = storage.object(at: position) else {
            Misuse.indexOutOfRange(position, count: count, "the results")
        }
        // As in the iterator, the cast is not checked.
        return unsafeBitCast(object, to: Element.self)
    }

    /// The first member; nil if there are no members.
    public var first: Element? {
        storage.key(at: 0).map(element)
    }

    private func element(_ key: ObjectKey) -> Element {
        Element._element(StoredValue(.integer(key)), ElementContext(context: storage.context, table: storage.table))
    }

    /// The last member; nil if there are no members.
    public var last: Element? { storage.lastKey.map(element) }

    /// The first members, at most `maxLength`. If `maxLength` is small, the other members are neither read nor counted.
    public func prefix(_ maxLength: Int) -> Slice<Results> {
        Slice(base: self, bounds: 0..<storage.prefixCount(maxLength))
    }

    /// The members at some positions. Traps if a position is out of range.
    public subscript(bounds: Range<Int>) -> Slice<Results> {
        storage.requireRange(bounds, "the results")
        return Slice(base: self, bounds: bounds)
    }

    // The default implementations compare positions with `endIndex`, and `endIndex` counts the members. The subscripts
    // check the positions.
    public func index(after position: Int) -> Int { position + 1 }
    public func index(before position: Int) -> Int { position - 1 }
    public func index(_ position: Int, offsetBy distance: Int) -> Int { position + distance }
    public func distance(from start: Int, to end: Int) -> Int { end - start }

    /// True if there are no members.
    public var isEmpty: Bool { storage.key(at: 0) == nil }

    /// Iterates over the current members. The body of the loop may delete or change them.
    public func makeIterator() -> Iterator {
        precondition(Element.self is AnyObject.Type)
        return Iterator(blocks: BlockIterator(storage))
    }

    /// An iterator that reads rows in blocks.
    public struct Iterator: IteratorProtocol {
        @usableFromInline var blocks: BlockIterator

        fileprivate init(blocks: BlockIterator) { self.blocks = blocks }

        /// The next member.
        // The cast is not checked, because every member is an instance of `Element`, and a checked cast would cost as
        // much as reading the member. The function is inlinable, because unspecialized generic code takes three times
        // as long.
        @inlinable public mutating func next() -> Element? {
            guard let object = blocks.next() else { return nil }
            return unsafeBitCast(object, to: Element.self)
        }
    }
}

extension Results: Equatable {
    /// True if both results are the same query of the same Realm.
    public static func == (left: Results, right: Results) -> Bool {
        left.storage === right.storage
            || (left.storage.context === right.storage.context && left.storage.plan == right.storage.plan)
    }
}

@available(
    *, unavailable,
    message: "live results stay on their Realm's thread, queue or actor; elsewhere, open a Realm and query it"
)
// Unavailable: results read through their Realm, which is confined.
extension Results: @unchecked Sendable {}
