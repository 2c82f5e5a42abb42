import MartletSchema

/// The default of a property in the schema.
enum DefaultDraft: Hashable {
    /// A literal in the syntax of the schema.
    case text(String)
    /// The Swift name of an enum case.
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
    /// The Swift name of the primary key.
    var primaryKey: Spanned<String>?
    var properties: [PropertyDraft] = []
    var ignored: [PropertyDraft] = []

    func property(_ swiftName: String) -> PropertyDraft? { properties.first { $0.swiftName == swiftName } }
}

struct EnumDraft {
    struct Case {
        let swiftName: String
        var name: String
        /// The raw value as text. For an enum of `Int`, this is the decimal number.
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
        /// The key path of the label, as the Swift names of its properties.
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

/// An item of the schema that has its own location in the Swift files. The importer can omit every item. It can rename
/// the items whose `canBeRenamed` is true.
enum DraftItem: Hashable {
    case type(String)
    case property(owner: String, name: String)
    case ignored(owner: String, name: String)
    case primaryKey(owner: String)
    case index(owner: String, name: String)
    case enumCase(owner: String, name: String)
    case label(owner: String, name: String)

    /// False for a primary key and for an index, because they are identified by the name of their property.
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
