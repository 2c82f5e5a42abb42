/// What `onDelete` and `deleteRule` say of links, lists, sets and maps.
///
/// `onDelete` is about the object that has the property, when a target is deleted; `deleteRule` is about the targets, when
/// the object that has the property is deleted.
public enum DeletionRule: String, CaseIterable, Sendable {
    case nullify
    case cascade
    case deny
}

/// A deprecation; without a message when the schema says none.
public struct DeprecationModel: Hashable, Sendable {
    public let message: String?
    public let span: SourceSpan

    public init(message: String?, span: SourceSpan) {
        self.message = message
        self.span = span
    }
}

/// One property of an object.
public struct PropertyModel: Hashable, Sendable {
    public let name: String
    public let nameSpan: SourceSpan
    /// Lines without comment marks, joined by line feeds.
    public let documentation: String?
    public let type: PropertyTypeModel
    public let typeSpan: SourceSpan
    /// nil: the zero of the type, nil for optionals, empty for collections.
    public let defaultValue: DefaultModel?
    public let defaultSpan: SourceSpan?
    public let renamedFrom: Spanned<String>?
    public let deprecation: DeprecationModel?
    /// What happens to the object when a target is deleted.
    public let onDelete: DeletionRule
    /// What happens to the targets when the object is deleted.
    public let deleteRule: DeletionRule
    public let isPrimaryKey: Bool
    /// True when the schema asks for an index and the type can have one; never for the primary key.
    public let isIndexed: Bool
    /// True when the schema asks for full-text search and the type is `String` or `String?`.
    public let isFullText: Bool
    /// Where the schema says `fullText: true`, whether it can be or not.
    public let fullTextSpan: SourceSpan?

    public init(
        name: String, nameSpan: SourceSpan, documentation: String? = nil, type: PropertyTypeModel,
        typeSpan: SourceSpan, defaultValue: DefaultModel? = nil, defaultSpan: SourceSpan? = nil,
        renamedFrom: Spanned<String>? = nil, deprecation: DeprecationModel? = nil, onDelete: DeletionRule = .nullify,
        deleteRule: DeletionRule = .nullify, isPrimaryKey: Bool = false, isIndexed: Bool = false,
        isFullText: Bool = false,
        fullTextSpan: SourceSpan? = nil
    ) {
        self.name = name
        self.nameSpan = nameSpan
        self.documentation = documentation
        self.type = type
        self.typeSpan = typeSpan
        self.defaultValue = defaultValue
        self.defaultSpan = defaultSpan
        self.renamedFrom = renamedFrom
        self.deprecation = deprecation
        self.onDelete = onDelete
        self.deleteRule = deleteRule
        self.isPrimaryKey = isPrimaryKey
        self.isIndexed = isIndexed
        self.isFullText = isFullText
        self.fullTextSpan = fullTextSpan
    }
}
