import MartletEngine
import MartletValues

// MARK: Operand and value

/// One side of a comparison: a field, a link, or a number that is computed from a collection.
///
/// All operands share one operator function for each comparison. With a function for each kind of operand, the compiler
/// would name a function of another kind instead of a wrong enum case or value.
public protocol QueryOperand<Root> {
    associatedtype Root: ObjectBase
    /// The type of the values with which the operand is compared.
    associatedtype _Compared
    /// The condition that compares the operand with a value.
    func _compare(_ comparison: _Comparison, _ value: _Compared) -> Query<Root>
}

/// An operand whose values have an order.
public protocol OrderedOperand<Root>: QueryOperand {}

/// The comparison of an operator.
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

/// The operand equals this value. `nil` tests for absence.
public func == <Operand: QueryOperand>(operand: Operand, value: Operand._Compared) -> Query<Operand.Root> {
    operand._compare(.equal, value)
}

/// The operand does not equal this value, or is absent.
public func != <Operand: QueryOperand>(operand: Operand, value: Operand._Compared) -> Query<Operand.Root> {
    operand._compare(.notEqual, value)
}

/// The operand is less than this value. Strings and data are compared byte by byte. An absent value is never less.
public func < <Operand: OrderedOperand>(operand: Operand, value: Operand._Compared) -> Query<Operand.Root> {
    operand._compare(.less, value)
}

/// The operand is less than or equal to this value.
public func <= <Operand: OrderedOperand>(operand: Operand, value: Operand._Compared) -> Query<Operand.Root> {
    operand._compare(.lessOrEqual, value)
}

/// The operand is greater than this value.
public func > <Operand: OrderedOperand>(operand: Operand, value: Operand._Compared) -> Query<Operand.Root> {
    operand._compare(.greater, value)
}

/// The operand is greater than or equal to this value.
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

/// Both fields have the same value.
@_disfavoredOverload
public func == <Root, V: PersistableValue>(left: Field<Root, V>, right: Field<Root, V>) -> Query<Root> {
    .compare(left, .equal, right)
}

/// The fields have different values.
@_disfavoredOverload
public func != <Root, V: PersistableValue>(left: Field<Root, V>, right: Field<Root, V>) -> Query<Root> {
    .compare(left, .notEqual, right)
}

/// The left field is less than the right one.
@_disfavoredOverload
public func < <Root, V: OrderedValue>(left: Field<Root, V>, right: Field<Root, V>) -> Query<Root> {
    .compare(left, .less, right)
}

/// The left field is less than or equal to the right one.
@_disfavoredOverload
public func <= <Root, V: OrderedValue>(left: Field<Root, V>, right: Field<Root, V>) -> Query<Root> {
    .compare(left, .lessOrEqual, right)
}

/// The left field is greater than the right one.
@_disfavoredOverload
public func > <Root, V: OrderedValue>(left: Field<Root, V>, right: Field<Root, V>) -> Query<Root> {
    .compare(left, .greater, right)
}

/// The left field is greater than or equal to the right one.
@_disfavoredOverload
public func >= <Root, V: OrderedValue>(left: Field<Root, V>, right: Field<Root, V>) -> Query<Root> {
    .compare(left, .greaterOrEqual, right)
}

// MARK: Sets and ranges

extension Field where Value: PersistableValue {
    /// The value is one of these. An empty sequence matches nothing.
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

    /// The value lies in the range, excluding the upper bound.
    public func contains(_ range: Range<Value>) -> Query<Root> where Value: Comparable {
        contains(range.lowerBound, range.upperBound, includesUpper: false)
    }

    /// The value lies in the range, including the upper bound.
    public func contains(_ range: ClosedRange<Value>) -> Query<Root> where Value: Comparable {
        contains(range.lowerBound, range.upperBound, includesUpper: true)
    }

    /// The value lies in the range, excluding the upper bound. An absent value lies in no range.
    public func contains<Bound: Comparable>(_ range: Range<Bound>) -> Query<Root> where Value == Bound? {
        contains(range.lowerBound, range.upperBound, includesUpper: false)
    }

    /// The value lies in the range, including the upper bound. An absent value lies in no range.
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

    /// The link refers to this object, or with `.notEqual` to another object or none. `nil` tests for absence.
    public func _compare(_ comparison: _Comparison, _ value: Model?) -> Query<Root> {
        comparison == .equal ? isObject(value) : isObject(value).negatedForSome
    }

    /// The link refers to one of these objects.
    public func `in`(_ objects: some Sequence<Model>) -> Query<Root> { .isRow(_path, Array(objects)) }
}
