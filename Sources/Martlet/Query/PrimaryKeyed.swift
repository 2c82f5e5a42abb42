import MartletEngine
import MartletValues

/// A class whose objects can be found by a primary key: a generated model class with a primary key, or a projection of
/// such a class.
///
/// A generic function can specify the type of the key:
///
/// ```swift
/// func find<T: PrimaryKeyed<String>>(_ type: T.Type, _ key: String, in realm: Realm) -> T? {
///     realm.object(ofType: type, forPrimaryKey: key)
/// }
/// ```
public protocol PrimaryKeyed<_PrimaryKey>: AnyObject {
    /// The type of the primary key.
    associatedtype _PrimaryKey: PersistableValue
    /// The object with the primary key `key`; nil if there is no such object.
    static func _find(_ key: _PrimaryKey, in realm: Realm) -> Self?
}

/// A generated model class with a primary key.
public protocol KeyedObject<_PrimaryKey>: ModelObject, PrimaryKeyed {}

extension KeyedObject {
    public static func _find(_ key: _PrimaryKey, in realm: Realm) -> Self? {
        let context = realm.context
        context.confinement.require("a Realm")
        let table = context.table(self)
        guard let position = table.type.primaryKey else { Misuse.noPrimaryKey(table.type.name) }
        let property = table.type.properties[position]
        let value = key._stored.raw
        guard property.accepts(value) else {
            Misuse.wrongValue(
                key, property: "\(table.type.name).\(property.name)", expected: "'\(property.typeDescription)'")
        }
        let found = context.find(primaryKey: value, table)
        context.recordRead(found.map { .row(table.id, $0._key) } ?? .rows(table.id))
        return found.map { unsafeDowncast($0, to: Self.self) }
    }
}

extension Realm {
    /// The object with the given primary key, or a projection of that object; nil if there is no such object.
    ///
    /// For types whose names are known only at run time, use `dynamicObject(ofType:forPrimaryKey:)`.
    public func object<Found: PrimaryKeyed>(ofType type: Found.Type, forPrimaryKey key: Found._PrimaryKey) -> Found? {
        type._find(key, in: self)
    }
}
