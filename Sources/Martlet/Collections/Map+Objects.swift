import MartletEngine
import MartletValues

// Maps of objects have the same queries and aggregates as other collections of objects. Nil values are skipped.
extension Map {
    /// The objects among the values that satisfy a condition, in the order of `values`. An object that occurs several
    /// times is returned several times. Traps on an unmanaged map.
    public func `where`<Model: ModelObject, Condition: QueryConvertible<Model>>(
        _ isIncluded: (Model.RootFields) -> Condition
    ) -> Results<Model> where Value == Model? {
        requireMembers().where(isIncluded)
    }

    /// The objects among the values that satisfy a condition written as text. Traps on an unmanaged map.
    public func filter<Model: ObjectBase>(_ text: String, _ arguments: Any?...) -> Results<Model>
    where Value == Model? {
        requireMembers().filter(text, arguments: arguments)
    }

    /// The objects among the values that satisfy a condition. Traps on an unmanaged map.
    ///
    /// - Throws: the errors of `Results.filter`.
    public func filter<Model: ObjectBase>(_ predicate: Realm.Predicate) throws -> Results<Model>
    where Value == Model? {
        try requireMembers().filter(predicate)
    }

    /// The objects among the values, sorted by a property. Traps on an unmanaged map.
    public func sorted<Model: ObjectBase>(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Model>
    where Value == Model? {
        requireMembers().sorted(byKeyPath: keyPath, ascending: ascending)
    }

    /// The objects among the values, sorted by several properties. Traps on an unmanaged map.
    public func sorted<Model: ObjectBase>(by descriptors: some Sequence<SortDescriptor>) -> Results<Model>
    where Value == Model? {
        requireMembers().sorted(by: descriptors)
    }

    /// The objects among the values, without duplicates: if several objects have equal values of these properties, only
    /// the first remains. Traps on an unmanaged map.
    public func distinct<Model: ObjectBase>(by keyPaths: some Sequence<String>) -> Results<Model>
    where Value == Model? {
        requireMembers().distinct(by: keyPaths)
    }

    private func requireMembers<Model: ObjectBase>() -> Results<Model> where Value == Model? {
        guard let core else { Misuse.unmanagedQuery("an unmanaged map") }
        return Results(core.members())
    }

    /// The minimum of a property among the objects; nil if no object has a value. NaN is skipped.
    public func min<V: OrderedValue, Model: ObjectBase>(ofProperty keyPath: String) -> V? where Value == Model? {
        aggregates(keyPath).minimum()
    }

    /// The maximum of a property among the objects; nil if no object has a value. NaN is skipped.
    public func max<V: OrderedValue, Model: ObjectBase>(ofProperty keyPath: String) -> V? where Value == Model? {
        aggregates(keyPath).maximum()
    }

    /// The sum of a property over the objects; zero if there are no objects. An object that occurs several times counts
    /// several times.
    public func sum<V: NumericValue, Model: ObjectBase>(ofProperty keyPath: String) -> V where Value == Model? {
        aggregates(keyPath, isArithmetic: true).sum()
    }

    /// The average of a property over the objects that have a value; nil if no object has one.
    public func average<V: NumericValue, Model: ObjectBase>(ofProperty keyPath: String) -> V?
    where Value == Model? {
        aggregates(keyPath, isArithmetic: true).average()
    }

    private func aggregates<Model: ObjectBase>(_ keyPath: String, isArithmetic: Bool = false) -> ElementAggregates
    where Value == Model? {
        ElementAggregates(
            values.compactMap { $0 }, keyPath, isArithmetic: isArithmetic,
            core.flatMap { $0.isValid ? $0.members() : nil })
    }
}

extension Map {
    /// The first key with a value equal to `value`; nil if no key has such a value. Objects are equal if they represent
    /// the same row. Positive and negative zero are equal, and all NaNs are equal. `AnyRealmValue`s of different kinds
    /// differ. Complexity: O(n).
    public func key(of value: Value) -> String? {
        first { entry in
            if let object = value._object { return entry.value._object?.isSameObject(as: object) ?? false }
            return entry.value._object == nil && entry.value._comparedElement == value._comparedElement
        }?.key
    }

    /// The value of a key; nil if the map does not contain the key.
    public func value(forKey key: String) -> Value? { self[key] }

    /// Sets the value of a key; nil removes the entry.
    public func setValue(_ value: Value?, forKey key: String) { self[key] = value }

    /// Sets the values of several keys. If a key has a value, `combine` computes the new value from the current value
    /// and the given value.
    public func merge(
        _ entries: some Sequence<(key: String, value: Value)>,
        uniquingKeysWith combine: (_ current: Value, _ new: Value) throws -> Value
    ) rethrows {
        core?.requireWrite()
        for (key, value) in Array(entries) {
            self[key] = try self[key].map { try combine($0, value) } ?? value
        }
    }

    /// Removes the entries of some keys. Keys without an entry are ignored.
    public func removeObjects(for keys: some Sequence<String>) {
        // A `Set<String>` would treat canonically equivalent keys as equal.
        let keys = Set(keys.map(SQLValue.text))
        guard let core else {
            for case .text(let key) in keys { removeObject(for: key) }
            return
        }
        core.requireWrite()
        removeEntries(core, keys.compactMap { core.position(of: $0) }.sorted())
    }
}
