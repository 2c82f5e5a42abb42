import MartletSchema

/// A variable of a class, as written.
struct PropertyDeclaration {
    /// What stands in the brackets of `@Persisted`.
    struct Persistence {
        var isPrimaryKey = false
        var isIndexed = false
        var originProperty: String?
        /// Labels that mean nothing here.
        var unknownLabels: [String] = []
    }

    let name: Spanned<String>
    /// The type it stands in.
    let owner: String
    var head = DeclarationHead()
    var type: TypeExpression?
    var value: ValueExpression?
    /// nil without `@Persisted`.
    var persistence: Persistence?
    /// nil without `@Projected`.
    var projection: ProjectedPath?
    /// By an attribute of its own.
    var isObjc = false
    var isNonobjc = false
    /// The name of `@objc(name)`.
    var objcName: String?
    var isDynamic = false
    var isOverride = false
    var isConstant = false
    var isLazy = false
    var isStatic = false
    var isWeak = false
    var isComputed = false
    var hasObservers = false
    /// `private` or `fileprivate`, for reading or for writing alone.
    var isPrivate = false
    /// `private` or `fileprivate` for both.
    var isHidden = false
}

/// The key path of `@Projected`.
struct ProjectedPath {
    /// nil where it holds what no schema can, such as a subscript.
    let segments: [String]?
    let text: String
    let span: SourceSpan
}

/// All that one Swift file declares.
struct FileDeclarations {
    let source: SourceText
    /// In the order of the file, nested ones behind what is around them.
    var types: [TypeDeclaration] = []
    var aliases: [AliasDeclaration] = []
    /// Types that are called or named in expressions, such as `Dog` in `Dog()` and `Dog.self`.
    var usedNames: Set<String> = []
    /// Classes in the bodies of functions, with what they inherit.
    var localClasses: [(name: Spanned<String>, inherited: [TypeExpression])] = []
    var findings = FindingList()
}
