/// The scalar types of the schema language. The raw values are the names of the types in a schema.
public enum ScalarKind: String, CaseIterable, Sendable {
    case bool = "Bool"
    case int = "Int"
    case int8 = "Int8"
    case int16 = "Int16"
    case int32 = "Int32"
    case int64 = "Int64"
    case float = "Float"
    case double = "Double"
    case string = "String"
    case data = "Data"
    case date = "Date"
    case uuid = "UUID"
    case objectId = "ObjectId"
    case decimal128 = "Decimal128"
    case anyValue = "AnyRealmValue"

    /// The number of bits of an integer type; nil for other types.
    public var integerBits: Int? {
        switch self {
        case .int, .int64: 64
        case .int32: 32
        case .int16: 16
        case .int8: 8
        default: nil
        }
    }
}

/// The type of the raw values that an enum stores.
public enum EnumRawKind: String, CaseIterable, Sendable {
    case int = "Int"
    case string = "String"
}

/// The type of a single value: the value of a property, or an element of a collection.
public enum ValueTypeModel: Hashable, Sendable {
    case scalar(ScalarKind)
    case enumeration(String, raw: EnumRawKind)
    /// A link to an object. The associated value is the name of the object type.
    case link(String)
    /// An embedded object. The associated value is the name of the embedded type.
    case embedded(String)

    /// The name in schema syntax.
    public var name: String {
        switch self {
        case .scalar(let kind): kind.rawValue
        case .enumeration(let name, _), .link(let name), .embedded(let name): name
        }
    }

    /// The object type of a link or an embedded object; nil for other types.
    public var objectName: String? {
        switch self {
        case .link(let name), .embedded(let name): name
        case .scalar, .enumeration: nil
        }
    }
}

/// The resolved type of a property.
public struct PropertyTypeModel: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case single
        case list
        case set
        case map
        /// `LinkingObjects<type.property>`. `PropertyTypeModel.value` is then a link to `type`.
        case linkingObjects(type: String, property: String)
    }

    public let kind: Kind
    public let value: ValueTypeModel
    /// Whether `value` is optional. For a collection, this refers to its elements, because a collection is never
    /// optional.
    public let isOptional: Bool

    public init(kind: Kind, value: ValueTypeModel, isOptional: Bool) {
        self.kind = kind
        self.value = value
        self.isOptional = isOptional
    }

    public var isSingle: Bool { kind == .single }

    public var isLinkingObjects: Bool {
        if case .linkingObjects = kind { true } else { false }
    }

    /// True for lists, sets and maps.
    public var isStoredCollection: Bool { !isSingle && !isLinkingObjects }

    /// The type in schema syntax: `List<Int?>`, `LinkingObjects<Dog.owner>`.
    public var text: String {
        let element = value.name + (isOptional ? "?" : "")
        return switch kind {
        case .single: element
        case .list: "List<\(element)>"
        case .set: "Set<\(element)>"
        case .map: "Map<\(element)>"
        case .linkingObjects(let type, let property): "LinkingObjects<\(type).\(property)>"
        }
    }
}
