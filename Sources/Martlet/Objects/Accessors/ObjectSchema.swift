import MartletEngine

/// The object types of a Realm.
public struct Schema: Sendable, Equatable {
    /// All types, sorted by name.
    public let objectSchema: [ObjectSchema]

    /// The object type with the given name; nil if there is none.
    public subscript(className: String) -> ObjectSchema? { objectSchema.first { $0.className == className } }
}

/// The name and the properties of one object type, as declared in the schema.
public struct ObjectSchema: Sendable, Equatable, CustomStringConvertible {
    let type: ObjectTypeSchema

    /// The name of the type.
    public var className: String { type.name }

    /// True for embedded types, whose objects belong to exactly one other object.
    public var isEmbedded: Bool { type.isEmbedded }

    /// The stored properties in the order of the schema.
    public var properties: [Property] {
        type.properties.filter { $0.isColumn || $0.isCollection }.map { Property($0, type) }
    }

    /// The properties of kind linking objects, which are computed from links to the object.
    public var computedProperties: [Property] {
        type.properties.filter { !$0.isColumn && !$0.isCollection }.map { Property($0, type) }
    }

    /// The primary key; nil if the type has none.
    public var primaryKeyProperty: Property? { type.primaryKey.map { Property(type.properties[$0], type) } }

    /// The property with the given name; nil if there is none.
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

    /// The name of the property.
    public var name: String { property.name }

    /// The type of the value or, for a collection, of its elements.
    public var type: PropertyType {
        if case .linkingObjects = property.kind { return .linkingObjects }
        return PropertyType(property.element)
    }

    /// The type in the syntax of the schema language: `String?`, `List<Dog>`, `LinkingObjects<Dog.owner>`.
    public var typeName: String { property.typeDescription }

    /// True if the value or, for a collection, an element can be nil.
    public var isOptional: Bool { property.isOptional }

    /// True for the primary key and for properties that the schema declares as indexed.
    public var isIndexed: Bool { property.isIndexed || isPrimaryKey }

    /// True for lists.
    public var isList: Bool { property.kind == .list }

    /// True for lists. This property equals `isList`. It exists because other databases use the name `isArray`.
    public var isArray: Bool { isList }

    /// True for sets.
    public var isSet: Bool { property.kind == .set }

    /// True for maps.
    public var isMap: Bool { property.kind == .map }

    /// The name of the linked or embedded object type; nil for values.
    public var objectClassName: String? {
        if case .linkingObjects(let type, _) = property.kind { return type }
        return property.element.target
    }

    /// For linking objects, the name of the property that contains the links; nil for stored properties.
    public var linkOriginPropertyName: String? {
        if case .linkingObjects(_, let name) = property.kind { return name }
        return nil
    }

    /// True for properties with a full-text index.
    public var isFullText: Bool { property.isFullText }

    /// The name and the type in the syntax of the schema language.
    public var description: String { "\(name): \(typeName)" }
}

/// The type of a property's value or, for a collection, of its elements.
public enum PropertyType: String, Sendable, Hashable, CaseIterable {
    case bool, int, float, double, string, data, date, uuid, objectId, decimal128
    /// A value of the type `AnyRealmValue`.
    case any
    /// A link to an object, or an embedded object.
    case object
    /// The objects that link to this object.
    case linkingObjects

    /// Converts the type of an element. Integers of all widths become `int`. Enums become the type of their raw values.
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
    /// The type of the object as declared in the schema.
    public final var objectSchema: ObjectSchema { ObjectSchema(type: _model.schema) }
}
