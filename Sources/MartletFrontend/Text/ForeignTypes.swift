import MartletSchema

/// What other languages call the scalar types.
enum ForeignTypes {
    /// The right name for a foreign spelling; nil for a name that is just wrong.
    static func scalar(for name: String) -> String? {
        table[name.asciiLowercased]
    }

    /// Whether a foreign name can mean one type alone. `number` may be a whole one, `url` may be a type of its own, and
    /// `uint64` holds numbers that no type here holds: what they become is for a person to choose.
    static func isCertain(_ name: String) -> Bool { !guesses.contains(name.asciiLowercased) }

    private static let guesses: Set<String> = [
        "number", "nsnumber", "numeric", "real", "money", "byte", "char", "uint", "uint8", "uint16", "uint32", "uint64",
        "time", "timestamp", "url", "uri", "nsurl",
    ]

    /// The same with a `?` behind it, before the declared types are known: a name in upper case may be one of those, and a
    /// guess is left to the finding of its own.
    static func rightSpelling(of text: String) -> String {
        let isOptional = text.hasSuffix("?")
        let name = isOptional ? String(text.dropLast()) : text
        guard name.utf8.first?.isUppercase == false, isCertain(name), let right = scalar(for: name) else { return text }
        return isOptional ? right + "?" : right
    }

    /// Property wrappers of Swift, which people copy together with the type.
    static let attributes: Set<String> = ["@Persisted", "@objc"]
    /// What stands before a name in Swift and other languages.
    static let introducers: Set<String> = ["let", "var", "val", "dynamic"]
    /// Names of modules that people write before a type.
    static let modules: Set<String> = ["RealmSwift", "Realm", "Swift", "Foundation", "Martlet"]
    /// Generic types around a single value; true where the value may be missing.
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
