/// One step of a key path.
public struct KeyPathSegmentModel: Hashable, Sendable {
    /// The object type that has the property.
    public let owner: String
    public let property: String
    public let type: PropertyTypeModel
    public let span: SourceSpan

    public init(owner: String, property: String, type: PropertyTypeModel, span: SourceSpan) {
        self.owner = owner
        self.property = property
        self.type = type
        self.span = span
    }
}

/// A path of properties, resolved against the schema, with at least one segment.
public struct KeyPathModel: Hashable, Sendable {
    public let root: String
    public let segments: [KeyPathSegmentModel]
    /// The type of the last property, as declared.
    public let type: PropertyTypeModel
    /// Whether reading the path returns an optional: the last property is single and optional, or a link or embedded
    /// object precedes it. If the path passes through collections, only the part after the last of them counts.
    public let isOptional: Bool
    /// The index of the first segment that is a collection and is followed by more segments; nil if there is none.
    public let collectionSegment: Int?
    /// Whether the path can be set. Its last property must not be the primary key or linking objects. If the path has
    /// more than one segment, the last property must also be single and optional, with no collection before it.
    public let isWritable: Bool
    public let span: SourceSpan

    public init(
        root: String, segments: [KeyPathSegmentModel], type: PropertyTypeModel, isOptional: Bool,
        collectionSegment: Int?, isWritable: Bool, span: SourceSpan
    ) {
        self.root = root
        self.segments = segments
        self.type = type
        self.isOptional = isOptional
        self.collectionSegment = collectionSegment
        self.isWritable = isWritable
        self.span = span
    }

    public var passesThroughCollection: Bool { collectionSegment != nil }

    /// The path in schema syntax: `owner.address.city`.
    public var text: String {
        segments.map(\.property).joined(separator: ".")
    }
}

/// A named entry of `keypaths`.
public struct DeclaredKeyPathModel: Hashable, Sendable {
    public let name: String
    public let nameSpan: SourceSpan
    public let documentation: String?
    /// True if the schema declares a list, even a list of one path.
    public let isList: Bool
    public let paths: [KeyPathModel]

    public init(name: String, nameSpan: SourceSpan, documentation: String?, isList: Bool, paths: [KeyPathModel]) {
        self.name = name
        self.nameSpan = nameSpan
        self.documentation = documentation
        self.isList = isList
        self.paths = paths
    }
}
