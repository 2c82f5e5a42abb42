import MartletSchema

/// A property as a Swift file declares it.
struct PropertyDeclaration {
    /// The arguments of `@Persisted`.
    struct Persistence {
        var isPrimaryKey = false
        var isIndexed = false
        var originProperty: String?
        /// The arguments that the importer does not support, with their labels.
        var unknownLabels: [String] = []
    }

    let name: Spanned<String>
    /// The name of the type that contains the property.
    let owner: String
    var head = DeclarationHead()
    var type: TypeExpression?
    var value: ValueExpression?
    /// The arguments of `@Persisted`; nil if the property does not have this attribute.
    var persistence: Persistence?
    /// The key path of `@Projected`; nil if the property does not have this attribute.
    var projection: ProjectedPath?
    /// Whether the property itself has the attribute `@objc`, or another attribute that exposes it to Objective-C.
    var isObjc = false
    var isNonobjc = false
    /// The name in Objective-C that `@objc(name)` declares.
    var objcName: String?
    var isDynamic = false
    var isOverride = false
    var isConstant = false
    var isLazy = false
    var isStatic = false
    var isWeak = false
    var isComputed = false
    var hasObservers = false
    /// Whether the property, or only its setter, is `private` or `fileprivate`.
    var hasPrivateModifier = false
    /// Whether getter and setter are both `private` or `fileprivate`.
    var isFullyPrivate = false
}

/// The key path of `@Projected`.
struct ProjectedPath {
    /// nil if the key path contains something that a schema does not support, such as a subscript.
    let segments: [String]?
    let text: String
    let span: SourceSpan
}

/// All declarations of a Swift file.
struct FileDeclarations {
    let source: SourceText
    /// The types in the order of the file. Nested types come after their outer type.
    var types: [TypeDeclaration] = []
    var aliases: [AliasDeclaration] = []
    /// The names of types that expressions use, such as `Dog` in `Dog()` and `Dog.self`.
    var usedNames: Set<String> = []
    /// Classes in function bodies, with the types that they inherit from.
    var localClasses: [(name: Spanned<String>, inherited: [TypeExpression])] = []
    var findings = FindingList()
}
