import MartletSchema

/// A declaration as it is written in a schema file. The names in it are not resolved yet. Invalid parts are nil.
enum DeclarationSyntax {
    case enumeration(EnumSyntax)
    case object(ObjectSyntax)
    case projection(ProjectionSyntax)

    var name: Spanned<String> {
        switch self {
        case .enumeration(let syntax): syntax.name
        case .object(let syntax): syntax.name
        case .projection(let syntax): syntax.name
        }
    }
}

struct EnumCaseSyntax {
    let name: Spanned<String>
    let documentation: String?
    let rawValue: YAMLScalar?
}

struct EnumSyntax {
    let name: Spanned<String>
    let documentation: String?
    let raw: EnumRawKind?
    let cases: [EnumCaseSyntax]
    /// The name of the case that represents all stored values that the enum does not know.
    let unknown: Spanned<String>?
    let renamedFrom: Spanned<String>?
    let deprecation: DeprecationModel?
    /// Whether cases are missing in `cases`, because the parser could not read them.
    let isIncomplete: Bool
}

struct ObjectSyntax {
    let name: Spanned<String>
    let documentation: String?
    let isEmbedded: Bool
    let primaryKey: Spanned<String>?
    let indexes: [Spanned<String>]
    let unique: [[Spanned<String>]]
    let properties: [PropertySyntax]
    let ignored: [PropertySyntax]
    /// Properties with invalid names. They are only kept so that their types and defaults can be checked.
    let withInvalidNames: [PropertySyntax]
    let keyPaths: [KeyPathEntrySyntax]
    let renamedFrom: Spanned<String>?
    let deprecation: DeprecationModel?
    var sync: Spanned<SyncMode>?
    var rules: [RuleKind: ParsedRule] = [:]

    /// The names of the stored properties, followed by the names of the ignored properties.
    var names: [Spanned<String>] { properties.map(\.name) + ignored.map(\.name) }
}

struct PropertySyntax {
    let name: Spanned<String>
    let documentation: String?
    /// nil if the type could not be parsed. The parser has already reported the error.
    let type: TypeSyntax?
    let defaultValue: LiteralSyntax?
    let renamedFrom: Spanned<String>?
    let deprecation: DeprecationModel?
    /// The range of the key `fullText`, if its value is `true`.
    let fullTextSpan: SourceSpan?
    /// What happens to this object when an object to which the property links is deleted.
    let onDelete: Spanned<DeletionRule>?
    /// What happens to the objects to which the property links when this object is deleted.
    let deleteRule: Spanned<DeletionRule>?
    /// The range of the value of `sync: none`; nil if the property has no such key.
    var localSpan: SourceSpan?
    var merge: Spanned<MergeMode>?
    var write: ParsedRule?
}

struct KeyPathSyntax {
    let segments: [Spanned<String>]
    let span: SourceSpan
}

struct KeyPathEntrySyntax {
    let name: Spanned<String>
    let documentation: String?
    let isList: Bool
    let paths: [KeyPathSyntax]
}

struct LabelSyntax {
    let name: Spanned<String>
    let documentation: String?
    let path: KeyPathSyntax
}

struct ProjectionSyntax {
    let name: Spanned<String>
    let documentation: String?
    let root: Spanned<String>?
    let labels: [LabelSyntax]
    let deprecation: DeprecationModel?
}

struct FileSyntax {
    let source: SourceText
    let declarations: [DeclarationSyntax]
    /// Declarations with invalid names. They are only kept so that their contents can be checked.
    let withInvalidNames: [DeclarationSyntax]
    /// The `martlet:ignore` comments.
    let ignores: [IgnoreModel]
    /// Edits for the fix-its of lint rules.
    let fixIts: FixItModel
}
