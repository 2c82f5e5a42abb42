import MartletEngine
import MartletValues

/// A condition on objects of `Root`, for `where`.
///
/// ```swift
/// realm.objects(Dog.self).where { $0.age > 5 && $0.owner.lastName.starts(with: "M") }
/// ```
///
/// A condition is built from fields, so code with a wrong name or type does not compile. Values are passed to the
/// database only as bound parameters.
public struct Query<Root: ObjectBase>: QueryConvertible {
    let predicate: Predicate
    /// The objects in the condition. They must belong to the Realm that runs the query.
    let objects: [ObjectBase]

    init(_ predicate: Predicate, _ objects: [ObjectBase] = []) {
        self.predicate = predicate
        self.objects = objects
    }

    /// The condition that the row at the end of `path` is one of these objects. Unmanaged objects match nothing.
    static func isRow(_ path: FieldPath, _ objects: [ObjectBase]) -> Query {
        for object in objects where object._state == .invalidated {
            Misuse.invalidated(object._typeName, object._keyDescription)
        }
        let managed = objects.filter { $0._context != nil }
        return Query(.isRow(path.path, managed.map(\._key)), managed)
    }

    /// The negated condition. If a path passes through a collection, the result is true if at least one element does
    /// not satisfy this condition.
    var negatedForSomeElement: Query { Query(predicate.negatedForSomeElement, objects) }

    /// The condition for a query of the Realm of `context`. Traps if an object in the condition belongs to another
    /// Realm.
    func predicate(in context: RealmContext) -> Predicate {
        for object in objects where object._context !== context { context.refuse(foreign: object, isLinked: false) }
        return predicate
    }

    /// The query itself.
    public var _query: Query<Root> { self }

    static func compare<V: PersistableValue>(_ field: Field<Root, V>, _ comparison: Predicate.Comparison, _ value: V)
        -> Query
    {
        Query(.comparison(.path(field._path.path), comparison, .value(value._compared.raw)), objects(in: value))
    }

    /// The objects among the values, including objects inside `AnyRealmValue`s.
    static func objects(in values: [some PersistableValue]) -> [ObjectBase] { values.flatMap { objects(in: $0) } }

    private static func objects(in value: some PersistableValue) -> [ObjectBase] {
        let objects = value._comparedObjects
        return objects.isEmpty ? [] : objects.compactMap { $0 as? ObjectBase }
    }

    static func compare<V>(_ left: Field<Root, V>, _ comparison: Predicate.Comparison, _ right: Field<Root, V>) -> Query
    {
        Query(.comparison(.path(left._path.path), comparison, .path(right._path.path)))
    }
}

/// A type that can be used as a condition: a query, or a Boolean field.
public protocol QueryConvertible<Root> {
    associatedtype Root: ObjectBase
    var _query: Query<Root> { get }
}

extension Field: QueryConvertible where Value == Bool {
    /// True if the field is true.
    public var _query: Query<Root> { Query(.comparison(.path(_path.path), .equal, .value(.integer(1)))) }
}

/// True if both conditions are true.
public func && <Root>(left: some QueryConvertible<Root>, right: some QueryConvertible<Root>) -> Query<Root> {
    let (left, right) = (left._query, right._query)
    return Query(.and(left.predicate.conjuncts + right.predicate.conjuncts), left.objects + right.objects)
}

/// True if at least one of the conditions is true.
public func || <Root>(left: some QueryConvertible<Root>, right: some QueryConvertible<Root>) -> Query<Root> {
    let (left, right) = (left._query, right._query)
    return Query(.or(left.predicate.alternatives + right.predicate.alternatives), left.objects + right.objects)
}

/// True if the condition is not true.
public prefix func ! <Root>(query: some QueryConvertible<Root>) -> Query<Root> {
    let query = query._query
    return Query(query.predicate.negated, query.objects)
}
