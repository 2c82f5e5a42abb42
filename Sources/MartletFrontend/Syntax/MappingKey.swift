import MartletSchema

/// A key that is allowed in one kind of mapping (`MappingKind`) of a schema or of `martlet.yaml`, and the kind of its
/// value.
public struct MappingKey: Sendable {
    /// The shape of a value.
    public enum Content: Sendable {
        case name
        /// A list of names, or one name.
        case names
        /// A list of lists of names.
        case nameLists
        case caseName
        /// The cases of an enum: a list of names, or a mapping from names to stored values.
        case cases
        case text
        /// A text or a boolean.
        case textOrFlag
        case flag
        case choices([String])
        /// A type expression, with or without a default.
        case type
        case literal
        /// A condition in the notation of query texts; `true` and `false` are conditions too.
        case rule
        case enums
        case objects
        case embedded
        case projections
        case properties
        /// Names with key paths, or with lists of key paths.
        case keyPaths
        /// Labels, each with its key path.
        case labels
        /// A nested mapping of the configuration file.
        case mapping
    }

    public let name: String
    public let content: Content
    /// A one-sentence description, which editors show during completion.
    public let documentation: String
    public let isRequired: Bool

    init(_ name: String, _ content: Content, _ documentation: String, isRequired: Bool = false) {
        self.name = name
        self.content = content
        self.documentation = documentation
        self.isRequired = isRequired
    }

    static let file = [
        MappingKey("enums", .enums, "Enums, by their names."),
        MappingKey(
            "objects", .objects,
            "Objects, by their names. Each object has an identity, and other objects can link to it."),
        MappingKey(
            "embedded", .embedded,
            "Embedded objects, by their names: each has one owner and is deleted with its owner."),
        MappingKey(
            "projections", .projections,
            "Projections, by their names: each shows selected values of an object, for example for one screen."),
    ]

    static let object =
        [
            MappingKey("primaryKey", .name, "The property that identifies an object among all objects of its type."),
            MappingKey("index", .names, "Properties by which queries often search or sort."),
            MappingKey(
                "unique", .nameLists,
                "Lists of properties. No two objects have equal values for all properties of a list."),
            MappingKey("properties", .properties, "What is stored: names and types.", isRequired: true),
            MappingKey("ignored", .properties, "Plain Swift properties that are not stored."),
            MappingKey(
                "keypaths", .keyPaths, "Names for key paths, or for lists of key paths, checked against the schema."),
            MappingKey(
                "sync", .choices(SyncMode.allCases.map(\.rawValue)),
                "Whether objects are synchronized: 'none', 'both' (sent and received) or 'upload' (sent only)."),
            MappingKey("read", .rule, "Which objects a user receives: a condition, such as 'owner.id == $user.sub'."),
            MappingKey(
                "write", .rule,
                "Which objects a user may create, change and delete. Without this key, the rule 'read' applies."),
            MappingKey("insert", .rule, "Which objects a user may create. Without this key, the rule 'write' applies."),
            MappingKey("delete", .rule, "Which objects a user may delete. Without this key, the rule 'write' applies."),
        ] + [renamedFrom("type"), deprecated, doc]

    /// The keys that embedded objects do not support.
    public static let ofObjectsOnly = ["primaryKey", "index", "unique", "sync"] + RuleKind.allCases.map(\.rawValue)

    static let property = [
        MappingKey("type", .type, "The type, with or without a default after a '='.", isRequired: true),
        MappingKey("default", .literal, "The initial value in a new object."),
        renamedFrom("property"), deprecated,
        MappingKey("fullText", .flag, "Whether the words of the text can be searched."),
        MappingKey(
            "onDelete", .choices(DeletionRule.allCases.map(\.rawValue)),
            "What happens to this object when a target of the link or collection is deleted."),
        MappingKey(
            "deleteRule", .choices(DeletionRule.allCases.map(\.rawValue)),
            "What happens to the targets of the link or collection when this object is deleted."),
        MappingKey(
            "sync", .choices([SyncMode.none.rawValue]),
            "'none': the values are stored only in the local file and are not synchronized."),
        MappingKey(
            "merge", .choices(MergeMode.allCases.map(\.rawValue)),
            "Makes the property a counter: the differences of concurrent changes are added."),
        MappingKey(
            "write", .rule,
            "Which changes of the property are allowed: a condition on the object and the user, in addition to the "
                + "rules of the type."),
        doc,
    ]

    static let enumeration = [
        MappingKey("raw", .choices(EnumRawKind.allCases.map(\.rawValue)), "What is stored: text, or whole numbers."),
        MappingKey("cases", .cases, "The names of the cases, or each name with its stored value.", isRequired: true),
        MappingKey("unknown", .caseName, "The case for a stored value that this build does not know."),
        renamedFrom("enum"), deprecated, doc,
    ]

    static let projection = [
        MappingKey("of", .name, "The object that is projected.", isRequired: true),
        MappingKey("properties", .labels, "Labels, and the key paths that they stand for.", isRequired: true),
        deprecated, doc,
    ]

    private static func renamedFrom(_ thing: String) -> MappingKey {
        MappingKey("renamedFrom", .name, "What the \(thing) is called in existing files.")
    }

    private static let deprecated = MappingKey(
        "deprecated", .textOrFlag, "What to use instead. Swift warns where the deprecated declaration is used.")
    private static let doc = MappingKey("doc", .text, "Documentation, instead of '##' lines above.")
}
