import MartletEngine

// Collections whose element type is known only at run time. Elements are Swift values, objects, or nil if the
// collection may contain nil. A value of the wrong type traps, as in an assignment to a property.

extension ObjectBase {
    /// The list property with the given name, as a live list whose element type is known only at run time. Traps if the
    /// property is not a list.
    ///
    /// ```swift
    /// try realm.write { dog.dynamicList("siblings").append(puppy) }
    /// ```
    public final func dynamicList(_ name: String) -> DynamicList {
        DynamicList(list: dynamicCollection(name, "list") { $0 as? any UntypedList }, name: "\(_typeName).\(name)")
    }

    /// The set property with the given name, as a live set whose element type is known only at run time. Traps if the
    /// property is not a set.
    public final func dynamicSet(_ name: String) -> DynamicSet {
        DynamicSet(base: dynamicCollection(name, "set") { $0 as? any UntypedSet }, name: "\(_typeName).\(name)")
    }

    /// The map property with the given name, as a live map whose value type is known only at run time. Traps if the
    /// property is not a map.
    public final func dynamicMap(_ name: String) -> DynamicMap {
        DynamicMap(map: dynamicCollection(name, "map") { $0 as? any UntypedMap }, name: "\(_typeName).\(name)")
    }

    private final func dynamicCollection<C>(_ name: String, _ kind: String, _ cast: (Any?) -> C?) -> C {
        let property = property(named: name)
        guard property.isCollection, let collection = cast(untypedValue(property)) else {
            Misuse.wrongKind("\(_typeName).\(name)", is: property.typeDescription, kind)
        }
        return collection
    }
}

/// A list whose element type is known only at run time.
public struct DynamicList: RandomAccessCollection {
    fileprivate let list: any UntypedList
    fileprivate let name: String
    fileprivate var wrapsObjects = false

    public var startIndex: Int { 0 }
    /// The number of elements.
    public var endIndex: Int { list.count }

    /// The element at a position, or nil if the list contains nil there.
    public subscript(position: Int) -> Any? {
        get { DynamicObject.wrapped(list.untypedElement(at: position), wrapsObjects) }
        nonmutating set { list.replaceUntyped(DynamicObject.unwrapped(newValue), position, name) }
    }

    /// Iterates over the current elements. The body of the loop may change the list.
    public func makeIterator() -> AnyIterator<Any?> {
        let (elements, wrapsObjects) = (list.untypedElements(), wrapsObjects)
        return AnyIterator { elements.next().map { DynamicObject.wrapped($0, wrapsObjects) } }
    }

    /// True after the owner was deleted or the Realm was invalidated.
    public var isInvalidated: Bool { list.isInvalidated }

    /// The Realm of the owner; nil for an unmanaged list.
    public var realm: Realm? { list.realm }

    /// Appends an element.
    public func append(_ value: Any?) { insert(value, at: count) }

    /// Inserts an element before a position.
    public func insert(_ value: Any?, at position: Int) {
        list.insertUntyped(DynamicObject.unwrapped(value), position, name)
    }

    /// Removes the element at a position.
    public func remove(at position: Int) { list.remove(at: position) }

    /// Removes all elements.
    public func removeAll() { list.removeAll() }

    /// Moves an element. `to` is its position after the move.
    public func move(from: Int, to: Int) { list.move(from: from, to: to) }
}

/// A set whose element type is known only at run time.
public struct DynamicSet: RandomAccessCollection {
    fileprivate let base: any UntypedSet
    fileprivate let name: String
    fileprivate var wrapsObjects = false

    public var startIndex: Int { 0 }
    /// The number of elements.
    public var endIndex: Int { base.count }

    /// The element at a position in the order of the set, or nil if the set contains nil there.
    public subscript(position: Int) -> Any? { DynamicObject.wrapped(base.untypedElement(at: position), wrapsObjects) }

