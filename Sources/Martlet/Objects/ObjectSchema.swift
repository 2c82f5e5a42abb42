import MartletEngine

/// The object types of a Realm.
public struct Schema: Sendable, Equatable {
    /// All types, by name.
    public let objectSchema: [ObjectSchema]

    /// The type with a name; nil when there is none.
    public subscript(className: String) -> ObjectSchema? { objectSchema.first { $0.className == className } }
}

/// One object type: its name and its properties, as the schema declares them.
public struct ObjectSchema: Sendable, Equatable, CustomStringConvertible {
    let type: ObjectTypeSchema

    /// The name of the type.
    public var className: String { type.name }

    /// True for types whose objects belong to exactly one other object.
    public var isEmbedded: Bool { type.isEmbedded }

    /// The properties that are stored, in the order of the schema.
    public var properties: [Property] {
        type.properties.filter { $0.isColumn || $0.isCollection }.map { Property($0, type) }
    }

    /// The properties that are computed from links to the object.
    public var computedProperties: [Property] {
        type.properties.filter { !$0.isColumn && !$0.isCollection }.map { Property($0, type) }
    }

    /// The primary key; nil without one.
    public var primaryKeyProperty: Property? { type.primaryKey.map { Property(type.properties[$0], type) } }

    /// The property with a name; nil when there is none.
    public subscript(name: String) -> Property? { type[name].map { Property($0, type) } }

    /// The name and the properties with their types.
    public var description: String {
        "\(className) { \(type.properties.map { "\($0.name): \($0.typeDescription)" }.joined(separator: "; ")) }"
    }
}

/// One property of an object type.
public struct Property: Sendable, Equatable, CustomStringConvertible {
    private let property: PropertySchema
    /// True for the primary key of its type.
    public let isPrimaryKey: Bool

    init(_ property: PropertySchema, _ type: ObjectTypeSchema) {
        self.property = property
        isPrimaryKey = type.primaryKey == property.index
    }

    /// The name.
    public var name: String { property.name }

    /// What a value, or an element of a collection, is.
    public var type: PropertyType {
        if case .linkingObjects = property.kind { return .linkingObjects }
        return PropertyType(property.element)
    }

    /// The type as the schema language writes it: `String?`, `List<Dog>`, `LinkingObjects<Dog.owner>`.
    public var typeName: String { property.typeDescription }

    /// True where the value, or an element, may be absent.
    public var isOptional: Bool { property.isOptional }

    /// True where the schema asks for an index, and for the primary key.
    public var isIndexed: Bool { property.isIndexed || isPrimaryKey }

    /// True for lists.
    public var isList: Bool { property.kind == .list }

    /// True for lists, as other stores call them.
    public var isArray: Bool { isList }

    /// True for sets.
    public var isSet: Bool { property.kind == .set }

    /// True for maps.
    public var isMap: Bool { property.kind == .map }

    /// The object type that the property leads to; nil for values.
    public var objectClassName: String? {
        if case .linkingObjects(let type, _) = property.kind { return type }
        return property.element.target
    }

    /// The property whose links are followed back; nil for stored properties.
    public var linkOriginPropertyName: String? {
        if case .linkingObjects(_, let name) = property.kind { return name }
        return nil
    }

    /// True for properties that are searched by words.
    public var isFullText: Bool { property.isFullText }

    /// The name and the type.
    public var description: String { "\(name): \(typeName)" }
}

/// What a property, or an element of its collection, holds.
public enum PropertyType: String, Sendable, Hashable, CaseIterable {
    case bool, int, float, double, string, data, date, uuid, objectId, decimal128
    /// Values of any kind.
    case any
    /// A link to an object, or an embedded object.
    case object
    /// The objects that link to the object.
    case linkingObjects

    /// Integers of all widths are one type, and enums that of their raw values.
    init(_ element: ElementType) {
        switch element {
        case .intEnum: self = .int
        case .stringEnum: self = .string
        case .link, .embedded: self = .object
        case .scalar(let scalar):
            switch scalar {
            case .bool: self = .bool
            case .int, .int8, .int16, .int32, .int64: self = .int
            case .float: self = .float
            case .double: self = .double
            case .string: self = .string
            case .data: self = .data
            case .date: self = .date
            case .uuid: self = .uuid
            case .objectId: self = .objectId
            case .decimal128: self = .decimal128
            case .any: self = .any
            }
        }
    }
}

extension ObjectBase {
    /// The object's type as the schema declares it.
    public final var objectSchema: ObjectSchema { ObjectSchema(type: _model.schema) }
}
