/// One segment of a key path.
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
    /// The declared type of the last property.
    public let type: PropertyTypeModel
    /// Whether reading the path returns an optional. This is the case if the last property is single and optional, or
    /// if a link or embedded object precedes it. If the path passes through collections, only the segments after the
    /// last collection count.
    public let isOptional: Bool
    /// The index of the first segment that is a collection and is followed by more segments; nil if there is none.
    public let collectionSegment: Int?
    /// Whether the value at the path can be set. The last property must not be the primary key or linking objects, and
    /// no collection may precede it. If the path has more than one segment, the last property must also be single and
    /// optional.
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
    /// Whether the schema declares a list of paths. This is true for a list of one path too.
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
