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

/// A path of properties, resolved against the schema; it has at least one segment.
public struct KeyPathModel: Hashable, Sendable {
    public let root: String
    public let segments: [KeyPathSegmentModel]
    /// The type of the last property, as declared.
    public let type: PropertyTypeModel
    /// Whether a read gives an optional: the last property is single and optional, or a link stands before it and behind
    /// the last collection.
    public let isOptional: Bool
    /// The segment, if any, that is a collection with more segments behind it (the first such).
    public let collectionSegment: Int?
    /// One segment that can be set, or an optional property reached through links only.
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

    /// As a schema writes it: `owner.address.city`.
    public var text: String {
        segments.map(\.property).joined(separator: ".")
    }
}

/// A named entry of `keypaths`.
public struct DeclaredKeyPathModel: Hashable, Sendable {
    public let name: String
    public let nameSpan: SourceSpan
    public let documentation: String?
    /// True when written as a list, even of one.
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
