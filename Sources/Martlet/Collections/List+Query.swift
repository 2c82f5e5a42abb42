import MartletEngine
import MartletSQLite

extension List where Element: ModelObject {
    /// The elements that fulfil a condition, each once, in the order of their keys. Only for lists in a Realm.
    public func `where`<Condition: QueryConvertible<Element>>(
        _ isIncluded: (Element.RootFields) -> Condition
    ) -> Results<Element> {
        asResults().where(isIncluded)
    }

    /// The elements sorted by a property, each once. Only for lists in a Realm.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Element> {
        asResults().sorted(byKeyPath: keyPath, ascending: ascending)
    }

    /// The elements that fulfil a condition written as text, each once, as `Results.filter` does. Only for lists in a Realm.
    public func filter(_ text: String, _ arguments: Any?...) -> Results<Element> {
        asResults().filter(text, arguments: arguments)
    }

    /// The elements that fulfil a condition.
    ///
    /// - Throws: as `Results.filter` does.
    public func filter(_ predicate: Realm.Predicate) throws -> Results<Element> { try asResults().filter(predicate) }

    /// Of elements that are equal in all these properties only the first, in the order of their keys.
    public func distinct(by keyPaths: some Sequence<String>) -> Results<Element> { asResults().distinct(by: keyPaths) }

    /// The elements sorted by several properties, each once.
    public func sorted(by descriptors: some Sequence<SortDescriptor>) -> Results<Element> {
        asResults().sorted(by: descriptors)
    }

    private func asResults() -> Results<Element> {
        guard let core else { Misuse.query("an unmanaged list cannot be queried; add its object first") }
        return Results(core.asResults(Element.self))
    }
}

extension MutableSet where Element: ModelObject {
    /// The elements that fulfil a condition, in the order of their keys. Only for sets in a Realm.
    public func `where`<Condition: QueryConvertible<Element>>(
        _ isIncluded: (Element.RootFields) -> Condition
    ) -> Results<Element> {
        asResults().where(isIncluded)
    }

    /// The elements sorted by a property. Only for sets in a Realm.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Element> {
        asResults().sorted(byKeyPath: keyPath, ascending: ascending)
    }

    /// The elements that fulfil a condition written as text, each once, as `Results.filter` does. Only for sets in a Realm.
    public func filter(_ text: String, _ arguments: Any?...) -> Results<Element> {
        asResults().filter(text, arguments: arguments)
    }

    /// The elements that fulfil a condition.
    ///
    /// - Throws: as `Results.filter` does.
    public func filter(_ predicate: Realm.Predicate) throws -> Results<Element> { try asResults().filter(predicate) }

    /// Of elements that are equal in all these properties only the first, in the order of their keys.
    public func distinct(by keyPaths: some Sequence<String>) -> Results<Element> { asResults().distinct(by: keyPaths) }

    /// The elements sorted by several properties, each once.
    public func sorted(by descriptors: some Sequence<SortDescriptor>) -> Results<Element> {
        asResults().sorted(by: descriptors)
    }

    private func asResults() -> Results<Element> {
        guard let core else { Misuse.query("an unmanaged set cannot be queried; add its object first") }
        return Results(core.asResults(Element.self))
    }
}

extension CollectionCore {
    fileprivate func asResults(_ type: ObjectBase.Type) -> ResultsStorage {
        requireValid()
        let elements = context.table(type)
        var plan = QueryPlan(table: elements.id)
        plan.add(.element(of: table.id, property.index, owner: owner))
        return ResultsStorage(context, elements, plan, owner: table.object(owner))
    }
}

extension List {
    /// The position of an element; nil when it is none. Values are compared as they are stored. Complexity: O(n).
    public func index(of element: Element) -> Int? {
        guard let core else {
            if let object = element._object {
                return unmanaged.firstIndex { $0._object?.isSameObject(as: object) ?? false }
            }
            return unmanaged.firstIndex { $0._comparedElement == element._comparedElement }
        }
        if let object = element._object {
            guard object._context === core.context, object._state != .invalidated else { return nil }
            return core.all().firstIndex(of: .integer(object._key))
        }
        return core.all().firstIndex(of: element._storedElement(ElementSource(context: core.context)).raw)
    }

    /// The elements at some positions.
    public func objects(at positions: some Sequence<Int>) -> [Element] { positions.map { self[$0] } }
}
