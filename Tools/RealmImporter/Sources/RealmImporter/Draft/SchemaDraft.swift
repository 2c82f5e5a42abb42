import MartletSchema

/// A default of the schema to be.
enum DefaultDraft: Hashable {
    /// As the schema writes it.
    case text(String)
    /// A case by its Swift name.
    case enumCase(String)
}

struct PropertyDraft {
    let swiftName: String
    /// What the schema calls it.
    var name: String
    var type: PropertyTypeDraft
    var defaultValue: DefaultDraft?
    var head: DeclarationHead
    let span: SourceSpan
    var isIndexed = false
}

struct ObjectDraft {
    /// The Swift name, with what is around it.
    let key: String
    var name: String
    let isEmbedded: Bool
    let head: DeclarationHead
    let span: SourceSpan
    /// By its Swift name.
    var primaryKey: Spanned<String>?
    var properties: [PropertyDraft] = []
    var ignored: [PropertyDraft] = []

    func property(_ swiftName: String) -> PropertyDraft? { properties.first { $0.swiftName == swiftName } }
}

struct EnumDraft {
    struct Case {
        let swiftName: String
        var name: String
        /// What is stored: digits for an enum of `Int`.
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
        /// Swift names.
        let path: [String]
        let head: DeclarationHead
        let span: SourceSpan
    }

    let key: String
    var name: String
    let root: String
    let head: DeclarationHead
    let span: SourceSpan
    var labels: [Label]
}

/// What becomes of one Swift file.
struct FileDraft {
    let source: SourceText
    var enums: [EnumDraft] = []
    var objects: [ObjectDraft] = []
    var projections: [ProjectionDraft] = []

    var isEmpty: Bool { enums.isEmpty && objects.isEmpty && projections.isEmpty }
    var typeCount: Int { enums.count + objects.count + projections.count }
}

/// Something of the schema that has a line of its own and can be renamed or left out.
enum DraftItem: Hashable {
    case type(String)
    case property(owner: String, name: String)
    case ignored(owner: String, name: String)
    case primaryKey(owner: String)
    case index(owner: String, name: String)
    case enumCase(owner: String, name: String)
    case label(owner: String, name: String)

    /// Whether it can be renamed; the others are named after something else.
    var hasName: Bool {
        switch self {
        case .type, .property, .ignored, .enumCase, .label: true
        case .primaryKey, .index: false
        }
    }

    /// The type it belongs to.
    var owner: String {
        switch self {
        case .type(let key), .primaryKey(let key): key
        case .property(let owner, _), .ignored(let owner, _), .index(let owner, _), .enumCase(let owner, _),
            .label(let owner, _):
            owner
        }
    }
}

/// The schema to be, file by file.
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

    /// What the schema calls a type; nil where it is left out.
    func name(of key: String) -> String? {
        object(key)?.name ?? enumeration(key)?.name ?? projection(key)?.name
    }
}
