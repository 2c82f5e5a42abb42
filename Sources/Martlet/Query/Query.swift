import MartletEngine
import MartletSQLite

/// A condition on objects of `Root`, as `where` takes it.
///
/// ```swift
/// realm.objects(Dog.self).where { $0.age > 5 && $0.owner.lastName.starts(with: "M") }
/// ```
///
/// Built from fields, so a wrong name or type does not compile. Values reach the database as bound parameters only.
public struct Query<Root: ObjectBase>: QueryConvertible {
    let predicate: Predicate

    init(_ predicate: Predicate) { self.predicate = predicate }

    /// Itself.
    public var _query: Query<Root> { self }

    static func compare<V: PersistableValue>(_ field: Field<Root, V>, _ comparison: Predicate.Comparison, _ value: V) -> Query {
        Query(.comparison(.path(field._path.path), comparison, .value(value._stored.raw.comparable)))
    }

    static func compare<V>(_ left: Field<Root, V>, _ comparison: Predicate.Comparison, _ right: Field<Root, V>) -> Query {
        Query(.comparison(.path(left._path.path), comparison, .path(right._path.path)))
    }
}

/// What can stand where a condition is expected: a query, or a field that is true or false.
public protocol QueryConvertible<Root> {
    associatedtype Root: ObjectBase
    var _query: Query<Root> { get }
}

extension Field: QueryConvertible where Value == Bool {
    /// True where the field is.
    public var _query: Query<Root> { Query(.comparison(.path(_path.path), .equal, .value(.integer(1)))) }
}

/// Both conditions hold.
public func && <Root>(left: some QueryConvertible<Root>, right: some QueryConvertible<Root>) -> Query<Root> {
    Query(.and([left._query.predicate, right._query.predicate]))
}

/// One of the conditions holds, or both.
public func || <Root>(left: some QueryConvertible<Root>, right: some QueryConvertible<Root>) -> Query<Root> {
    Query(.or([left._query.predicate, right._query.predicate]))
}

/// The condition does not hold.
public prefix func ! <Root>(query: some QueryConvertible<Root>) -> Query<Root> {
    Query(.not(query._query.predicate))
}
