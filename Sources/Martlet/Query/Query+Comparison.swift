import MartletEngine
import MartletSQLite

// MARK: Field and value

/// The field has this value. `nil` asks for absence.
public func == <Root, V: PersistableValue>(field: Field<Root, V>, value: V) -> Query<Root> {
    .compare(field, .equal, value)
}

/// The field has another value, or none.
public func != <Root, V: PersistableValue>(field: Field<Root, V>, value: V) -> Query<Root> {
    .compare(field, .notEqual, value)
}

/// The field's value is less. Strings and data compare byte by byte; an absent value is never less.
public func < <Root, V: OrderedValue>(field: Field<Root, V>, value: V) -> Query<Root> { .compare(field, .less, value) }

/// The field's value is less or equal.
public func <= <Root, V: OrderedValue>(field: Field<Root, V>, value: V) -> Query<Root> {
    .compare(field, .lessOrEqual, value)
}

/// The field's value is greater.
public func > <Root, V: OrderedValue>(field: Field<Root, V>, value: V) -> Query<Root> {
    .compare(field, .greater, value)
}

/// The field's value is greater or equal.
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

/// The left field's value is less.
public func < <Root, V: OrderedValue>(left: Field<Root, V>, right: Field<Root, V>) -> Query<Root> {
    .compare(left, .less, right)
}

/// The left field's value is less or equal.
public func <= <Root, V: OrderedValue>(left: Field<Root, V>, right: Field<Root, V>) -> Query<Root> {
    .compare(left, .lessOrEqual, right)
}

/// The left field's value is greater.
public func > <Root, V: OrderedValue>(left: Field<Root, V>, right: Field<Root, V>) -> Query<Root> {
    .compare(left, .greater, right)
}

/// The left field's value is greater or equal.
public func >= <Root, V: OrderedValue>(left: Field<Root, V>, right: Field<Root, V>) -> Query<Root> {
    .compare(left, .greaterOrEqual, right)
}

// MARK: Sets and ranges

extension Field where Value: PersistableValue {
    /// The value is one of these. No values match nothing.
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

    /// The value lies in the range, the upper bound excluded.
    public func contains(_ range: Range<Value>) -> Query<Root> where Value: Comparable {
        contains(range.lowerBound, range.upperBound, includesUpper: false)
    }

    /// The value lies in the range, the upper bound included.
    public func contains(_ range: ClosedRange<Value>) -> Query<Root> where Value: Comparable {
        contains(range.lowerBound, range.upperBound, includesUpper: true)
    }

    /// The value lies in the range, the upper bound excluded. An absent value lies in none.
    public func contains<Bound: Comparable>(_ range: Range<Bound>) -> Query<Root> where Value == Bound? {
        contains(range.lowerBound, range.upperBound, includesUpper: false)
    }

    /// The value lies in the range, the upper bound included. An absent value lies in none.
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

    /// The link leads to one of these objects.
    public func `in`(_ objects: some Sequence<Model>) -> Query<Root> { .isRow(_path, Array(objects)) }
}

/// The link leads to this object; with `nil`, nowhere.
public func == <F: ObjectFields>(link: F, object: F.Model?) -> Query<F.Root> { link.isObject(object) }

/// The link leads elsewhere or nowhere; with `nil`, somewhere.
public func != <F: ObjectFields>(link: F, object: F.Model?) -> Query<F.Root> { link.isObject(object).negatedForSome }
