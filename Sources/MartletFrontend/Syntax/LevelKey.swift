import MartletSchema

/// One key of a level, and the kind of its value.
public struct LevelKey: Sendable {
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
        /// Names and key paths, or lists of them.
        case keyPaths
        /// Labels and key paths.
        case labels
        /// A nested level of the configuration file.
        case level
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
        LevelKey("enums", .enums, "Enums, by their names."),
        LevelKey(
            "objects", .objects, "Objects, by their names. Each has an identity, and other objects can link to it."),
        LevelKey("embedded", .embedded, "Embedded objects, by their names: each has one owner and is deleted with it."),
        LevelKey(
            "projections", .projections,
            "Projections, by their names: some values of an object, as a screen shows them."),
    ]

    static let object =
        [
            LevelKey("primaryKey", .name, "The property that identifies an object among all objects of its type."),
            LevelKey("index", .names, "Properties that are searched or sorted by often."),
            LevelKey("unique", .nameLists, "Lists of properties; together the values of each list are unique."),
            LevelKey("properties", .properties, "What is stored: names and types.", isRequired: true),
            LevelKey("ignored", .properties, "Plain Swift properties that are not stored."),
            LevelKey("keypaths", .keyPaths, "Names for key paths, or for lists of them, checked against the schema."),
            LevelKey(
                "sync", .choices(SyncMode.allCases.map(\.rawValue)),
                "Whether objects are synchronized: not, in both directions, or only sent."),
            LevelKey("read", .rule, "Which objects a user receives: a condition, such as 'owner.id == $user.sub'."),
            LevelKey(
                "write", .rule, "Which objects a user may create, change and delete. Without it: those of 'read'."),
            LevelKey("insert", .rule, "Which objects a user may create, instead of 'write'."),
            LevelKey("delete", .rule, "Which objects a user may delete, instead of 'write'."),
        ] + [renamedFrom("type"), deprecated, doc]

    /// The keys that embedded objects do not support.
    public static let ofObjectsOnly = ["primaryKey", "index", "unique", "sync"] + RuleKind.allCases.map(\.rawValue)

    static let property = [
        LevelKey("type", .type, "The type, with or without a default after a '='.", isRequired: true),
        LevelKey("default", .literal, "The initial value in a new object."),
        renamedFrom("property"), deprecated,
        LevelKey("fullText", .flag, "Whether the words of the text can be searched."),
        LevelKey(
            "onDelete", .choices(DeletionRule.allCases.map(\.rawValue)),
            "What happens to this object when a target of the link or collection is deleted."),
        LevelKey(
            "deleteRule", .choices(DeletionRule.allCases.map(\.rawValue)),
            "What happens to the targets of the link or collection when this object is deleted."),
        LevelKey("sync", .choices([SyncMode.none.rawValue]), "Keeps the values in the local file."),
        LevelKey(
            "merge", .choices(MergeMode.allCases.map(\.rawValue)),
            "Makes the property a counter: the differences of concurrent changes are added."),
        LevelKey("write", .rule, "Which objects and users allow a change of the property, in addition to the rules."),
        doc,
    ]

    static let enumeration = [
        LevelKey("raw", .choices(EnumRawKind.allCases.map(\.rawValue)), "What is stored: text, or whole numbers."),
        LevelKey("cases", .cases, "The names of the cases, or names and what is stored for them.", isRequired: true),
        LevelKey("unknown", .caseName, "The case for a stored value that this build does not know."),
        renamedFrom("enum"), deprecated, doc,
    ]

    static let projection = [
        LevelKey("of", .name, "The object that is projected.", isRequired: true),
        LevelKey("properties", .labels, "Labels, and the key paths that they stand for.", isRequired: true),
        deprecated, doc,
    ]

    private static func renamedFrom(_ thing: String) -> LevelKey {
        LevelKey("renamedFrom", .name, "What the \(thing) is called in existing files.")
    }

    private static let deprecated = LevelKey(
        "deprecated", .textOrFlag, "What to use instead. Swift warns where the deprecated declaration is used.")
    private static let doc = LevelKey("doc", .text, "Documentation, instead of '##' lines above.")
}
