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

    private func asResults() -> Results<Element> {
        guard let core else { Misuse.query("an unmanaged list cannot be queried; add its object first") }
        core.requireValid()
        let table = core.context.table(Element.self)
        var plan = QueryPlan(table: table.id)
        plan.add(.element(of: core.table.id, core.property.index, owner: core.owner))
        return Results(ResultsStorage(core.context, table, plan))
    }

    /// The position of an object; nil when it is no element. Complexity: O(n).
    public func index(of object: Element) -> Int? {
        guard let core else { return unmanaged.firstIndex { $0.isSameObject(as: object) } }
        guard object._context === core.context else { return nil }
        return core.all().firstIndex(of: .integer(object._key))
    }
}
