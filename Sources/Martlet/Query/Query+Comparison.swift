import MartletEngine
import MartletValues

// MARK: Operand and value

/// One side of a comparison: a field, a link, or a number that is computed from a collection.
///
/// Each comparison operator has one function for all kinds of operands. If each kind of operand had its own function,
/// the compiler's message about a wrong enum case or value could name a function for another kind of operand.
public protocol QueryOperand<Root> {
    associatedtype Root: ObjectBase
    /// The type of the values with which the operand is compared.
    associatedtype _Compared
    /// The condition that compares the operand with a value.
    func _compare(_ comparison: _Comparison, _ value: _Compared) -> Query<Root>
}

/// An operand whose values have an order.
public protocol OrderedOperand<Root>: QueryOperand {}

/// A comparison operator.
public enum _Comparison {
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual

    var predicate: Predicate.Comparison {
        switch self {
        case .equal: .equal
        case .notEqual: .notEqual
        case .less: .less
        case .lessOrEqual: .lessOrEqual
        case .greater: .greater
        case .greaterOrEqual: .greaterOrEqual
        }
    }
}

/// True if the operand equals this value. `nil` tests for an absent value.
public func == <Operand: QueryOperand>(operand: Operand, value: Operand._Compared) -> Query<Operand.Root> {
    operand._compare(.equal, value)
}

/// True if the operand does not equal this value. An absent operand differs from every value. `!= nil` tests for a
/// present value.
public func != <Operand: QueryOperand>(operand: Operand, value: Operand._Compared) -> Query<Operand.Root> {
    operand._compare(.notEqual, value)
}

/// True if the operand is less than this value. Strings and data are compared byte by byte. False if the operand is
/// absent.
public func < <Operand: OrderedOperand>(operand: Operand, value: Operand._Compared) -> Query<Operand.Root> {
    operand._compare(.less, value)
}

/// True if the operand is less than or equal to this value.
public func <= <Operand: OrderedOperand>(operand: Operand, value: Operand._Compared) -> Query<Operand.Root> {
    operand._compare(.lessOrEqual, value)
}

/// True if the operand is greater than this value.
public func > <Operand: OrderedOperand>(operand: Operand, value: Operand._Compared) -> Query<Operand.Root> {
    operand._compare(.greater, value)
}

/// True if the operand is greater than or equal to this value.
public func >= <Operand: OrderedOperand>(operand: Operand, value: Operand._Compared) -> Query<Operand.Root> {
    operand._compare(.greaterOrEqual, value)
}

extension Field: OrderedOperand where Value: OrderedValue {}

extension Field: QueryOperand where Value: PersistableValue {
    public func _compare(_ comparison: _Comparison, _ value: Value) -> Query<Root> {
        .compare(self, comparison.predicate, value)
    }
}

// MARK: Field and field

/// True if both fields have the same value.
@_disfavoredOverload
public func == <Root, V: PersistableValue>(left: Field<Root, V>, right: Field<Root, V>) -> Query<Root> {
    .compare(left, .equal, right)
}

/// True if the fields have different values.
@_disfavoredOverload
public func != <Root, V: PersistableValue>(left: Field<Root, V>, right: Field<Root, V>) -> Query<Root> {
    .compare(left, .notEqual, right)
}

/// True if the left field is less than the right field.
@_disfavoredOverload
public func < <Root, V: OrderedValue>(left: Field<Root, V>, right: Field<Root, V>) -> Query<Root> {
    .compare(left, .less, right)
}

/// True if the left field is less than or equal to the right field.
@_disfavoredOverload
public func <= <Root, V: OrderedValue>(left: Field<Root, V>, right: Field<Root, V>) -> Query<Root> {
    .compare(left, .lessOrEqual, right)
}

/// True if the left field is greater than the right field.
@_disfavoredOverload
public func > <Root, V: OrderedValue>(left: Field<Root, V>, right: Field<Root, V>) -> Query<Root> {
    .compare(left, .greater, right)
}

/// True if the left field is greater than or equal to the right field.
@_disfavoredOverload
public func >= <Root, V: OrderedValue>(left: Field<Root, V>, right: Field<Root, V>) -> Query<Root> {
    .compare(left, .greaterOrEqual, right)
}

// MARK: Sets and ranges

extension Field where Value: PersistableValue {
    /// True if the value is one of these values. An empty sequence matches nothing.
    public func `in`(_ values: some Sequence<Value>) -> Query<Root> {
        let values = Array(values)
        return Query(.contained(.path(_path.path), values.map { $0._compared.raw }), Query<Root>.objects(in: values))
    }
}

extension Field where Value: OrderedValue {
    private func contains(_ lower: Value, _ upper: Value, includesUpper: Bool) -> Query<Root> {
        Query(
            .range(
                .path(_path.path), lower: .value(lower._compared.raw), upper: .value(upper._compared.raw),
                includesUpper: includesUpper))
    }

    /// True if the value lies in the range, which excludes its upper bound.
    public func contains(_ range: Range<Value>) -> Query<Root> where Value: Comparable {
        contains(range.lowerBound, range.upperBound, includesUpper: false)
    }

    /// True if the value lies in the range, which includes its upper bound.
    public func contains(_ range: ClosedRange<Value>) -> Query<Root> where Value: Comparable {
        contains(range.lowerBound, range.upperBound, includesUpper: true)
    }

    /// True if the value lies in the range, which excludes its upper bound. An absent value lies in no range.
    public func contains<Bound: Comparable>(_ range: Range<Bound>) -> Query<Root> where Value == Bound? {
        contains(range.lowerBound, range.upperBound, includesUpper: false)
    }

    /// True if the value lies in the range, which includes its upper bound. An absent value lies in no range.
    public func contains<Bound: Comparable>(_ range: ClosedRange<Bound>) -> Query<Root> where Value == Bound? {
        contains(range.lowerBound, range.upperBound, includesUpper: true)
    }
}

// MARK: Links

extension ObjectFields {
    private func isObject(_ object: Model?) -> Query<Root> {
        guard let object else { return Query(.comparison(.path(_path.path), .equal, .value(.null))) }
        return .isRow(_path, [object])
    }

    /// True if the link refers to the object `value`. With `.notEqual`, true if the link is nil or refers to another
    /// object. If `value` is nil, tests whether the link is nil.
    public func _compare(_ comparison: _Comparison, _ value: Model?) -> Query<Root> {
        comparison == .equal ? isObject(value) : isObject(value).negatedForSomeElement
    }

    /// True if the link refers to one of these objects.
    public func `in`(_ objects: some Sequence<Model>) -> Query<Root> { .isRow(_path, Array(objects)) }
}
