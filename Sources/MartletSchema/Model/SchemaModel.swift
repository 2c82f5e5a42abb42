/// One declaration of a schema file.
public enum DeclarationModel: Hashable, Sendable {
    case enumeration(EnumModel)
    case object(ObjectModel)
    case projection(ProjectionModel)

    public var name: String {
        switch self {
        case .enumeration(let model): model.name
        case .object(let model): model.name
        case .projection(let model): model.name
        }
    }
}

/// A `martlet:ignore` comment.
public struct IgnoreModel: Hashable, Sendable {
    public let code: Spanned<String>
    /// The line to which the comment applies, counted from 0; nil if the comment applies to the whole file.
    public let line: Int?

    public init(code: Spanned<String>, line: Int?) {
        self.code = code
        self.line = line
    }
}

/// The declarations of one schema file.
public struct FileModel: Hashable, Sendable {
    public let file: SourceFileID
    /// The path relative to the schema folder, with `/` between the components.
    public let path: String
    /// The declarations in source order.
    public let declarations: [DeclarationModel]
    public let ignores: [IgnoreModel]
    public let fixIts: FixItModel

    public init(
        file: SourceFileID, path: String, declarations: [DeclarationModel], ignores: [IgnoreModel] = [],
        fixIts: FixItModel = FixItModel()
    ) {
        self.file = file
        self.path = path
        self.declarations = declarations
        self.ignores = ignores
        self.fixIts = fixIts
    }

    public var enums: [EnumModel] {
        declarations.compactMap { if case .enumeration(let model) = $0 { model } else { nil } }
    }

    /// The object types, both top-level and embedded.
    public var objects: [ObjectModel] {
        declarations.compactMap { if case .object(let model) = $0 { model } else { nil } }
    }

    public var projections: [ProjectionModel] {
        declarations.compactMap { if case .projection(let model) = $0 { model } else { nil } }
    }
}

/// A complete schema without errors: names are unique, types exist, and key paths are resolved.
public struct SchemaModel: Hashable, Sendable {
    /// The files, sorted by the bytes of their relative paths.
    public let files: [FileModel]
    /// The object types of all files, both top-level and embedded.
    public let objects: [ObjectModel]
    public let enums: [EnumModel]
    public let projections: [ProjectionModel]
    /// The source ranges that reference a declaration. They do not include the declaration itself.
    public let references: [SymbolModel: [SourceSpan]]
    private let objectPositions: [String: Int]
    private let enumPositions: [String: Int]
    private let filePositions: [SourceFileID: Int]

    public init(files: [FileModel], references: [SymbolModel: [SourceSpan]] = [:]) {
        self.references = references
        self.files = files.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
        objects = self.files.flatMap(\.objects)
        enums = self.files.flatMap(\.enums)
        projections = self.files.flatMap(\.projections)
        objectPositions = SchemaModel.positions(of: objects.map(\.name))
        enumPositions = SchemaModel.positions(of: enums.map(\.name))
        filePositions = Dictionary(zip(self.files.map(\.file), self.files.indices)) { first, _ in first }
    }

    /// The top-level or embedded object type with the given name; nil if there is none.
    public func object(named name: String) -> ObjectModel? { objectPositions[name].map { objects[$0] } }

    public func enumeration(named name: String) -> EnumModel? { enumPositions[name].map { enums[$0] } }

    /// The edits that remove the entry whose name or value has the given range; nil if the parser has not stored such
    /// edits.
    public func removal(of span: SourceSpan) -> [Edit]? {
        filePositions[span.file].flatMap { files[$0].fixIts.removals[span] }?.map { Edit($0, "") }
    }

    /// The edits that add `renamedFrom` with the current name to the declaration whose name has the given range; nil if
    /// the parser has not stored such edits.
    public func renamedFromAddition(at nameSpan: SourceSpan) -> [Edit]? {
        filePositions[nameSpan.file].flatMap { files[$0].fixIts.renamedFromAdditions[nameSpan] }
    }

    private static func positions(of names: [String]) -> [String: Int] {
        Dictionary(zip(names, names.indices)) { first, _ in first }
    }
}
