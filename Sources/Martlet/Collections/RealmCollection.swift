import MartletEngine

/// A collection of a Realm: results, a list, a set or linking objects.
///
/// Use this protocol for functions that accept any of these collections:
///
/// ```swift
/// func names(_ dogs: some RealmCollection<Dog>) -> [String] { dogs.map(\.name) }
/// ```
///
/// Collections of unmanaged objects support everything except queries, sections of objects and observation.
///
/// Queries keep the order of the collection. A query of a set is the exception: it returns the objects in the order of
/// their object keys.
public protocol RealmCollection<Element>: RandomAccessCollection
where Element: RealmCollectionValue, Index == Int {
    /// The Realm; nil for a collection of an unmanaged object.
    var realm: Realm? { get }
    /// True after the owner was deleted or the Realm was invalidated.
    var isInvalidated: Bool { get }
    /// True for a frozen collection, which never changes.
    var isFrozen: Bool { get }
    /// The first position of an element; nil if the collection does not contain the element.
    func index(of element: Element) -> Int?
    /// The elements as `Results`; nil for a collection of an unmanaged object.
    func _members() -> Results<Element>?
}

extension RealmCollection {
    /// The elements at some positions.
    public func objects(at positions: some Sequence<Int>) -> [Element] { positions.map { self[$0] } }
}

extension RealmCollection where Element: ObjectBase {
    /// The values of a property of all elements, in order. `"self"` returns the elements themselves. For a set, each
    /// value is returned once.
    public func value(forKey name: String) -> [Any?] {
        let values: [Any?] = name == "self" ? map { $0 } : map { $0.value(forKey: name) }
        return self is MutableSet<Element> ? Self.distinct(values) : values
    }

    private static func distinct(_ values: [Any?]) -> [Any?] {
        var known: Set<AnyHashable?> = []
        return values.filter { value in
            guard let value else { return known.insert(nil).inserted }
            return (value as? AnyHashable).map { known.insert($0).inserted } ?? true
        }
    }

    /// Sets a property of all elements.
    public func setValue(_ value: Any?, forKey name: String) {
        _ = realm?.context.requireWrite("a collection of objects", property: name)
        for object in Array(self) { object.setValue(value, forKey: name) }
    }

    func requireMembers() -> Results<Element> {
        guard let members = _members() else {
            let kind = self is any PropertyCollection ? (self is List<Element> ? "list" : "set") : nil
            Misuse.unmanagedQuery(kind.map { "an unmanaged \($0)" } ?? "linking objects of an unmanaged object")
        }
        return members
    }

    /// The elements that satisfy a condition written as text, as in `Results.filter`. An element that occurs several
    /// times is returned several times. Traps on an unmanaged collection.
    public func filter(_ text: String, _ arguments: Any?...) -> Results<Element> {
        requireMembers().filter(text, arguments: arguments)
    }

    /// The elements that satisfy a condition. An element that occurs several times is returned several times. Traps on
    /// an unmanaged collection.
    ///
    /// - Throws: the errors of `Results.filter`.
    public func filter(_ predicate: Realm.Predicate) throws -> Results<Element> {
        try requireMembers().filter(predicate)
    }

    /// The position of the first element that satisfies a condition written as text; nil if no element does. Traps on
    /// an unmanaged collection.
    public func index(matching text: String, _ arguments: Any?...) -> Int? {
        firstIndex(in: requireMembers().filter(text, arguments: arguments))
    }

