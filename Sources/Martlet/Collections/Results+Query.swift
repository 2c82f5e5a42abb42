import MartletEngine
import MartletValues

/// A sort criterion.
///
/// Foundation also declares a `SortDescriptor`, which is generic. If both modules are imported and the name is
/// ambiguous, as in `[SortDescriptor]()`, use `RealmSortDescriptor`.
public struct SortDescriptor: Hashable, Sendable {
    /// The property to sort by, or a key path through to-one links such as `"owner.lastName"`.
    public let keyPath: String
    /// True to start with the minimum, false to start with the maximum.
    public let ascending: Bool

    /// Sorts by a property.
    public init(keyPath: String, ascending: Bool = true) {
        self.keyPath = keyPath
        self.ascending = ascending
    }

    var term: SortTerm { SortTerm(PropertyPath(keyPath), ascending: ascending) }
}

/// Another name for `SortDescriptor`. Unlike `SortDescriptor`, this name is not ambiguous if Foundation is imported
/// too.
public typealias RealmSortDescriptor = SortDescriptor

extension Results where Element: ModelObject {
    /// The members that satisfy a condition.
    public func `where`<Condition: QueryConvertible<Element>>(_ isIncluded: (Element.RootFields) -> Condition)
        -> Results
    {
        let predicate = isIncluded(Element.fields)._query.predicate(in: storage.context)
        return Results(storage.adding { $0.add(predicate) })
    }

    /// The position of the first member that satisfies a condition; nil if no member does.
    public func index<Condition: QueryConvertible<Element>>(matching isIncluded: (Element.RootFields) -> Condition)
        -> Int?
    {
        self.where(isIncluded).first.flatMap { index(of: $0) }
    }

    /// The members, without duplicates: if several members have equal values of a field, only the first remains.
    ///
    /// If a link on the key path is nil for a member, the member is omitted.
    public func distinct<F: ValueField<Element>>(by field: (Element.RootFields) -> F) -> Results {
        distinct(by: [field(Element.fields).keyPath])
    }

    /// The members, sorted by a field.
    public func sorted<F: ValueField<Element>>(by field: (Element.RootFields) -> F, ascending: Bool = true) -> Results
    where F.Value: OrderedValue {
        sorted(byKeyPath: field(Element.fields).keyPath, ascending: ascending)
    }
}

extension Results where Element: ObjectBase {
    /// The members that satisfy a condition written as text: `filter("age > %@ AND owner.name BEGINSWITH[c] 'm'", 5)`.
    ///
    /// Traps if the text is not a valid condition. The message contains the position of the error and the expected
    /// input. For texts from users or files, create a `Realm.Predicate`, whose initializer throws these errors.
    public func filter(_ text: String, _ arguments: Any?...) -> Results { filter(text, arguments: arguments) }

    /// The members that satisfy a condition.
    ///
    /// - Throws: `Realm.Error.invalidInput` if the condition names a property that the class does not have, or compares
    ///   values that cannot be compared.
    public func filter(_ predicate: Realm.Predicate) throws -> Results { Results(try storage.filtered(predicate)) }

    func filter(_ text: String, arguments: [Any?]) -> Results {
        do {
            return try filter(Realm.Predicate(parsing: text, arguments: arguments))
        } catch {
            Misuse.query((error as? Realm.Error)?.message ?? "\(error)")
        }
    }

    /// The position of the first member that satisfies a condition written as text; nil if no member does.
    public func index(matching text: String, _ arguments: Any?...) -> Int? {
        filter(text, arguments: arguments).first.flatMap { index(of: $0) }
    }

    /// The members, without duplicates: if several members have equal values of these properties, only the first
    /// remains.
    ///
    /// If a link on a key path is nil for a member, the member is omitted. Without key paths, all members remain.
    public func distinct(by keyPaths: [String]) -> Results {
        let paths = keyPaths.map { PropertyPath($0) }
        if paths.isEmpty { return self }
        for path in paths { storage.requireSingle(path, "be made distinct by") }
        return Results(storage.adding { $0.add(.distinct(paths)) })
    }

    /// The members, without duplicates, like `distinct(by:)` with an array of key paths.
    @_disfavoredOverload
    public func distinct(by keyPaths: any Sequence<String>) -> Results { distinct(by: Array(keyPaths)) }

    /// At most `count` members, starting at the position `offset`, in the current order.
    public func limit(_ count: Int, offset: Int = 0) -> Results {
        if count < 0 || offset < 0 { Misuse.negativeLimit(count, offset) }
        return Results(storage.adding { $0.add(.limit(count, offset: offset)) })
    }

    /// The members, sorted by a property. The sort is stable: equal members keep their order.
    ///
    /// In ascending order, absent values come first, then NaN, then all other values. Members for which a link on the
    /// key path is nil come last. Descending order is the reverse.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results {
        sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }

    /// The members, sorted by several properties.
    public func sorted(by descriptors: [SortDescriptor]) -> Results {
        let terms = descriptors.map(\.term)
        for term in terms { storage.requireSortable(term.path) }
        return Results(storage.adding { $0.add(sort: terms) })
    }

    /// The members, sorted by several properties, like `sorted(by:)` with an array of descriptors.
    @_disfavoredOverload
    public func sorted(by descriptors: any Sequence<SortDescriptor>) -> Results { sorted(by: Array(descriptors)) }
}

extension ResultsStorage {
    /// Traps if the path does not exist, contains a collection, or ends in a link. Links have no order.
    fileprivate func requireSortable(_ path: PropertyPath) {
        if requireSingle(path, "be sorted by").isLink { Misuse.sortedByObject(path.text) }
    }

    /// Traps if the path does not exist, leads through a collection, or ends in a collection.
    @discardableResult
    fileprivate func requireSingle(_ path: PropertyPath, _ purpose: String) -> PropertySchema {
        let resolved = requirePath(path)
        let isToOne = resolved.steps.allSatisfy { if case .link = $0 { true } else { false } }
        let property = resolved.end.map { context.schema[$0.table].type.properties[$0.property] }
        guard isToOne, let property, property.kind == .single else { Misuse.severalValues(path.text, purpose) }
        return property
    }

    /// The members that satisfy the condition of a predicate. The stages of the predicate, such as `SORT` and `LIMIT`,
    /// are then applied.
    func filtered(_ predicate: Realm.Predicate) throws -> ResultsStorage {
        let bound = try predicate.bound(to: table.id, in: context)
        let found = adding { plan in
            plan.add(bound.condition)
            for stage in bound.stages {
                if case .sort(let terms) = stage { plan.add(sort: terms) } else { plan.add(stage) }
            }
        }
        do {
            try found.check()
        } catch let failure as QueryFailure {
            throw Realm.Error(.invalidInput, failure.message)
        } catch {
            context.readFailed(error)
        }
        return found
    }
}
