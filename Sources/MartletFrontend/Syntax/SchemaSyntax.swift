import MartletSchema

/// Declarations as written. Names are not resolved; invalid parts are nil.
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
    /// The case that stands for unknown stored values.
    let unknown: Spanned<String>?
    let renamedFrom: Spanned<String>?
    let deprecation: DeprecationModel?
    /// True if some of the cases could not be parsed.
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
    /// Properties with invalid names. Their types and defaults are checked as well.
    let withInvalidNames: [PropertySyntax]
    let keyPaths: [KeyPathEntrySyntax]
    let renamedFrom: Spanned<String>?
    let deprecation: DeprecationModel?
    var sync: Spanned<SyncMode>?
    var rules: [RuleKind: ParsedRule] = [:]

    /// The names of the stored properties, then of the ignored ones.
    var names: [Spanned<String>] { properties.map(\.name) + ignored.map(\.name) }
}

struct PropertySyntax {
    let name: Spanned<String>
    let documentation: String?
    /// nil if the type could not be parsed; a diagnostic was reported.
    let type: TypeSyntax?
    let defaultValue: LiteralSyntax?
    let renamedFrom: Spanned<String>?
    let deprecation: DeprecationModel?
    /// The range of the key `fullText`, if its value is `true`.
    let fullTextSpan: SourceSpan?
    /// What happens to this object when a target is deleted.
    let onDelete: Spanned<DeletionRule>?
    /// What happens to the targets when this object is deleted.
    let deleteRule: Spanned<DeletionRule>?
    /// The range of the value of `sync: none`.
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
    /// Declarations with invalid names.
    let withInvalidNames: [DeclarationSyntax]
    /// The `martlet:ignore` comments.
    let ignores: [IgnoreModel]
    /// Edits for the fix-its of lint rules.
    let fixIts: FixItModel
}
