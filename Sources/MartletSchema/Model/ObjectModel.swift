/// One object type, top-level or embedded.
public struct ObjectModel: Hashable, Sendable {
    public let name: String
    public let nameSpan: SourceSpan
    public let documentation: String?
    public let isEmbedded: Bool
    public let primaryKey: Spanned<String>?
    /// The names listed under `index:`, valid or not. `PropertyModel.isIndexed` is true only for the valid ones:
    /// properties that support an index, except the primary key.
    public let indexes: [Spanned<String>]
    public let unique: [[Spanned<String>]]
    /// Stored properties and linking objects, in the order of the schema.
    public let properties: [PropertyModel]
    /// Swift properties that are not stored. They have single values.
    public let ignored: [PropertyModel]
    public let keyPaths: [DeclaredKeyPathModel]
    public let renamedFrom: Spanned<String>?
    public let deprecation: DeprecationModel?
    public let sync: SyncModel
    /// Property positions by name. Empty for objects with few properties, where a linear search is as fast.
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
