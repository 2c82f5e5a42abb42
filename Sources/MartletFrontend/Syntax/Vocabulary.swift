import MartletSchema

/// The words of the language beside its keys, and what names and types look like, as regular expressions that ECMA-262
/// and Swift read alike.
public enum Vocabulary {
    /// A kind of name that a schema declares.
    public enum NameKind: CaseIterable, Sendable {
        case type
        case property
        case keyPath
        case label
        case enumCase

        /// Names that generated code cannot use, sorted.
        public var reserved: [String] {
            let names =
                switch self {
                case .type: NameRules.types.union(ScalarKind.allCases.map(\.rawValue))
                case .property: NameRules.members
                case .keyPath: NameRules.keyPathNames
                case .label: NameRules.projectionMembers
                case .enumCase: NameRules.caseNames
                }
            return names.sorted()
        }

        /// What names of the kind look like.
        public var pattern: String {
            self == .property || self == .label ? Vocabulary.propertyNamePattern : Vocabulary.namePattern
        }
    }

    public static let namePattern = "^\(boundedName)$"
    /// What properties and labels are called.
    public static let propertyNamePattern = "^(?:\(NameRules.documentKey)|\(boundedName))$"

    public static let keyPathPattern = "^\(propertyName)(?:\\.\(propertyName))*$"

    /// `Name`, `Name?`, `List<Name?>`, `LinkingObjects<Type.property>`, then optionally ` = literal`.
    public static var typePattern: String {
        let collections = ContainerName.all.filter { $0 != linkingObjects }.joined(separator: "|")
        let types = [
            "\(name)\\??",
            "(?:\(collections))\(blanks)<\(blanks)\(name)\(blanks)\\??\(blanks)>",
            "\(linkingObjects)\(blanks)<\(blanks)\(name)\(blanks)\\.\(name)\(blanks)>",
        ]
        return "^\(blanks)(?:\(types.joined(separator: "|")))\(blanks)(?:=\(blanks)\\S[\\s\\S]*)?$"
    }

    /// The types that need no declaration, as an editor offers them.
    public static let typeWords = ScalarKind.allCases.flatMap { kind in
        kind == .anyValue ? [kind.rawValue] : [kind.rawValue, kind.rawValue + "?"]
    }

    private static let linkingObjects = "LinkingObjects"
    private static let letter = "[A-Za-z]"
    private static let nameSign = "[A-Za-z0-9_]"
    private static let name = "\(letter)\(nameSign)*"
    private static let boundedName = "\(letter)\(nameSign){0,\(NameRules.maximumLength - 1)}"
    private static let propertyName = "(?:\(NameRules.documentKey)|\(name))"
    private static let blanks = "[ \\t]*"
}
