/// The values of `onDelete` and `deleteRule` for links, lists, sets and maps.
///
/// The owner is the object that has the property, and the targets are the objects to which the property links. When a
/// target is deleted, `onDelete` applies to the owner. When the owner is deleted, `deleteRule` applies to the targets.
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
    /// The value of the key `doc`. If there is no such key, the text of the `##` lines above the property, joined with
    /// line feeds.
    public let documentation: String?
    public let type: PropertyTypeModel
    public let typeSpan: SourceSpan
    /// The default in the schema; nil if there is none. Without a default, the initial value of an optional property or
    /// a link is nil. The initial value of another property is false, zero, empty, or the first case of its enum.
    public let defaultValue: DefaultModel?
    public let defaultSpan: SourceSpan?
    public let renamedFrom: Spanned<String>?
    public let deprecation: DeprecationModel?
    /// What happens to the owner of the property when a target is deleted.
    public let onDelete: DeletionRule
    /// What happens to the targets when the owner of the property is deleted.
    public let deleteRule: DeletionRule
    public let isPrimaryKey: Bool
    /// Whether the schema requests an index, and the type supports an index. Always false for the primary key.
    public let isIndexed: Bool
    /// Whether the schema requests full-text search, and the type is `String` or `String?`.
    public let isFullText: Bool
    /// The range of the key `fullText` if its value is `true`, otherwise nil. It is also set if the type does not
    /// support full-text search.
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
