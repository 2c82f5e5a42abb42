import MartletSchema

/// Names of scalar types in other languages, and other words that are copied together with a type.
enum ForeignTypes {
    /// The schema type for a name from another language; nil for unknown names.
    static func scalar(for name: String) -> String? {
        table[name.asciiLowercased]
    }

    /// Whether a name from another language corresponds to exactly one schema type. In other cases the author has to
    /// choose. For example, `number` may be an integer, `url` may be a declared type, and no schema type can store all
    /// values of `uint64`.
    static func isCertain(_ name: String) -> Bool { !guesses.contains(name.asciiLowercased) }

    private static let guesses: Set<String> = [
        "number", "nsnumber", "numeric", "real", "money", "byte", "char", "uint", "uint8", "uint16", "uint32", "uint64",
        "time", "timestamp", "url", "uri", "nsurl",
    ]

    /// The schema type for a name, which may end with `?`. A capitalized name is returned unchanged, because it may be
    /// a declared type. The declared types are not known yet when this function is called. An ambiguous name is also
    /// returned unchanged, because it is reported separately.
    static func rightSpelling(of text: String) -> String {
        let isOptional = text.hasSuffix("?")
        let name = isOptional ? String(text.dropLast()) : text
        guard name.utf8.first?.isUppercase == false, isCertain(name), let right = scalar(for: name) else { return text }
        return isOptional ? right + "?" : right
    }

    /// Swift attributes that are often copied together with the type.
    static let attributes: Set<String> = ["@Persisted", "@objc"]
    /// Keywords before a name in Swift and other languages.
    static let introducers: Set<String> = ["let", "var", "val", "dynamic"]
    /// Module names that often precede a type.
    static let modules: Set<String> = ["RealmSwift", "Realm", "Swift", "Foundation", "Martlet"]
    /// Generic types that wrap a single value, in lower case. The value is true if the wrapped value is optional.
    static let wrappers = ["persisted": false, "realmoptional": true, "realmproperty": false]

    private static let table: [String: String] = {
        var table = [
            "str": "String", "text": "String", "varchar": "String", "char": "String", "character": "String",
            "nsstring": "String", "substring": "String", "integer": "Int", "long": "Int64", "bigint": "Int64",
            "short": "Int16", "byte": "Int8", "uint": "Int", "uint8": "Int16", "uint16": "Int32", "uint32": "Int64",
            "uint64": "Int64", "nsinteger": "Int", "boolean": "Bool", "real": "Double", "number": "Double",
            "float32": "Float", "float64": "Double", "cgfloat": "Double", "nsnumber": "Double",
            "decimal": "Decimal128", "nsdecimalnumber": "Decimal128", "numeric": "Decimal128", "money": "Decimal128",
            "datetime": "Date", "timestamp": "Date", "time": "Date", "nsdate": "Date", "instant": "Date",
            "bytes": "Data", "blob": "Data", "binary": "Data", "nsdata": "Data", "guid": "UUID", "nsuuid": "UUID",
            "bigdecimal": "Decimal128", "url": "String", "uri": "String", "nsurl": "String",
            "objid": "ObjectId", "oid": "ObjectId", "any": "AnyRealmValue", "mixed": "AnyRealmValue",
            "anyvalue": "AnyRealmValue", "rlmvalue": "AnyRealmValue", "realmany": "AnyRealmValue",
        ]
        for kind in ScalarKind.allCases { table[kind.rawValue.asciiLowercased] = kind.rawValue }
        return table
    }()
}
