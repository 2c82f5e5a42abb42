/// The type of a property of the schema. Enums and object types are referred to by their Swift names.
struct PropertyTypeDraft: Hashable {
    enum Shape: Hashable {
        case single
        case list
        case set
        case map
        /// `property` is the Swift name of the link.
        case linkingObjects(property: String)
    }

    enum Value: Hashable {
        /// `Int`, `String` …
        case scalar(String)
        /// The qualified Swift name, such as `Dog.Size` for a nested type.
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
    /// The built-in types of a schema, under the names that Realm uses.
    static let scalars: Set<String> = [
        "Bool", "Int", "Int8", "Int16", "Int32", "Int64", "Float", "Double", "String", "Data", "Date", "UUID",
        "ObjectId", "Decimal128", "AnyRealmValue",
    ]

    /// Other names of the types in `scalars`.
    static let synonyms: [String: String] = [
        "TimeInterval": "Double", "NSString": "String", "NSDate": "Date", "NSData": "Data", "NSUUID": "UUID",
        "RLMObjectId": "ObjectId", "RLMDecimal128": "Decimal128",
    ]

    /// Types without a counterpart in a schema, and the most similar built-in type.
    static let nearest: [String: String] = [
        "URL": "String", "CGFloat": "Double", "Decimal": "Decimal128", "NSDecimalNumber": "Decimal128", "UInt": "Int",
        "UInt8": "Int16", "UInt16": "Int32", "UInt32": "Int64", "UInt64": "Int64", "Character": "String",
        "NSNumber": "Double", "Locale": "String", "Measurement": "Double",
    ]
}
