import MartletSchema

/// The keys of one level of a schema, and what people write in their place.
struct Level {
    let name: String
    let keys: [String]
    /// Other spellings, lowercased without `_` and `-`, and the right key.
    let foreign: [String: String]
    /// Keys of other languages that have no equal here, and what to do instead.
    let advice: [String: String]

    static let file = Level(
        name: "the top level", keys: ["enums", "objects", "embedded", "projections"],
        foreign: [
            "enum": "enums", "enumerations": "enums", "object": "objects", "classes": "objects", "class": "objects",
            "models": "objects", "entities": "objects", "types": "objects", "embeddedobjects": "embedded",
            "projection": "projections", "views": "projections",
        ], advice: [:])

    static let object = Level(
        name: "an object",
        keys: [
            "primaryKey", "index", "unique", "properties", "ignored", "keypaths", "renamedFrom", "deprecated", "doc",
        ],
        foreign: [
            "primarykey": "primaryKey", "pk": "primaryKey", "key": "primaryKey", "indexes": "index",
            "indexed": "index", "indices": "index", "uniques": "unique", "uniqueness": "unique",
            "fields": "properties", "columns": "properties", "attributes": "properties", "property": "properties",
            "ignore": "ignored", "transient": "ignored", "ignoredproperties": "ignored", "keypath": "keypaths",
            "keypaths": "keypaths", "renamedfrom": "renamedFrom", "deprecation": "deprecated",
            "documentation": "doc", "description": "doc", "comment": "doc", "docs": "doc",
        ],
        advice: ["embedded": "declare the type under 'embedded'", "type": "objects have no 'type'"])

    static let property = Level(
        name: "a property",
        keys: ["type", "default", "renamedFrom", "deprecated", "fullText", "onDelete", "doc"],
        foreign: [
            "defaultvalue": "default", "value": "default", "renamedfrom": "renamedFrom", "deprecation": "deprecated",
            "fulltext": "fullText", "ondelete": "onDelete", "documentation": "doc", "description": "doc",
            "comment": "doc", "docs": "doc",
        ],
        advice: [
            "nullable": "write a '?' behind the type", "optional": "write a '?' behind the type",
            "required": "a type without '?' is required", "primarykey": "write 'primaryKey:' at the object",
            "primary": "write 'primaryKey:' at the object", "index": "list the property under 'index:' of the object",
            "indexed": "list the property under 'index:' of the object",
            "unique": "list the property under 'unique:' of the object",
            "items": "write 'List<…>' as the type", "ignored": "declare the property under 'ignored:'",
        ])

    static let enumeration = Level(
        name: "an enum", keys: ["raw", "cases", "unknown", "renamedFrom", "deprecated", "doc"],
        foreign: [
            "rawtype": "raw", "rawvalue": "raw", "type": "raw", "values": "cases", "case": "cases",
            "default": "unknown", "fallback": "unknown", "renamedfrom": "renamedFrom", "deprecation": "deprecated",
            "documentation": "doc", "description": "doc", "comment": "doc", "docs": "doc",
        ], advice: [:])

    static let projection = Level(
        name: "a projection", keys: ["of", "properties", "deprecated", "doc"],
        foreign: [
            "root": "of", "object": "of", "from": "of", "type": "of", "labels": "properties", "fields": "properties",
            "columns": "properties", "property": "properties", "deprecation": "deprecated", "documentation": "doc",
            "description": "doc", "comment": "doc", "docs": "doc",
        ], advice: [:])

    /// A key without case and separators, as the tables hold it.
    static func folded(_ key: String) -> String {
        String(decoding: key.utf8.filter { $0.isLetter || $0.isDigit }.map(\.lowercased), as: UTF8.self)
    }
}