    /// The elements, sorted by a property. An element that occurs several times is returned several times. Elements
    /// with equal values keep their order. Traps on an unmanaged collection.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Element> {
        requireMembers().sorted(byKeyPath: keyPath, ascending: ascending)
    }

    /// The elements, sorted by several properties. An element that occurs several times is returned several times.
    /// Traps on an unmanaged collection.
    public func sorted(by descriptors: [SortDescriptor]) -> Results<Element> {
        requireMembers().sorted(by: descriptors)
    }

    /// The elements, sorted by several properties. An element that occurs several times is returned several times.
    /// Traps on an unmanaged collection.
    @_disfavoredOverload
    public func sorted(by descriptors: any Sequence<SortDescriptor>) -> Results<Element> {
        requireMembers().sorted(by: descriptors)
    }

    /// The elements, without duplicates: of all elements with equal values of these properties, only the first remains.
    /// Traps on an unmanaged collection.
    public func distinct(by keyPaths: [String]) -> Results<Element> {
        requireMembers().distinct(by: keyPaths)
    }

    /// The elements, without duplicates: of all elements with equal values of these properties, only the first remains.
    /// Traps on an unmanaged collection.
    @_disfavoredOverload
    public func distinct(by keyPaths: any Sequence<String>) -> Results<Element> {
        requireMembers().distinct(by: keyPaths)
    }

    // The position of the first element that is in `found`. The search uses the order of this collection, because the
    // results of a query of a set are in another order.
    fileprivate func firstIndex(in found: Results<Element>) -> Int? {
        let keys = Set(found.storage.keys)
        return keys.isEmpty ? nil : firstIndex { keys.contains($0._key) }
    }
}

extension RealmCollection where Element: ModelObject {
    /// The elements that satisfy a condition. An element that occurs several times is returned several times. Traps on
    /// an unmanaged collection.
    public func `where`<Condition: QueryConvertible<Element>>(
        _ isIncluded: (Element.RootFields) -> Condition
    ) -> Results<Element> {
        requireMembers().where(isIncluded)
    }

    /// The position of the first element that satisfies a condition; nil if no element does. Traps on an unmanaged
    /// collection.
    public func index<Condition: QueryConvertible<Element>>(
        matching isIncluded: (Element.RootFields) -> Condition
    ) -> Int? {
        firstIndex(in: requireMembers().where(isIncluded))
    }

    /// The elements, sorted by a field. An element that occurs several times is returned several times. Elements with
    /// equal values keep their order. Traps on an unmanaged collection.
    @_disfavoredOverload
    public func sorted<F: ValueField<Element>>(
        by field: (Element.RootFields) -> F, ascending: Bool = true
    ) -> Results<Element> where F.Value: OrderedValue {
        requireMembers().sorted(by: field, ascending: ascending)
    }

    /// The elements, without duplicates: if several elements have equal values of a field, only the first remains.
    /// Traps on an unmanaged collection.
    @_disfavoredOverload
    public func distinct<F: ValueField<Element>>(by field: (Element.RootFields) -> F) -> Results<Element> {
        requireMembers().distinct(by: field)
    }
}

extension Results: RealmCollection {
    /// Returns the results themselves.
    public func _members() -> Results? { self }
}

extension LinkingObjects: RealmCollection {
    /// The linking objects as `Results`.
    public func _members() -> Results<Element>? { results }
}

extension List: RealmCollection {
    /// The elements as `Results`, in the order of the list. An element that occurs several times is returned several
    /// times.
    public func _members() -> Results<Element>? { core.map { Results($0.members()) } }
}

extension MutableSet: RealmCollection {
    /// The elements as `Results`, in the order of their object keys.
    public func _members() -> Results<Element>? { core.map { Results($0.members()) } }
}

extension CollectionCore {
    /// The objects of a list or map in the order of the collection, including repeated objects. The objects of a set
    /// are in the order of their object keys.
    func members() -> ResultsStorage {
        requireValid()
        guard let elements = property.element.target.flatMap(context.table(named:)) else {
            Misuse.query("'\(name)' contains values, and only objects can be queried")
        }
        var plan = QueryPlan(table: elements.id)
        if property.kind == .set {
            plan.add(.element(of: table.id, property.index, owner: owner))
        } else {
            plan.source = .elements(id)
        }
        return ResultsStorage(context, elements, plan, owner: table.object(owner))
    }
}

extension RealmCollection {
    /// The results of a closure for all elements, in the order of the elements.
    // The default implementation reads each element by its position, which takes much longer than a loop.
    @inlinable public func map<T, Failure: Swift.Error>(
        _ transform: (Element) throws(Failure) -> T
    ) throws(Failure) -> [T] {
        var values: [T] = []
        var iterator = makeIterator()
        while let element = iterator.next() { values.append(try transform(element)) }
        return values
    }
}
