import MartletFrontend

/// The JSON Schema (draft 2020-12) of the schema language, which editors use for completion and checks.
///
/// The JSON Schema is generated from the tables of the parser. It checks only the structure of one file. `martlet lint`
/// also checks, for example, whether types exist and defaults fit their types.
public enum EditorSchema {
    /// The JSON text, indented by two spaces, with a trailing line feed.
    public static var text: String { schema.text }

    private static var schema: JSONValue {
        let head: [(String, JSONValue?)] = [
            ("$schema", "https://json-schema.org/draft/2020-12/schema"),
            ("title", "Martlet schema"),
            ("description", "A file of a Martlet schema: model classes, in YAML."),
        ]
        // A file without content is valid, because the author may still be typing.
        let sections = members(of: .file, types: ["object", "null"])
        return .members(head + sections + [("$defs", .object(definitions))])
    }

    private static var definitions: [(name: String, value: JSONValue)] {
        let scalar: JSONValue = ["type": ["string", "number", "boolean", "null"]]
        return [
            ("enum", ["anyOf": [reference("caseList"), mapping(.enumeration)]]),
            ("object", mapping(.object)),
            ("embedded", mapping(.object, without: MappingKey.ofObjectsOnly)),
            ("projection", mapping(.projection)),
            ("property", ["anyOf": [reference("type"), mapping(.property)]]),
            ("type", type),
            ("name", pattern(Vocabulary.propertyNamePattern)),
            ("keyPath", pattern(Vocabulary.keyPathPattern)),
            // YAML reads some words as booleans or null. In a list of cases, these words are names.
            (
                "caseName",
                [
                    "type": ["string", "boolean", "null"], "pattern": .string(Vocabulary.namePattern),
                    "not": choices(Vocabulary.NameKind.enumCase.reserved),
                ]
            ),
            ("caseList", ["type": "array", "items": reference("caseName"), "minItems": 1, "uniqueItems": .bool(true)]),
            ("names", ["anyOf": [reference("name"), list(of: "name")]]),
            (
                "uniqueNames", ["type": "array", "items": reference("name"), "uniqueItems": .bool(true)]
            ),
            ("keyPaths", ["anyOf": [reference("keyPath"), list(of: "keyPath", isEmptyAllowed: false)]]),
            ("text", ["type": ["string", "number", "boolean"]]),
            ("scalar", scalar),
        ]
    }

    // MARK: Mappings

    private static func mapping(_ kind: MappingKind, without excluded: [String] = []) -> JSONValue {
        .members(members(of: kind, types: ["object"], without: excluded))
    }

    private static func members(
        of kind: MappingKind, types: [JSONValue], without excluded: [String] = []
    ) -> [(String, JSONValue?)] {
        let entries = kind.entries.filter { !excluded.contains($0.name) }
        let required = entries.filter(\.isRequired).map { JSONValue.string($0.name) }
        return [
            ("type", types.count == 1 ? types[0] : .array(types)),
            ("additionalProperties", .bool(false)),
            ("required", required.isEmpty ? nil : .array(required)),
            ("properties", .object(entries.map { ($0.name, described($0)) })),
        ]
    }

    private static func described(_ key: MappingKey) -> JSONValue {
        guard case .object(var members) = value(key.content) else { return .bool(true) }
        // The value of an optional key can be missing. YAML reads a missing value as null.
        if !key.isRequired, needsNullAlternative(key.content) {
            members = [("anyOf", [.object(members), ["type": "null"]])]
        }
        return .object([("description", .string(key.documentation))] + members)
    }

    /// Whether null must be added to the allowed values of an optional key. Other kinds of content already allow null,
    /// or must never be null.
    private static func needsNullAlternative(_ content: MappingKey.Content) -> Bool {
        switch content {
        case .name, .names, .nameLists, .text, .choices, .properties, .keyPaths: true
        default: false
        }
    }

    private static func value(_ content: MappingKey.Content) -> JSONValue {
        switch content {
        case .name: reference("name")
        case .names: reference("names")
        case .nameLists: ["type": "array", "items": reference("uniqueNames")]
        case .caseName: reference("caseName")
        case .cases:
            ["anyOf": [reference("caseList"), mapping(keys: .enumCase, values: "scalar", isEmptyAllowed: false)]]
        case .text: reference("text")
        case .textOrFlag, .literal: reference("scalar")
        case .flag: ["type": "boolean"]
        // YAML reads the conditions 'true' and 'false' as booleans.
        case .rule: ["type": ["string", "boolean"], "pattern": "\\S"]
        case .choices(let choices): self.choices(choices)
        case .type: reference("type")
        case .enums: mapping(keys: .type, values: "enum", types: ["object", "null"])
        case .objects: mapping(keys: .type, values: "object", types: ["object", "null"])
        case .embedded: mapping(keys: .type, values: "embedded", types: ["object", "null"])
        case .projections: mapping(keys: .type, values: "projection", types: ["object", "null"])
        case .properties: mapping(keys: .property, values: "property", isEmptyAllowed: false)
        case .keyPaths: mapping(keys: .keyPath, values: "keyPaths")
        case .labels: mapping(keys: .label, values: "keyPath", isEmptyAllowed: false)
        case .mapping: .object([])
        }
    }

    // MARK: Parts

    /// A mapping whose keys are valid names in generated code.
    private static func mapping(
        keys kind: Vocabulary.NameKind, values definition: String, types: [JSONValue] = ["object"],
        isEmptyAllowed: Bool = true
    ) -> JSONValue {
        .members([
            ("type", types.count == 1 ? types[0] : .array(types)),
            ("minProperties", isEmptyAllowed ? nil : 1),
            (
                "propertyNames",
                [
                    "pattern": .string(kind.pattern),
                    "not": choices(kind.reserved),
                ]
            ),
            ("additionalProperties", reference(definition)),
        ])
    }

    /// A type expression. Editors offer the words for completion, and the pattern validates the value.
    private static var type: JSONValue {
        [
            "anyOf": [
                choices(Vocabulary.typeWords), pattern(Vocabulary.typePattern),
            ]
        ]
    }

    private static func choices(_ choices: [String]) -> JSONValue {
        ["enum": .array(choices.map { .string($0) })]
    }

    private static func pattern(_ pattern: String) -> JSONValue {
        ["type": "string", "pattern": .string(pattern)]
    }

    private static func list(of definition: String, isEmptyAllowed: Bool = true) -> JSONValue {
        .members([
            ("type", "array"), ("items", reference(definition)), ("minItems", isEmptyAllowed ? nil : 1),
        ])
    }

    private static func reference(_ definition: String) -> JSONValue {
        ["$ref": .string("#/$defs/\(definition)")]
    }
}