    /// Iterates over the current elements. The body of the loop may change the set.
    public func makeIterator() -> AnyIterator<Any?> {
        let (elements, wrapsObjects) = (base.untypedElements(), wrapsObjects)
        return AnyIterator { elements.next().map { DynamicObject.wrapped($0, wrapsObjects) } }
    }

    /// True after the owner was deleted or the Realm was invalidated.
    public var isInvalidated: Bool { base.isInvalidated }

    /// The Realm of the owner; nil for an unmanaged set.
    public var realm: Realm? { base.realm }

    /// Whether the set contains a value.
    public func contains(_ value: Any?) -> Bool { base.containsUntyped(DynamicObject.unwrapped(value), name) }

    /// Inserts an element, unless the set already contains it.
    public func insert(_ value: Any?) { base.insertUntyped(DynamicObject.unwrapped(value), name) }

    /// Removes an element. Has no effect if the set does not contain the element.
    public func remove(_ value: Any?) { base.removeUntyped(DynamicObject.unwrapped(value), name) }

    /// Removes all elements.
    public func removeAll() { base.removeAll() }
}

/// A map whose value type is known only at run time.
public struct DynamicMap: Sequence {
    fileprivate let map: any UntypedMap
    fileprivate let name: String
    fileprivate var wrapsObjects = false

    /// The number of entries.
    public var count: Int { map.count }

    /// The keys.
    public var keys: [String] { map.keys }

    /// The value of a key; nil if the map does not contain the key, or if the value is nil. Assigning nil removes the
    /// entry.
    public subscript(key: String) -> Any? {
        get { DynamicObject.wrapped(UntypedValue.contents(of: map.untypedValue(of: key)), wrapsObjects) }
        nonmutating set { map.setUntyped(DynamicObject.unwrapped(newValue), key, name) }
    }

    /// True after the owner was deleted or the Realm was invalidated.
    public var isInvalidated: Bool { map.isInvalidated }

    /// The Realm of the owner; nil for an unmanaged map.
    public var realm: Realm? { map.realm }

    /// Removes all entries.
    public func removeAll() { map.removeAll() }

    /// Iterates over the current entries.
    public func makeIterator() -> IndexingIterator<[(key: String, value: Any?)]> {
        keys.map { (key: $0, value: self[$0]) }.makeIterator()
    }
}

// MARK: Untyped access

/// A collection that can be used by code that does not know its element type.
protocol UntypedCollection: PropertyCollection {
    var count: Int { get }
    var isInvalidated: Bool { get }
    var realm: Realm? { get }
    func removeAll()
}

protocol UntypedList: UntypedCollection {
    func untypedElement(at position: Int) -> Any?
    /// A snapshot of the current elements.
    func untypedElements() -> AnyIterator<Any?>
    func insertUntyped(_ value: Any?, _ position: Int, _ name: String)
    func replaceUntyped(_ value: Any?, _ position: Int, _ name: String)
    func remove(at position: Int)
    func move(from: Int, to: Int)
}

protocol UntypedSet: UntypedCollection {
    func untypedElement(at position: Int) -> Any?
    /// A snapshot of the current elements.
    func untypedElements() -> AnyIterator<Any?>
    func containsUntyped(_ value: Any?, _ name: String) -> Bool
    func insertUntyped(_ value: Any?, _ name: String)
    func removeUntyped(_ value: Any?, _ name: String)
}

protocol UntypedMap: UntypedCollection {
    var keys: [String] { get }
    func untypedValue(of key: String) -> Any?
    func setUntyped(_ value: Any?, _ key: String, _ name: String)
}

