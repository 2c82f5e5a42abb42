import MartletEngine
public import Observation

/// A view of an object. Its labels name selected properties of the object and of the objects that it links to.
///
/// Projection classes are generated from the schema. Reads and writes through a projection access the object.
open class Projection<Root: ObjectBase>: AnyProjection {
    /// The object of which this is a projection.
    public final let rootObject: Root

    /// Creates a projection of `object`.
    public required init(projecting object: Root) { rootObject = object }

    open class var _facts: StaticString { "" }

    /// The Realm of the object.
    public final var realm: Realm? { rootObject.realm }

    /// True after the object was deleted or the Realm was invalidated.
    public final var isInvalidated: Bool { rootObject.isInvalidated }

    /// True for a projection of a frozen object, which `freeze()` returns.
    public final var isFrozen: Bool { rootObject.isFrozen }
}

extension Projection: ThreadConfined {
    public final func _locator() -> _Locator? {
        let type = Self.self
        return rootObject._locator()?.map { ($0 as? Root).map { type.init(projecting: $0) } }
    }
}

extension Projection: PrimaryKeyed where Root: KeyedObject {
    public static func _find(_ key: Root._PrimaryKey, in realm: Realm) -> Self? {
        Root._find(key, in: realm).map { Self(projecting: $0) }
    }
}

/// Reads through a projection are tracked like reads of the object.
extension Projection: Observable {}

extension Projection: Hashable {
    /// True for projections of the same type and the same object.
    public static func == (left: Projection, right: Projection) -> Bool {
        type(of: left) == type(of: right) && left.rootObject == right.rootObject
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(rootObject) }
}

@available(
    *, unavailable,
    message:
        "a projection stays on its Realm's thread, queue or actor; pass the object's primary key and project it again"
)
// Unavailable: a projection is confined to the isolation of its object.
extension Projection: @unchecked Sendable {}

/// The values that a projection computes from the elements of a collection, one for each element. Projected collections
/// are live and read-only.
public struct ProjectedCollection<Value>: RandomAccessCollection {
    private let size: () -> Int
    private let element: (Int) -> Value
    private let iterate: () -> AnyIterator<Value>

    /// Creates a collection with one value for each element of `source`.
    public init<Source: RandomAccessCollection>(_ source: Source, _ transform: @escaping (Source.Element) -> Value)
    where Source.Index == Int {
        size = { source.count }
        element = { transform(source[source.startIndex + $0]) }
        iterate = {
            var elements = source.makeIterator()
            return AnyIterator { elements.next().map(transform) }
        }
    }

    /// Creates a collection with one value for each value of a map, in no particular order.
    public init<Element>(_ source: Map<Element>, _ transform: @escaping (Element) -> Value) {
        size = { source.count }
        element = { transform(source.values[$0]) }
        iterate = {
            var values = source.values.makeIterator()
            return AnyIterator { values.next().map(transform) }
        }
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { size() }

    /// The value for the element at a position.
    public subscript(position: Int) -> Value { element(position) }

    /// Iterates over the current elements. Each value is computed when it is reached.
    public func makeIterator() -> AnyIterator<Value> { iterate() }
}

@available(
    *, unavailable,
    message: "a live collection stays on its Realm's thread, queue or actor; pass its values or its owner's primary key"
)
// Unavailable: a projected collection reads its source collection, which is confined.
extension ProjectedCollection: @unchecked Sendable {}

/// The objects of a result as projections, in the same order. Projected results are live and lazy.
public struct ProjectedResults<Element: AnyObject>: RandomAccessCollection {
    let storage: ResultsStorage
    let project: (ObjectBase) -> Element

