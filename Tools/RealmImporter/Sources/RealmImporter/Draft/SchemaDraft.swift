import MartletSchema

/// A default of the schema.
enum DefaultDraft: Hashable {
    /// In the syntax of the schema.
    case text(String)
    /// The Swift name of a case.
    case enumCase(String)
}

struct PropertyDraft {
    let swiftName: String
    /// The name in the schema.
    var name: String
    var type: PropertyTypeDraft
    var defaultValue: DefaultDraft?
    var head: DeclarationHead
    let span: SourceSpan
    var isIndexed = false
}

struct ObjectDraft {
    /// The qualified Swift name.
    let key: String
    var name: String
    let isEmbedded: Bool
    let head: DeclarationHead
    let span: SourceSpan
    /// The Swift name of the property.
    var primaryKey: Spanned<String>?
    var properties: [PropertyDraft] = []
    var ignored: [PropertyDraft] = []

    func property(_ swiftName: String) -> PropertyDraft? { properties.first { $0.swiftName == swiftName } }
}

struct EnumDraft {
    struct Case {
        let swiftName: String
        var name: String
        /// The stored value: digits for an enum of `Int`.
        let raw: String
        let documentation: [String]
        let span: SourceSpan
    }

    let key: String
    var name: String
    let head: DeclarationHead
    let span: SourceSpan
    let isInteger: Bool
    var cases: [Case]
}

struct ProjectionDraft {
    struct Label {
        let swiftName: String
        var name: String
        /// The Swift names of the properties.
        let path: [String]
        let head: DeclarationHead
        let span: SourceSpan
    }

    let key: String
    var name: String
    /// The key of the object type that is projected.
    let root: String
    let head: DeclarationHead
    let span: SourceSpan
    var labels: [Label]
}

/// The types imported from one Swift file.
struct FileDraft {
    let source: SourceText
    var enums: [EnumDraft] = []
    var objects: [ObjectDraft] = []
    var projections: [ProjectionDraft] = []

    var isEmpty: Bool { enums.isEmpty && objects.isEmpty && projections.isEmpty }
    var typeCount: Int { enums.count + objects.count + projections.count }
}

/// An item of the schema with its own location. Every item can be omitted, and those with `canBeRenamed` can be
/// renamed.
enum DraftItem: Hashable {
    case type(String)
    case property(owner: String, name: String)
    case ignored(owner: String, name: String)
    case primaryKey(owner: String)
    case index(owner: String, name: String)
    case enumCase(owner: String, name: String)
    case label(owner: String, name: String)

    /// False for a primary key and an index. They have no name of their own, but that of their property.
    var canBeRenamed: Bool {
        switch self {
        case .type, .property, .ignored, .enumCase, .label: true
        case .primaryKey, .index: false
        }
    }

    /// The key of the type that contains the item.
    var owner: String {
        switch self {
        case .type(let key), .primaryKey(let key): key
        case .property(let owner, _), .ignored(let owner, _), .index(let owner, _), .enumCase(let owner, _),
            .label(let owner, _):
            owner
        }
    }
}

/// The imported schema.
struct SchemaDraft {
    var files: [FileDraft] = []

    func object(_ key: String) -> ObjectDraft? {
        for file in files { for object in file.objects where object.key == key { return object } }
        return nil
    }

    func enumeration(_ key: String) -> EnumDraft? {
        for file in files { for enumeration in file.enums where enumeration.key == key { return enumeration } }
        return nil
    }

    func projection(_ key: String) -> ProjectionDraft? {
        for file in files { for projection in file.projections where projection.key == key { return projection } }
        return nil
    }

    /// Returns the name of a type in the schema; nil if the type is omitted.
    func name(of key: String) -> String? {
        object(key)?.name ?? enumeration(key)?.name ?? projection(key)?.name
    }
}