extension List: UntypedList {
    private func typed(_ value: Any?, _ name: String, _ position: Int) -> Element {
        UntypedElements<Element>(core, name, .single).element(value, .position(position))
    }
    func untypedElement(at position: Int) -> Any? { UntypedValue.contents(of: UntypedValue.unwrapped(self[position])) }
    func untypedElements() -> AnyIterator<Any?> {
        var elements = makeIterator()
        return AnyIterator { elements.next().map { UntypedValue.contents(of: UntypedValue.unwrapped($0)) } }
    }
    func insertUntyped(_ value: Any?, _ position: Int, _ name: String) {
        insert(typed(value, name, position), at: position)
    }
    func replaceUntyped(_ value: Any?, _ position: Int, _ name: String) {
        replace(index: position, object: typed(value, name, position))
    }
}

extension MutableSet: UntypedSet {
    private func typed(_ value: Any?, _ name: String) -> Element {
        UntypedElements<Element>(core, name, .single).element(value, nil)
    }
    func untypedElement(at position: Int) -> Any? { UntypedValue.contents(of: UntypedValue.unwrapped(self[position])) }
    func untypedElements() -> AnyIterator<Any?> {
        var elements = makeIterator()
        return AnyIterator { elements.next().map { UntypedValue.contents(of: UntypedValue.unwrapped($0)) } }
    }
    func containsUntyped(_ value: Any?, _ name: String) -> Bool { contains(typed(value, name)) }
    func insertUntyped(_ value: Any?, _ name: String) { insert(typed(value, name)) }
    func removeUntyped(_ value: Any?, _ name: String) { remove(typed(value, name)) }
}

extension Map: UntypedMap {
    func untypedValue(of key: String) -> Any? { UntypedValue.unwrapped(self[key]) }
    func setUntyped(_ value: Any?, _ key: String, _ name: String) {
        self[key] = value.map { UntypedElements<Value>(core, name, .single).element($0, .key(key)) }
    }
}

// MARK: Objects

/// An object whose type is known only at run time. A program accesses its properties by name.
///
/// ```swift
/// for dog in realm.dynamicObjects("Dog") { print(dog.name as? String ?? "", dog.owner ?? "nobody") }
/// ```
///
/// Values are Swift values, links are `DynamicObject`s, linking objects are arrays of `DynamicObject`s, and collections
/// are `DynamicList`, `DynamicSet` and `DynamicMap`. An access traps if the type has no property with the given name.
/// An assignment also traps if the value has the wrong type.
@dynamicMemberLookup
public struct DynamicObject: Hashable, CustomStringConvertible {
    /// The object, as an instance of its class.
    public let object: ObjectBase

    /// Wraps an object, so that its properties can be accessed by name.
    public init(_ object: ObjectBase) { self.object = object }

    /// The value of the property with the given name.
    public subscript(name: String) -> Any? {
        get {
            let property = object.property(named: name)
            switch property.kind {
            case .list: return dynamicList(name)
            case .set: return dynamicSet(name)
            case .map: return dynamicMap(name)
            case .linkingObjects:
                return object.linkingObjects(property).map { DynamicObject($0) }
            case .single: return Self.wrapped(object.value(forKey: name), true)
            }
        }
        nonmutating set { object.setValue(Self.unwrapped(newValue), forKey: name) }
    }

    /// The value of the property with the given name.
    public subscript(dynamicMember name: String) -> Any? {
        get { self[name] }
        nonmutating set { self[name] = newValue }
    }

    /// The list property with the given name. Traps if the property is not a list.
    public func dynamicList(_ name: String) -> DynamicList {
        var list = object.dynamicList(name)
        list.wrapsObjects = true
        return list
    }

    /// The set property with the given name. Traps if the property is not a set.
    public func dynamicSet(_ name: String) -> DynamicSet {
        var set = object.dynamicSet(name)
        set.wrapsObjects = true
        return set
    }

    /// The map property with the given name. Traps if the property is not a map.
    public func dynamicMap(_ name: String) -> DynamicMap {
        var map = object.dynamicMap(name)
        map.wrapsObjects = true
        return map
    }

    /// The description of the object.
    public var description: String { object.description }

    static func wrapped(_ value: Any?, _ wrapsObjects: Bool) -> Any? {
        guard wrapsObjects, let object = value as? ObjectBase else { return value }
        return DynamicObject(object)
    }

