import MartletEngine
import MartletValues

/// A number that is computed from a collection: its count, or an aggregate of its values or of a property of its
/// elements.
public struct CollectionNumber<Root: ObjectBase, Value> {
    let operand: Predicate.Operand
    let objects: [ObjectBase]

    init(_ operand: Predicate.Operand, _ objects: [ObjectBase] = []) {
        self.operand = operand
        self.objects = objects
    }
}

extension CollectionNumber: OrderedOperand where Value: OrderedValue {}

extension CollectionNumber: QueryOperand where Value: PersistableValue {
    public func _compare(_ comparison: _Comparison, _ value: Value) -> Query<Root> {
        Query(.comparison(operand, comparison.predicate, .value(value._compared.raw)), objects)
    }
}

extension Query {
    /// The number of elements of a collection that satisfy this condition: `($0.items.price > 5 &&
    /// $0.items.isSold).count >= 2`. Fields outside of the collection belong to the owner of the collection:
    /// `($0.items.price > $0.budget).count == 0`.
    ///
    /// Traps if the condition does not use exactly one collection.
    public var count: CollectionNumber<Root, Int> { CollectionNumber(.matchingShared(predicate), objects) }
}

extension ObjectCollectionField {
    /// The number of elements.
    public var count: CollectionNumber<Root, Int> { CollectionNumber(.count(_path.path)) }

    /// True if `object` is an element.
    public func contains(_ object: Element.Model) -> Query<Root> { .isRow(_path, [object]) }

    /// True if at least one element is one of these objects.
    public func containsAny(in objects: some Sequence<Element.Model>) -> Query<Root> {
        .isRow(_path, Array(objects))
    }
}

extension ObjectMapField {
    /// The number of keys.
    public var count: CollectionNumber<Root, Int> { CollectionNumber(.count(_path.path)) }

    /// True if `object` is a value of the map. With `nil`, true if the map contains nil for at least one key.
    public func contains(_ object: Value.Model?) -> Query<Root> {
        guard let object else { return Query(.comparison(.path(_path.path), .equal, .value(.null))) }
        return .isRow(_path, [object])
    }

    /// True if at least one value is one of these objects.
    public func containsAny(in objects: some Sequence<Value.Model>) -> Query<Root> { .isRow(_path, Array(objects)) }
}

/// A list, set or map property whose elements are values.
public protocol ValueCollectionField<Root, Element>: KeyPathDescriptor {
    associatedtype Element
}

extension CollectionField: ValueCollectionField {}

extension MapField: ValueCollectionField {
    public typealias Element = Value
}

extension ValueCollectionField {
    /// The number of elements.
    public var count: CollectionNumber<Root, Int> { CollectionNumber(.count(_path.path)) }
}

extension ValueCollectionField where Element: PersistableValue {
    /// True if `value` is an element of the collection, or a value of the map.
    public func contains(_ value: Element) -> Query<Root> {
        .compare(Field(_path), .equal, value)
    }

    /// True if at least one element is one of these values. An empty sequence matches nothing.
    public func containsAny(in values: some Sequence<Element>) -> Query<Root> {
        Field(_path).in(values)
    }
}

extension ValueCollectionField where Element: OrderedValue {
    /// True if at least one element lies in the range, which excludes its upper bound.
    @_disfavoredOverload
    public func contains(_ range: Range<Element>) -> Query<Root> where Element: Comparable {
        Field(_path).contains(range)
    }

    /// True if at least one element lies in the range, which includes its upper bound.
    @_disfavoredOverload
    public func contains(_ range: ClosedRange<Element>) -> Query<Root> where Element: Comparable {
        Field(_path).contains(range)
    }

    /// The least element.
    public var min: CollectionNumber<Root, Element> { CollectionNumber(.aggregate(.min, _path.path)) }
    /// The greatest element.
    public var max: CollectionNumber<Root, Element> { CollectionNumber(.aggregate(.max, _path.path)) }
}

extension ValueCollectionField where Element: NumericValue {
    /// The sum of the elements.
    public var sum: CollectionNumber<Root, Element> { CollectionNumber(.aggregate(.sum, _path.path)) }
    /// The mean of the elements.
    public var avg: CollectionNumber<Root, Element._Average> { CollectionNumber(.aggregate(.average, _path.path)) }
}

extension Field where Value: OrderedValue {
    /// The least value of this field among the elements of the collection.
    public var min: CollectionNumber<Root, Value> { CollectionNumber(.aggregate(.min, _path.path)) }
    /// The greatest value of this field among the elements of the collection.
    public var max: CollectionNumber<Root, Value> { CollectionNumber(.aggregate(.max, _path.path)) }
}

extension Field where Value: NumericValue {
    /// The sum of this field over the elements of the collection.
    public var sum: CollectionNumber<Root, Value> { CollectionNumber(.aggregate(.sum, _path.path)) }
    /// The mean of this field over the elements of the collection.
    public var avg: CollectionNumber<Root, Value._Average> { CollectionNumber(.aggregate(.average, _path.path)) }
}
