import MartletEngine
import MartletValues

extension Results where Element: ObjectBase {
    /// The minimum of a property among the members; nil if no member has a value. NaN is skipped.
    ///
    /// - Parameter keyPath: a property, or a key path through to-one links such as `"owner.age"`.
    public func min<V: OrderedValue>(ofProperty keyPath: String) -> V? {
        value(storage.aggregate(.min, keyPath), keyPath)
    }

    /// The maximum of a property among the members; nil if no member has a value. NaN is skipped.
    public func max<V: OrderedValue>(ofProperty keyPath: String) -> V? {
        value(storage.aggregate(.max, keyPath), keyPath)
    }

    /// The sum of a property over the members; zero if there are no members. Absent values and NaN are skipped.
    ///
    /// Traps if the sum of integers does not fit the requested type. Request a larger type, such as `Int` or `Double`.
    public func sum<V: NumericValue>(ofProperty keyPath: String) -> V {
        guard let sum = V._sum(StoredValue(storage.aggregate(.sum, keyPath))) else { Misuse.sumTooLarge("\(V.self)") }
        return sum
    }

    /// The average of a property over the members that have a value; nil if no member has one.
    public func average<V: NumericValue>(ofProperty keyPath: String) -> V? {
        let value = storage.aggregate(.average, keyPath)
        return value == .null ? nil : V._nearest(StoredValue(value))
    }

    private func value<V: OrderedValue>(_ stored: SQLValue, _ keyPath: String) -> V? {
        guard stored != .null else { return nil }
        return V.aggregate(stored, keyPath, in: storage.context)
    }
}

extension Results where Element: ModelObject {
    /// The minimum of a field among the members; nil if no member has a value.
    public func min<F: ValueField<Element>>(of field: (Element.RootFields) -> F) -> F.Value._NonOptional?
    where F.Value: OrderedValue {
        min(ofProperty: field(Element.fields).keyPath)
    }

    /// The maximum of a field among the members; nil if no member has a value.
    public func max<F: ValueField<Element>>(of field: (Element.RootFields) -> F) -> F.Value._NonOptional?
    where F.Value: OrderedValue {
        max(ofProperty: field(Element.fields).keyPath)
    }

    /// The sum of a field over the members that have a value; zero if no member has one.
    public func sum<F: ValueField<Element>>(of field: (Element.RootFields) -> F) -> F.Value._NonOptional
    where F.Value: NumericValue, F.Value._NonOptional: NumericValue {
        sum(ofProperty: field(Element.fields).keyPath)
    }

    /// The average of a field over the members that have a value; nil if no member has one.
    public func average<F: ValueField<Element>>(of field: (Element.RootFields) -> F) -> F.Value._Average?
    where F.Value: NumericValue {
        average(ofProperty: field(Element.fields).keyPath)
    }
}

extension ResultsStorage {
    /// Computes an aggregate. Traps if a component of the path does not exist, or if the aggregate is not defined for
    /// the property.
    fileprivate func aggregate(_ function: Predicate.Aggregate, _ keyPath: String) -> SQLValue {
        let path = PropertyPath(keyPath)
        requireAggregatable(path, isArithmetic: function.isArithmetic)
        return aggregate(function, path)
    }

    private func requireAggregatable(_ path: PropertyPath, isArithmetic: Bool) {
        guard let end = requirePath(path).end else { Misuse.query("an aggregate needs a property") }
        context.schema[end.table].type.properties[end.property].requireAggregatable(
            path.text, isArithmetic: isArithmetic)
    }

    /// Traps if a component of the path does not exist. The message names the component.
    @discardableResult
    func requirePath(_ path: PropertyPath) -> ResolvedPath {
        do {
            return try ResolvedPath(path, from: table.id, in: context.schema)
        } catch {
            Misuse.unknownPath(path.text, type: table.type.name, component: error.name, of: error.type)
        }
    }
}