    init(_ storage: ResultsStorage, _ project: @escaping (ObjectBase) -> Element) {
        self.storage = storage
        self.project = project
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { storage.count }

    /// The projection at a position.
    public subscript(position: Int) -> Element {
        guard let object = storage.object(at: position) else {
            Misuse.indexOutOfRange(position, count: storage.count, "the projected results")
        }
        return project(object)
    }

    /// The projection of the first member; nil if there are no members.
    public var first: Element? { storage.key(at: 0).map { project(storage.table.object($0)) } }

    /// The projection of the last member; nil if there are no members.
    public var last: Element? { storage.lastKey.map { project(storage.table.object($0)) } }

    /// True if there are no members.
    public var isEmpty: Bool { storage.key(at: 0) == nil }

    /// The projections of the first members, at most `maxLength`. If `maxLength` is small, the other members are
    /// neither read nor counted.
    public func prefix(_ maxLength: Int) -> Slice<ProjectedResults> {
        Slice(base: self, bounds: 0..<storage.prefixCount(maxLength))
    }

    /// The projections at some positions. Traps if a position is out of range.
    public subscript(bounds: Range<Int>) -> Slice<ProjectedResults> {
        storage.requireRange(bounds, "the projected results")
        return Slice(base: self, bounds: bounds)
    }

    // As in `Results`, positions are not compared with `endIndex`, because `endIndex` counts the members.
    public func index(after position: Int) -> Int { position + 1 }
    public func index(before position: Int) -> Int { position - 1 }
    public func index(_ position: Int, offsetBy distance: Int) -> Int { position + distance }
    public func distance(from start: Int, to end: Int) -> Int { end - start }

    /// Iterates over the current members. The body of the loop may delete or change them.
    public func makeIterator() -> Iterator { Iterator(blocks: BlockIterator(storage), project: project) }

    /// An iterator that reads rows in blocks.
    public struct Iterator: IteratorProtocol {
        fileprivate var blocks: BlockIterator
        fileprivate let project: (ObjectBase) -> Element

        /// The projection of the next member.
        public mutating func next() -> Element? { blocks.next().map(project) }
    }
}

extension ProjectedResults: ThreadConfined {
    /// The Realm of the results.
    public var realm: Realm? { storage.context.realm }

    /// True after the Realm was invalidated, or the owner of the projected list, set, map or linking objects was
    /// deleted.
    public var isInvalidated: Bool { storage.isInvalidated }

    /// True for frozen results, which `freeze()` returns.
    public var isFrozen: Bool { storage.context.isFrozen }

    public func _locator() -> _Locator? {
        let project = project
        return storage.locator { ProjectedResults($0, project) }
    }
}

extension Results where Element: ObjectBase {
    /// The members as projections.
    public func projected<P: Projection<Element>>(_ type: P.Type) -> ProjectedResults<P> {
        ProjectedResults(storage) { P(projecting: unsafeDowncast($0, to: Element.self)) }
    }
}

extension Realm {
    /// All objects of the root class of a projection, as projections.
    public func objects<Root: Object, P: Projection<Root>>(_ type: P.Type) -> ProjectedResults<P> {
        objects(Root.self).projected(type)
    }
}

@available(
    *, unavailable,
    message: "live results stay on their Realm's thread, queue or actor; elsewhere, open a Realm and query it"
)
// Unavailable: projected results read the original results, which are confined.
extension ProjectedResults: @unchecked Sendable {}

// The constraint `Element: AnyProjection` is always satisfied, but it improves an error message. For a wrong name in a
// condition, the compiler reports the error of the overload of `objects` that violates the fewest constraints. Because
// of this constraint, the overload for projections violates one more, so the compiler reports the error of the overload
// for objects.
extension ProjectedResults where Element: AnyProjection {
    /// Unavailable: projections have no fields. Query the objects and project the results.
    @available(
        *, unavailable,
        message:
            "query the objects and project the results, for example 'realm.objects(Dog.self).where { … }.projected(DogCard.self)'"
    )
    public func `where`<Condition>(_ isIncluded: (Element) -> Condition) -> ProjectedResults { self }

    /// Unavailable: projections have no fields. Sort the objects and project the results.
    @available(
        *, unavailable,
        message:
            "sort the objects and project the results, for example 'realm.objects(Dog.self).sorted { … }.projected(DogCard.self)'"
    )
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> ProjectedResults { self }
}
