import MartletEngine

/// Where a field lies: the class a path starts from and the names along it.
public struct FieldPath: Sendable {
    let names: [String]

    /// The start of a path.
    public init(_ root: ObjectBase.Type) { names = [] }

    private init(names: [String]) { self.names = names }

    /// The path through a link.
    public func link(_ name: String) -> FieldPath { FieldPath(names: names + [name]) }

    var path: PropertyPath { PropertyPath(names) }
}

/// A typed key path of a schema: names a property of `Root`, or of what `Root` leads to.
public protocol KeyPathDescriptor<Root> {
    associatedtype Root: ObjectBase
    /// The names from `Root` on.
    var _path: FieldPath { get }
}

extension KeyPathDescriptor {
    /// The key path as text, as `observe(keyPaths:)` and `sorted(byKeyPath:)` take it: `"owner.address.city"`.
    public var keyPath: String { _path.names.joined(separator: ".") }
}

/// A field that holds a single value.
public struct Field<Root: ObjectBase, Value>: KeyPathDescriptor {
    public let _path: FieldPath

    /// The field `name` behind `path`.
    public init(_ path: FieldPath, _ name: String) { _path = path.link(name) }
}

/// The fields of a model class, seen from `Root`. Generated, one struct for each class.
public protocol ObjectFields: KeyPathDescriptor {
    associatedtype Model: ObjectBase
    /// The fields behind `path`.
    init(_ path: FieldPath)
}

/// A list, set or linking-objects property whose elements are objects. Fields of elements stand for *any* element.
@dynamicMemberLookup
public struct ObjectCollectionField<Element: ObjectFields>: KeyPathDescriptor {
    public typealias Root = Element.Root
    public let _path: FieldPath

    /// The collection `name` behind `path`.
    public init(_ path: FieldPath, _ name: String) { _path = path.link(name) }

    /// A field of the elements.
    public subscript<T>(dynamicMember field: KeyPath<Element, T>) -> T { Element(_path)[keyPath: field] }
}

/// A list or set property whose elements are values.
public struct CollectionField<Root: ObjectBase, Element>: KeyPathDescriptor {
    public let _path: FieldPath

    /// The collection `name` behind `path`.
    public init(_ path: FieldPath, _ name: String) { _path = path.link(name) }
}

/// A map property.
public struct MapField<Root: ObjectBase, Value>: KeyPathDescriptor {
    public let _path: FieldPath

    /// The map `name` behind `path`.
    public init(_ path: FieldPath, _ name: String) { _path = path.link(name) }
}

/// A generated model class, with the fields that queries start from.
public protocol ModelObject: ObjectBase {
    associatedtype RootFields: ObjectFields where RootFields.Root == Self, RootFields.Model == Self
    /// The fields of this class.
    static var fields: RootFields { get }
}
