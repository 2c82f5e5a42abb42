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
    /// Objects that the condition names: they must be of the Realm that is asked.
    let objects: [ObjectBase]

    init(_ predicate: Predicate, _ objects: [ObjectBase] = []) {
        self.predicate = predicate
        self.objects = objects
    }

    /// The condition that the row behind `path` is one of these objects. Unmanaged ones are nowhere.
    static func isRow(_ path: FieldPath, _ objects: [ObjectBase]) -> Query {
        for object in objects where object._state == .invalidated {
            Misuse.invalidated(object._typeName, object._keyDescription)
        }
        let managed = objects.filter { $0._context != nil }
        return Query(.isRow(path.path, managed.map(\._key)), managed)
    }

    /// The opposite, in paths through collections for some element.
    var negatedForSome: Query { Query(predicate.negatedForSome, objects) }

    /// The condition, for a Realm; traps on objects of another one.
    func predicate(in context: RealmContext) -> Predicate {
        for object in objects where object._context !== context { context.refuse(foreign: object, isLinked: false) }
        return predicate
    }

    /// Itself.
    public var _query: Query<Root> { self }

    static func compare<V: PersistableValue>(_ field: Field<Root, V>, _ comparison: Predicate.Comparison, _ value: V)
        -> Query
    {
        Query(.comparison(.path(field._path.path), comparison, .value(value._compared.raw)), objects(in: [value]))
    }

    /// The objects that values of any type hold.
    static func objects(in values: [some PersistableValue]) -> [ObjectBase] {
        values.flatMap { $0._comparedObjects.compactMap { $0 as? ObjectBase } }
    }

    static func compare<V>(_ left: Field<Root, V>, _ comparison: Predicate.Comparison, _ right: Field<Root, V>) -> Query
    {
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
    let (left, right) = (left._query, right._query)
    return Query(.and(left.predicate.conjuncts + right.predicate.conjuncts), left.objects + right.objects)
}

/// One of the conditions holds, or both.
public func || <Root>(left: some QueryConvertible<Root>, right: some QueryConvertible<Root>) -> Query<Root> {
    let (left, right) = (left._query, right._query)
    return Query(.or(left.predicate.alternatives + right.predicate.alternatives), left.objects + right.objects)
}

/// The condition does not hold.
public prefix func ! <Root>(query: some QueryConvertible<Root>) -> Query<Root> {
    let query = query._query
    return Query(query.predicate.negated, query.objects)
}
