/// Converts names from a schema to Swift identifiers.
enum SwiftNames {
    /// The name, in backticks if it is a Swift keyword.
    static func escaped(_ name: String) -> String {
        reservedWords.contains(name) ? "`\(name)`" : name
    }

    /// The names of the private stored properties: each property's name with a leading underscore. If another property
    /// or a member of the runtime already has that name, underscores are appended.
    static func storageNames(for properties: [String], besides others: [String] = []) -> [String] {
        var taken = runtimeMembers.union(properties).union(others)
        return properties.map { property in
            var name = "_" + property
            while !taken.insert(name).inserted { name += "_" }
            return name
        }
    }

    /// The alias of a type. Generated code uses the alias in places where a member can have the name of the type.
    static func alias(of type: String) -> String { "_" + type }

    /// Words that the Swift compiler treats as keywords, or can mistake for keywords, in places where generated code
    /// contains a name from the schema.
    private static let reservedWords: Set<String> = [
        // declarations
        "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import", "init", "inout",
        "internal", "let", "open", "operator", "package", "private", "precedencegroup", "protocol", "public",
        "rethrows",
        "static", "struct", "subscript", "typealias", "var",
        // statements
        "break", "case", "catch", "continue", "default", "defer", "do", "else", "fallthrough", "for", "guard", "if",
        "in",
        "repeat", "return", "switch", "throw", "where", "while",
        // expressions and types
        "Any", "Protocol", "Self", "Type", "any", "as", "async", "await", "borrow", "consume", "copy", "discard",
        "each",
        "false", "is", "isolated", "nil", "nonisolated", "self", "sending", "some", "super", "then", "throws", "true",
        "try",
        "unsafe", "yield",
    ]

    /// Members of the runtime's classes that begin with an underscore and are visible to generated code.
    private static let runtimeMembers: Set<String> = [
        "_any", "_applyDefaults", "_comparedElement", "_decode", "_didSet", "_element", "_encode", "_facts", "_guard",
        "_hasIgnoredProperties", "_isCollection", "_isValid", "_link", "_linkingObjects", "_list", "_load", "_locator",
        "_map", "_mutableSet",
        "_object", "_optionalElement", "_prepare", "_replacingObject", "_searchElement", "_setAny", "_setEmbedded",
        "_setLink", "_storedElement", "_willSet",
    ]
}
