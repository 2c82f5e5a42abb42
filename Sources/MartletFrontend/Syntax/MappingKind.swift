import MartletSchema

/// One kind of mapping in a schema, such as an object or a property: its keys, and common misspellings of these keys.
/// The parser, its suggestions and the JSON Schema use these tables.
public struct MappingKind: Sendable {
    /// The name of the kind in messages, with its article.
    public let name: String
    public let entries: [MappingKey]
    package let keys: [String]
    /// Maps misspelled keys and synonyms to the correct keys. The misspelled keys and synonyms are in lower case,
    /// without `_` and `-`.
    let synonyms: [String: String]
    /// Maps keys that are not valid in this mapping to advice that says what to write instead.
    let advice: [String: String]

    init(name: String, entries: [MappingKey], synonyms: [String: String], advice: [String: String]) {
        self.name = name
        self.entries = entries
        keys = entries.map(\.name)
        self.synonyms = synonyms
        self.advice = advice
    }

    public static let file = MappingKind(
        name: "the top level", entries: MappingKey.file,
        synonyms: [
            "enum": "enums", "enumerations": "enums", "object": "objects", "classes": "objects", "class": "objects",
            "models": "objects", "entities": "objects", "types": "objects", "embeddedobjects": "embedded",
            "projection": "projections", "views": "projections",
        ], advice: [:])

    public static let object = MappingKind(
        name: "an object", entries: MappingKey.object,
        synonyms: [
            "primarykey": "primaryKey", "pk": "primaryKey", "key": "primaryKey", "indexes": "index",
            "indexed": "index", "indices": "index", "uniques": "unique", "uniqueness": "unique",
            "fields": "properties", "columns": "properties", "attributes": "properties", "property": "properties",
            "ignore": "ignored", "transient": "ignored", "ignoredproperties": "ignored", "keypath": "keypaths",
            "keypaths": "keypaths", "renamedfrom": "renamedFrom", "deprecation": "deprecated",
            "documentation": "doc", "description": "doc", "comment": "doc", "docs": "doc", "synced": "sync",
            "synchronized": "sync", "select": "read", "update": "write", "create": "insert",
        ],
        advice: ["embedded": "declare the type under 'embedded'", "type": "objects have no 'type'"])

    public static let property = MappingKind(
        name: "a property", entries: MappingKey.property,
        synonyms: [
            "defaultvalue": "default", "value": "default", "renamedfrom": "renamedFrom", "deprecation": "deprecated",
            "fulltext": "fullText", "ondelete": "onDelete", "deleterule": "deleteRule", "documentation": "doc",
            "description": "doc",
            "comment": "doc", "docs": "doc",
        ],
        advice: [
            "nullable": "write a '?' after the type", "optional": "write a '?' after the type",
            "required": "a type without '?' is required", "primarykey": "write 'primaryKey:' at the object",
            "primary": "write 'primaryKey:' at the object", "index": "list the property under 'index:' of the object",
            "indexed": "list the property under 'index:' of the object",
            "unique": "list the property under 'unique:' of the object",
            "items": "write 'List<…>' as the type", "ignored": "declare the property under 'ignored:'",
            "local": "write 'sync: none'", "counter": "write 'merge: add'",
            "read": "write 'read:' at the object, or 'sync: none' for a property that is not sent",
        ])

    public static let enumeration = MappingKind(
        name: "an enum", entries: MappingKey.enumeration,
        synonyms: [
            "rawtype": "raw", "rawvalue": "raw", "type": "raw", "values": "cases", "case": "cases",
            "default": "unknown", "fallback": "unknown", "renamedfrom": "renamedFrom", "deprecation": "deprecated",
            "documentation": "doc", "description": "doc", "comment": "doc", "docs": "doc",
        ], advice: [:])

    public static let projection = MappingKind(
        name: "a projection", entries: MappingKey.projection,
        synonyms: [
            "root": "of", "object": "of", "from": "of", "type": "of", "labels": "properties", "fields": "properties",
            "columns": "properties", "property": "properties", "deprecation": "deprecated", "documentation": "doc",
            "description": "doc", "comment": "doc", "docs": "doc",
        ], advice: [:])

    /// Whether two words differ only in case, `_` and `-`, such as `primarykey` and `primary_key`.
    static func isSpellingVariant(_ key: String, of corrected: String) -> Bool {
        key.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") || $0 == Byte.dash }
            && folded(key) == folded(corrected)
    }

    /// A key in lower case and without separators, as the tables above contain it.
    static func folded(_ key: String) -> String {
        String(decoding: key.utf8.filter { $0.isLetter || $0.isDigit }.map(\.lowercased), as: UTF8.self)
    }
}
