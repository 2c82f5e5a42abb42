import MartletEngine

/// The path of a field: the names of the links from the root class to the field, then the name of the field.
public struct FieldPath: Sendable {
    let path: PropertyPath

    /// The empty path, which starts at a root class.
    public init(_ root: ObjectBase.Type) { path = .itself }

    private init(_ path: PropertyPath) { self.path = path }

    /// This path, extended by the link `name`.
    public func link(_ name: String) -> FieldPath { FieldPath(path.appending(name)) }

    func appending(_ component: PropertyPath.Component) -> FieldPath { FieldPath(path.appending(component)) }
}

/// A typed key path: it names a property of `Root`, or of a type that `Root` links to.
public protocol KeyPathDescriptor<Root> {
    associatedtype Root: ObjectBase
    /// The names of the properties on the path, starting at `Root`.
    var _path: FieldPath { get }
}

extension KeyPathDescriptor {
    /// The key path as text, for `observe(keyPaths:)` and `sorted(byKeyPath:)`, such as `"owner.address.city"`.
    public var keyPath: String { _path.path.text }
}

/// A field that is neither a link nor a collection. `Field` is the only conforming type.
///
/// Functions that take a closure are generic over the field type. If the closure contains a wrong name, the compiler
/// then reports that name. If the functions were generic over the value type, the compiler would report that it cannot
/// infer the value type.
public protocol ValueField<Root>: KeyPathDescriptor {
    associatedtype Value
}

/// A field with a single value.
public struct Field<Root: ObjectBase, Value>: ValueField {
    public let _path: FieldPath

    /// The field `name` at the end of `path`.
    public init(_ path: FieldPath, _ name: String) { _path = path.link(name) }

    init(_ path: FieldPath) { _path = path }
}

/// The fields of a model class, with paths that start at `Root`. One struct is generated for each class.
public protocol ObjectFields: KeyPathDescriptor, QueryOperand where _Compared == Model? {
    associatedtype Model: ObjectBase
    /// The fields at the end of `path`.
    init(_ path: FieldPath)
}

/// A list or set of objects, or linking objects. A condition on a field of the elements is true if *some* element
/// satisfies the condition.
@dynamicMemberLookup
public struct ObjectCollectionField<Element: ObjectFields>: KeyPathDescriptor {
    public typealias Root = Element.Root
    public let _path: FieldPath

    /// The collection `name` at the end of `path`.
    public init(_ path: FieldPath, _ name: String) { _path = path.link(name) }

    init(_ path: FieldPath) { _path = path }

    /// A field of the elements.
    public subscript<T>(dynamicMember field: KeyPath<Element, T>) -> T { Element(_path)[keyPath: field] }
}

/// A list or set property whose elements are values.
public struct CollectionField<Root: ObjectBase, Element>: KeyPathDescriptor {
    public let _path: FieldPath

    /// The collection `name` at the end of `path`.
    public init(_ path: FieldPath, _ name: String) { _path = path.link(name) }
}

/// A map property whose values are not objects.
public struct MapField<Root: ObjectBase, Value>: KeyPathDescriptor {
    public let _path: FieldPath

    /// The map `name` at the end of `path`.
    public init(_ path: FieldPath, _ name: String) { _path = path.link(name) }

    /// The keys. A condition on the keys is true if *some* key satisfies it.
    public var keys: Field<Root, String> { Field(_path.appending(.keys)) }

    /// The values. A condition on the values is true if *some* value satisfies it.
    public var values: Field<Root, Value> { Field(_path) }

    /// The value of one key; absent if the map does not contain the key.
    public subscript(key: String) -> Field<Root, Value?> { Field(_path.appending(.entry(key))) }

    /// The value of one key; absent if the map does not contain the key, or if the value is nil.
    public subscript<Wrapped>(key: String) -> Field<Root, Value> where Value == Wrapped? {
        Field(_path.appending(.entry(key)))
    }
}

/// A map property of objects. A condition on a field of the values is true if *some* value satisfies it.
@dynamicMemberLookup
public struct ObjectMapField<Value: ObjectFields>: KeyPathDescriptor {
    public typealias Root = Value.Root
    public let _path: FieldPath

    /// The map `name` at the end of `path`.
    public init(_ path: FieldPath, _ name: String) { _path = path.link(name) }

    /// A field of the values.
    public subscript<T>(dynamicMember field: KeyPath<Value, T>) -> T { Value(_path)[keyPath: field] }

    /// The keys. A condition on the keys is true if *some* key satisfies it.
    public var keys: Field<Root, String> { Field(_path.appending(.keys)) }

    /// The values. A condition on the values is true if *some* value satisfies it.
    public var values: ObjectCollectionField<Value> { ObjectCollectionField(_path) }

    /// The object that the map contains for a key.
    public subscript(key: String) -> Value { Value(_path.appending(.entry(key))) }
}

/// A generated model class, with the fields that queries use.
public protocol ModelObject: ObjectBase {
    associatedtype RootFields: ObjectFields where RootFields.Root == Self, RootFields.Model == Self
    /// The fields of this class.
    static var fields: RootFields { get }
}
