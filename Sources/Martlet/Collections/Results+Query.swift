import MartletEngine
import MartletSQLite

/// One key of a sort.
public struct SortDescriptor: Hashable, Sendable {
    /// The property, through to-one links: `"owner.lastName"`.
    public let keyPath: String
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
    public func `where`<Condition: QueryConvertible<Element>>(_ isIncluded: (Element.RootFields) -> Condition) -> Results {
        let predicate = isIncluded(Element.fields)._query.predicate
        return Results(storage.adding { $0.add(predicate) })
    }

    /// The first position whose member fulfils a condition; nil without one.
    public func index<Condition: QueryConvertible<Element>>(matching isIncluded: (Element.RootFields) -> Condition) -> Int? {
        self.where(isIncluded).first.flatMap { index(of: $0) }
    }

    /// The members sorted by a field.
    public func sorted<V: OrderedValue>(by field: (Element.RootFields) -> Field<Element, V>, ascending: Bool = true) -> Results {
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
        for term in terms { storage.requirePath(term.path) }
        return Results(storage.adding { $0.add(sort: terms) })
    }

    /// The least value of a property among the members; nil without members.
    public func min<V: OrderedValue>(ofProperty keyPath: String) -> V? { aggregate(.min, keyPath) }

    /// The greatest value of a property among the members; nil without members.
    public func max<V: OrderedValue>(ofProperty keyPath: String) -> V? { aggregate(.max, keyPath) }

    /// The sum of a property over the members; zero without members. Absent values are skipped.
    public func sum<V: NumericValue>(ofProperty keyPath: String) -> V {
        V._number(StoredValue(storage.requireAggregate(.sum, keyPath)))
    }

    /// The mean of a property over the members that have it; nil when none has.
    public func average<V: NumericValue>(ofProperty keyPath: String) -> V? {
        let value = storage.requireAggregate(.average, keyPath)
        return value == .null ? nil : V._number(StoredValue(value))
    }

    private func aggregate<V: OrderedValue>(_ function: Predicate.Aggregate, _ keyPath: String) -> V? {
        let value = storage.requireAggregate(function, keyPath)
        return value == .null ? nil : V._value(StoredValue(value))
    }
}

extension Results where Element: ModelObject {
    /// The least value of a field among the members.
    public func min<V: OrderedValue>(of field: (Element.RootFields) -> Field<Element, V>) -> V? {
        min(ofProperty: field(Element.fields).keyPath)
    }

    /// The greatest value of a field among the members.
    public func max<V: OrderedValue>(of field: (Element.RootFields) -> Field<Element, V>) -> V? {
        max(ofProperty: field(Element.fields).keyPath)
    }

    /// The sum of a field over the members.
    public func sum<V: NumericValue>(of field: (Element.RootFields) -> Field<Element, V>) -> V {
        sum(ofProperty: field(Element.fields).keyPath)
    }

    /// The mean of a field over the members that have it.
    public func average<V: NumericValue>(of field: (Element.RootFields) -> Field<Element, V>) -> Double? {
        average(ofProperty: field(Element.fields).keyPath)
    }
}

extension ResultsStorage {
    func requireAggregate(_ function: Predicate.Aggregate, _ keyPath: String) -> SQLValue {
        requirePath(PropertyPath(keyPath))
        return aggregate(function, keyPath)
    }

    /// Traps on a path that does not exist, naming the component.
    func requirePath(_ path: PropertyPath) {
        do {
            _ = try ResolvedPath(path, from: table.id, in: context.schema)
        } catch {
            Misuse.query("'\(path.text)' is no key path of '\(table.type.name)': '\(error.type)' has no property '\(error.name)'")
        }
    }
}
