/// The values of `onDelete` and `deleteRule` for links, lists, sets and maps.
///
/// When a target is deleted, `onDelete` applies to the object that has the property. When that object is deleted,
/// `deleteRule` applies to the targets.
public enum DeletionRule: String, CaseIterable, Sendable {
    case nullify
    case cascade
    case deny
}

/// A deprecation, with an optional message.
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
    /// The value of the key `doc`, otherwise the text of the `##` lines above the property, joined with line feeds.
    public let documentation: String?
    public let type: PropertyTypeModel
    public let typeSpan: SourceSpan
    /// nil if the schema has no default. The initial value is then nil if the property is optional or a link; otherwise
    /// it is false, zero, empty, or the first case of the enum.
    public let defaultValue: DefaultModel?
    public let defaultSpan: SourceSpan?
    public let renamedFrom: Spanned<String>?
    public let deprecation: DeprecationModel?
    /// What happens to the object when a target is deleted.
    public let onDelete: DeletionRule
    /// What happens to the targets when the object is deleted.
    public let deleteRule: DeletionRule
    public let isPrimaryKey: Bool
    /// True if the schema requests an index and the type supports it. Always false for the primary key.
    public let isIndexed: Bool
    /// True if the schema requests full-text search and the type is `String` or `String?`.
    public let isFullText: Bool
    /// The range of the key `fullText`, if its value is `true`. Not nil even if the type does not support the key.
    public let fullTextSpan: SourceSpan?
    public let sync: PropertySyncModel

    public init(
        name: String, nameSpan: SourceSpan, documentation: String? = nil, type: PropertyTypeModel,
        typeSpan: SourceSpan, defaultValue: DefaultModel? = nil, defaultSpan: SourceSpan? = nil,
        renamedFrom: Spanned<String>? = nil, deprecation: DeprecationModel? = nil, onDelete: DeletionRule = .nullify,
        deleteRule: DeletionRule = .nullify, isPrimaryKey: Bool = false, isIndexed: Bool = false,
        isFullText: Bool = false,
        fullTextSpan: SourceSpan? = nil, sync: PropertySyncModel = PropertySyncModel()
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
        self.sync = sync
    }
}
