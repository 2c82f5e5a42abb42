import MartletEngine
import MartletSQLite

/// One key of a sort.
public struct SortDescriptor: Hashable, Sendable {
    /// The property, through to-one links: `"owner.lastName"`.
    public let keyPath: String
    /// False for the greatest value first.
    public let ascending: Bool

    /// Sorts by a property.
    public init(keyPath: String, ascending: Bool = true) {
        self.keyPath = keyPath
        self.ascending = ascending
    }

    var term: SortTerm { SortTerm(PropertyPath(keyPath), ascending: ascending) }
}

extension Results where Element: ModelObject {
    /// The members that fulfil a condition.
    public func `where`<Condition: QueryConvertible<Element>>(_ isIncluded: (Element.RootFields) -> Condition)
        -> Results
    {
        let predicate = isIncluded(Element.fields)._query.predicate(in: storage.context)
        return Results(storage.adding { $0.add(predicate) })
    }

    /// The first position whose member fulfils a condition; nil without one.
    public func index<Condition: QueryConvertible<Element>>(matching isIncluded: (Element.RootFields) -> Condition)
        -> Int?
    {
        self.where(isIncluded).first.flatMap { index(of: $0) }
    }

    /// The members sorted by a field.
    public func sorted<V: OrderedValue>(by field: (Element.RootFields) -> Field<Element, V>, ascending: Bool = true)
        -> Results
    {
        sorted(byKeyPath: field(Element.fields).keyPath, ascending: ascending)
    }
}

extension Results where Element: ObjectBase {
    /// The members sorted by a property. Stable: equal members keep the order they had.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results {
        sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }

    /// The members sorted by several properties.
    public func sorted(by descriptors: some Sequence<SortDescriptor>) -> Results {
        let terms = descriptors.map(\.term)
        for term in terms { storage.requireSortable(term.path) }
        return Results(storage.adding { $0.add(sort: terms) })
    }
}

extension ResultsStorage {
    /// Traps on a path that leads nowhere, through a collection, or to something without order.
    fileprivate func requireSortable(_ path: PropertyPath) {
        let resolved = requirePath(path)
        let isToOne = resolved.steps.allSatisfy { if case .link = $0 { true } else { false } }
        guard let end = resolved.end else { Misuse.query("a sort needs a property") }
        let property = context.schema[end.table].type.properties[end.property]
        if isToOne && property.kind == .single && !property.isLink { return }
        Misuse.query("'\(path.text)' cannot be sorted by: name a property with one value, behind to-one links only")
    }
}
