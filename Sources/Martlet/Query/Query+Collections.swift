import MartletEngine
import MartletSQLite

/// A number computed from a collection: its count, or an aggregate of a property of its elements.
public struct CollectionNumber<Root: ObjectBase, Value> {
    let operand: Predicate.Operand

    fileprivate func compare(_ comparison: Predicate.Comparison, _ value: SQLValue) -> Query<Root> {
        Query(.comparison(operand, comparison, .value(value)))
    }
}

/// The number equals `value`.
public func == <Root, V: PersistableValue>(number: CollectionNumber<Root, V>, value: V) -> Query<Root> {
    number.compare(.equal, value._compared.raw)
}

/// The number differs from `value`.
public func != <Root, V: PersistableValue>(number: CollectionNumber<Root, V>, value: V) -> Query<Root> {
    number.compare(.notEqual, value._compared.raw)
}

/// The number is less than `value`.
public func < <Root, V: OrderedValue>(number: CollectionNumber<Root, V>, value: V) -> Query<Root> {
    number.compare(.less, value._compared.raw)
}

/// The number is at most `value`.
public func <= <Root, V: OrderedValue>(number: CollectionNumber<Root, V>, value: V) -> Query<Root> {
    number.compare(.lessOrEqual, value._compared.raw)
}

/// The number is greater than `value`.
public func > <Root, V: OrderedValue>(number: CollectionNumber<Root, V>, value: V) -> Query<Root> {
    number.compare(.greater, value._compared.raw)
}

/// The number is at least `value`.
public func >= <Root, V: OrderedValue>(number: CollectionNumber<Root, V>, value: V) -> Query<Root> {
    number.compare(.greaterOrEqual, value._compared.raw)
}

extension ObjectCollectionField {
    /// The number of elements.
    public var count: CollectionNumber<Root, Int> { CollectionNumber(operand: .count(_path.path)) }

    /// `object` is an element.
    public func contains(_ object: Element.Model) -> Query<Root> {
        .isRow(_path, [object])
    }

    /// Some element is one of these objects.
    public func containsAny(in objects: some Sequence<Element.Model>) -> Query<Root> {
        .isRow(_path, Array(objects))
    }
}

extension CollectionField where Element: PersistableValue {
    /// The number of elements.
    public var count: CollectionNumber<Root, Int> { CollectionNumber(operand: .count(_path.path)) }

    /// `value` is an element.
    public func contains(_ value: Element) -> Query<Root> {
        Query(.comparison(.path(_path.path), .equal, .value(value._compared.raw)))
    }

    /// Some element is one of these values.
    public func containsAny(in values: some Sequence<Element>) -> Query<Root> {
        Query(.or(values.map { .comparison(.path(_path.path), .equal, .value($0._compared.raw)) }))
    }
}

extension Field where Value: OrderedValue {
    /// The least value among the elements of the collection that this field is reached through.
    public var min: CollectionNumber<Root, Value> { CollectionNumber(operand: .aggregate(.min, _path.path)) }
    /// The greatest value among the elements.
    public var max: CollectionNumber<Root, Value> { CollectionNumber(operand: .aggregate(.max, _path.path)) }
}

extension Field where Value: NumericValue {
    /// The sum over the elements of the collection that this field is reached through.
    public var sum: CollectionNumber<Root, Value> { CollectionNumber(operand: .aggregate(.sum, _path.path)) }
    /// The mean over the elements.
    public var avg: CollectionNumber<Root, Double> { CollectionNumber(operand: .aggregate(.average, _path.path)) }
}
