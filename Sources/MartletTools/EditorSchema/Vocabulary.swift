import MartletFrontend
import MartletSchema

/// The reserved names of the schema language, and regular expressions for names and types. ECMA-262 and Swift interpret
/// these expressions in the same way.
public enum Vocabulary {
    /// A kind of name that a schema declares.
    public enum NameKind: CaseIterable, Sendable {
        case type
        case property
        case keyPath
        case label
        case enumCase

        /// Names that are invalid in generated code, sorted.
        public var reserved: [String] {
            let names =
                switch self {
                case .type: NameRules.reservedTypeNames.union(ScalarKind.allCases.map(\.rawValue))
                case .property: NameRules.reservedPropertyNames
                case .keyPath: NameRules.reservedKeyPathNames
                case .label: NameRules.reservedLabelNames
                case .enumCase: NameRules.reservedCaseNames
                }
            return names.sorted()
        }

        /// The regular expression for names of this kind.
        public var pattern: String {
            self == .property || self == .label ? Vocabulary.propertyNamePattern : Vocabulary.namePattern
        }
    }

    /// The regular expression for names of types, key paths and enum cases.
    public static let namePattern = "^\(boundedName)$"
    /// The regular expression for names of properties and labels.
    public static let propertyNamePattern = "^(?:\(NameRules.documentKey)|\(boundedName))$"

    /// The regular expression for key paths, such as `owner.name`.
    public static let keyPathPattern = "^\(propertyName)(?:\\.\(propertyName))*$"

    /// The regular expression for type expressions: `Name`, `Name?`, `List<Name?>` and `LinkingObjects<Type.property>`.
    /// A default in the form ` = literal` can follow the type.
    public static var typePattern: String {
        let collections = ContainerName.all.filter { $0 != linkingObjects }.joined(separator: "|")
        let types = [
            "\(name)\\??",
            "(?:\(collections))\(blanks)<\(blanks)\(name)\(blanks)\\??\(blanks)>",
            "\(linkingObjects)\(blanks)<\(blanks)\(name)\(blanks)\\.\(name)\(blanks)>",
        ]
        return "^\(blanks)(?:\(types.joined(separator: "|")))\(blanks)(?:=\(blanks)\\S[\\s\\S]*)?$"
    }

    /// The built-in types, which editors offer for completion.
    public static let typeWords = ScalarKind.allCases.flatMap { kind in
        kind == .anyValue ? [kind.rawValue] : [kind.rawValue, kind.rawValue + "?"]
    }

    private static let linkingObjects = "LinkingObjects"
    private static let letter = "[A-Za-z]"
    private static let nameCharacter = "[A-Za-z0-9_]"
    private static let name = "\(letter)\(nameCharacter)*"
    private static let boundedName = "\(letter)\(nameCharacter){0,\(NameRules.maximumLength - 1)}"
    private static let propertyName = "(?:\(NameRules.documentKey)|\(name))"
    private static let blanks = "[ \\t]*"
}
