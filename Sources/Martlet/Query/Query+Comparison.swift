import MartletEngine
import MartletValues

// MARK: Field and value

/// The field equals this value. `nil` tests for absence.
public func == <Root, V: PersistableValue>(field: Field<Root, V>, value: V) -> Query<Root> {
    .compare(field, .equal, value)
}

/// The field does not equal this value, or is absent.
public func != <Root, V: PersistableValue>(field: Field<Root, V>, value: V) -> Query<Root> {
    .compare(field, .notEqual, value)
}

/// The field is less than this value. Strings and data are compared byte by byte. An absent value is never less.
public func < <Root, V: OrderedValue>(field: Field<Root, V>, value: V) -> Query<Root> { .compare(field, .less, value) }

/// The field is less than or equal to this value.
public func <= <Root, V: OrderedValue>(field: Field<Root, V>, value: V) -> Query<Root> {
    .compare(field, .lessOrEqual, value)
}

/// The field is greater than this value.
public func > <Root, V: OrderedValue>(field: Field<Root, V>, value: V) -> Query<Root> {
    .compare(field, .greater, value)
}

/// The field is greater than or equal to this value.
public func >= <Root, V: OrderedValue>(field: Field<Root, V>, value: V) -> Query<Root> {
    .compare(field, .greaterOrEqual, value)
}

// MARK: Field and field

/// Both fields have the same value.
public func == <Root, V: PersistableValue>(left: Field<Root, V>, right: Field<Root, V>) -> Query<Root> {
    .compare(left, .equal, right)
}

/// The fields have different values.
public func != <Root, V: PersistableValue>(left: Field<Root, V>, right: Field<Root, V>) -> Query<Root> {
    .compare(left, .notEqual, right)
}

/// The left field is less than the right one.
public func < <Root, V: OrderedValue>(left: Field<Root, V>, right: Field<Root, V>) -> Query<Root> {
    .compare(left, .less, right)
}

/// The left field is less than or equal to the right one.
public func <= <Root, V: OrderedValue>(left: Field<Root, V>, right: Field<Root, V>) -> Query<Root> {
    .compare(left, .lessOrEqual, right)
}

/// The left field is greater than the right one.
public func > <Root, V: OrderedValue>(left: Field<Root, V>, right: Field<Root, V>) -> Query<Root> {
    .compare(left, .greater, right)
}

/// The left field is greater than or equal to the right one.
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
    fileprivate func isObject(_ object: Model?) -> Query<Root> {
        guard let object else { return Query(.comparison(.path(_path.path), .equal, .value(.null))) }
        return .isRow(_path, [object])
    }

    /// The link refers to one of these objects.
    public func `in`(_ objects: some Sequence<Model>) -> Query<Root> { .isRow(_path, Array(objects)) }
}

/// The link refers to this object. With `nil`, the link is nil.
public func == <F: ObjectFields>(link: F, object: F.Model?) -> Query<F.Root> { link.isObject(object) }

/// The link refers to another object, or is nil. With `nil`, the link is not nil.
public func != <F: ObjectFields>(link: F, object: F.Model?) -> Query<F.Root> { link.isObject(object).negatedForSome }
