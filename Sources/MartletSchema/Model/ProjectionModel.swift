/// One property of a projection (a label), and the key path that it reads.
public struct ProjectionLabelModel: Hashable, Sendable {
    public let name: String
    public let nameSpan: SourceSpan
    public let documentation: String?
    public let path: KeyPathModel

    public init(name: String, nameSpan: SourceSpan, documentation: String?, path: KeyPathModel) {
        self.name = name
        self.nameSpan = nameSpan
        self.documentation = documentation
        self.path = path
    }
}

/// A projection of one object type.
public struct ProjectionModel: Hashable, Sendable {
    public let name: String
    public let nameSpan: SourceSpan
    public let documentation: String?
    /// The object type of the projection.
    public let root: Spanned<String>
    /// The properties of the projection.
    public let labels: [ProjectionLabelModel]
    public let deprecation: DeprecationModel?

    public init(
        name: String, nameSpan: SourceSpan, documentation: String?, root: Spanned<String>,
        labels: [ProjectionLabelModel], deprecation: DeprecationModel? = nil
    ) {
        self.name = name
        self.nameSpan = nameSpan
        self.documentation = documentation
        self.root = root
        self.labels = labels
        self.deprecation = deprecation
    }
}
