/// One object type, which is either a top-level type or an embedded type.
public struct ObjectModel: Hashable, Sendable {
    public let name: String
    public let nameSpan: SourceSpan
    public let documentation: String?
    public let isEmbedded: Bool
    public let primaryKey: Spanned<String>?
    /// All names under `index:`, including invalid names. `PropertyModel.isIndexed` is true only for valid names: the
    /// names of properties that support an index, except the primary key.
    public let indexes: [Spanned<String>]
    public let unique: [[Spanned<String>]]
    /// Stored properties and linking objects, in the order of the schema.
    public let properties: [PropertyModel]
    /// Swift properties that are not stored. Their values are single values, not collections.
    public let ignored: [PropertyModel]
    public let keyPaths: [DeclaredKeyPathModel]
    public let renamedFrom: Spanned<String>?
    public let deprecation: DeprecationModel?
    public let sync: SyncModel
    /// The positions of the properties, by name. The dictionary is empty for types with few properties, for which a
    /// linear search is as fast.
    private let positions: [String: Int]

    private static let fewProperties = 32

    public init(
        name: String, nameSpan: SourceSpan, documentation: String? = nil, isEmbedded: Bool,
        primaryKey: Spanned<String>? = nil, indexes: [Spanned<String>] = [], unique: [[Spanned<String>]] = [],
        properties: [PropertyModel], ignored: [PropertyModel] = [], keyPaths: [DeclaredKeyPathModel] = [],
        renamedFrom: Spanned<String>? = nil, deprecation: DeprecationModel? = nil, sync: SyncModel = SyncModel()
    ) {
        self.name = name
        self.nameSpan = nameSpan
        self.documentation = documentation
        self.isEmbedded = isEmbedded
        self.primaryKey = primaryKey
        self.indexes = indexes
        self.unique = unique
        self.properties = properties
        self.ignored = ignored
        self.keyPaths = keyPaths
        self.renamedFrom = renamedFrom
        self.deprecation = deprecation
        self.sync = sync
        let isLarge = properties.count > Self.fewProperties
        positions =
            isLarge ? Dictionary(zip(properties.map(\.name), properties.indices)) { first, _ in first } : [:]
    }

    /// - Complexity: O(1).
    public func property(named name: String) -> PropertyModel? {
        if positions.isEmpty { return properties.first { $0.name == name } }
        return positions[name].map { properties[$0] }
    }
}
