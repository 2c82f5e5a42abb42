/// The type of a property in the schema. It contains the Swift names of enums and object types.
struct PropertyTypeDraft: Hashable {
    enum Shape: Hashable {
        case single
        case list
        case set
        case map
        /// `property` is the Swift name of the link property.
        case linkingObjects(property: String)
    }

    enum Value: Hashable {
        /// A built-in type, such as `Int` or `String`.
        case scalar(String)
        /// An enum or object type, by its qualified Swift name. For a nested type, an example is `Dog.Size`.
        case type(String)
    }

    var shape: Shape
    var value: Value
    var isOptional: Bool

    init(_ shape: Shape, _ value: Value, isOptional: Bool = false) {
        self.shape = shape
        self.value = value
        self.isOptional = isOptional
    }

    var scalar: String? { if case .scalar(let name) = value { name } else { nil } }
    var typeKey: String? { if case .type(let key) = value { key } else { nil } }
}

extension PropertyTypeDraft {
    /// The names of the built-in types. Realm and the schema use equal names.
    static let scalars: Set<String> = [
        "Bool", "Int", "Int8", "Int16", "Int32", "Int64", "Float", "Double", "String", "Data", "Date", "UUID",
        "ObjectId", "Decimal128", "AnyRealmValue",
    ]

    /// Maps other names of built-in types to the names in `scalars`.
    static let synonyms: [String: String] = [
        "TimeInterval": "Double", "NSString": "String", "NSDate": "Date", "NSData": "Data", "NSUUID": "UUID",
        "RLMObjectId": "ObjectId", "RLMDecimal128": "Decimal128",
    ]

    /// Maps each type that a schema does not support to the most similar built-in type.
    static let nearest: [String: String] = [
        "URL": "String", "CGFloat": "Double", "Decimal": "Decimal128", "NSDecimalNumber": "Decimal128", "UInt": "Int",
        "UInt8": "Int16", "UInt16": "Int32", "UInt32": "Int64", "UInt64": "Int64", "Character": "String",
        "NSNumber": "Double", "Locale": "String", "Measurement": "Double",
    ]
}