    static func unwrapped(_ value: Any?) -> Any? {
        let value = UntypedValue.unwrapped(value)
        return (value as? [DynamicObject]).map { $0.map(\.object) } ?? value
    }
}

extension DynamicObject: UntypedWrapper {
    var inner: Any? { object }
}

extension DynamicList: UntypedWrapper {
    var inner: Any? { list }
}

extension DynamicSet: UntypedWrapper {
    var inner: Any? { base }
}

extension DynamicMap: UntypedWrapper {
    var inner: Any? { map }
}

/// The results of a query of an object type whose name is known only at run time. They are live and lazy, like
/// `Results`.
public struct DynamicResults: RandomAccessCollection {
    private let results: Results<ObjectBase>

    init(_ results: Results<ObjectBase>) { self.results = results }

    public var startIndex: Int { 0 }
    /// The number of members.
    public var endIndex: Int { results.count }

    /// The member at a position. Traps if the position is out of range.
    public subscript(position: Int) -> DynamicObject {
        guard let object = results.storage.object(at: position) else {
            Misuse.indexOutOfRange(position, count: count, "the results")
        }
        return DynamicObject(object)
    }

    /// Iterates over the current members. The body of the loop may delete or change them.
    public func makeIterator() -> AnyIterator<DynamicObject> {
        var blocks = BlockIterator(results.storage)
        return AnyIterator { blocks.next().map { DynamicObject($0) } }
    }

    /// The Realm that is queried.
    public var realm: Realm? { results.realm }

    /// True after the Realm was invalidated.
    public var isInvalidated: Bool { results.isInvalidated }

    /// The position of an object; nil if the object is not a member.
    public func index(of object: DynamicObject) -> Int? { results.index(of: object.object) }

    /// The members that satisfy a condition written as text, as in `Results.filter`.
    public func filter(_ text: String, _ arguments: Any?...) -> DynamicResults {
        DynamicResults(results.filter(text, arguments: arguments.map { DynamicObject.unwrapped($0) }))
    }

    /// The members that satisfy a condition.
    ///
    /// - Throws: the errors of `Results.filter`.
    public func filter(_ predicate: Realm.Predicate) throws -> DynamicResults {
        DynamicResults(try results.filter(predicate))
    }

    /// The members, sorted by a property.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> DynamicResults {
        DynamicResults(results.sorted(byKeyPath: keyPath, ascending: ascending))
    }

    /// The members, sorted by several properties.
    public func sorted(by descriptors: some Sequence<SortDescriptor>) -> DynamicResults {
        DynamicResults(results.sorted(by: descriptors))
    }

    /// The members, without duplicates: if several members have equal values of these properties, only the first
    /// remains.
    public func distinct(by keyPaths: some Sequence<String>) -> DynamicResults {
        DynamicResults(results.distinct(by: keyPaths))
    }

    /// The minimum of a property; nil if no member has a value.
    public func min<V: OrderedValue>(ofProperty keyPath: String) -> V? { results.min(ofProperty: keyPath) }

    /// The maximum of a property; nil if no member has a value.
    public func max<V: OrderedValue>(ofProperty keyPath: String) -> V? { results.max(ofProperty: keyPath) }

    /// The sum of a property; zero if there are no members.
    public func sum<V: NumericValue>(ofProperty keyPath: String) -> V { results.sum(ofProperty: keyPath) }

    /// The average of a property; nil if no member has a value.
    public func average<V: NumericValue>(ofProperty keyPath: String) -> V? { results.average(ofProperty: keyPath) }

    /// Sets a property of all members.
    public func setValue(_ value: Any?, forKey name: String) {
        results.setValue(DynamicObject.unwrapped(value), forKey: name)
    }

    /// The values of a property of all members, in order.
    public func value(forKey name: String) -> [Any?] { map { $0[name] } }
}
