import MartletSchema

/// A deprecation, such as `@available(*, deprecated, message: "…")`.
struct Deprecation: Hashable {
    let message: String?
}

/// Documentation and attributes of a declaration.
struct DeclarationHead {
    var documentation: [String] = []
    var deprecation: Deprecation?
    /// Attributes that neither Swift nor Realm defines, such as other property wrappers and macros.
    var foreignAttributes: [Spanned<String>] = []
}

/// A class, enum, struct, protocol or extension, with the relevant members.
struct TypeDeclaration {
    enum Kind: Equatable {
        case classType
        case enumeration
        case structure
        case protocolType
        case extensionOf
    }

    let kind: Kind
    /// The qualified name, such as `Dog.Size`.
    let name: Spanned<String>
    var head = DeclarationHead()
    var inherited: [Spanned<TypeExpression>] = []
    var isGeneric = false
    /// Whether the type has the attribute `@objcMembers`.
    var hasObjcMembers = false
    /// Whether the type has the attribute `@objc`, with or without a name.
    var isObjc = false
    /// The name in Objective-C that `@objc(Name)` declares.
    var objcName: Spanned<String>?
    var properties: [PropertyDeclaration] = []
    var cases: [CaseDeclaration] = []
    var customizations: [Customization] = []
    /// The methods and other members that stay in Swift.
    var kept: [SwiftOnlyMember] = []
    var aliases: [AliasDeclaration] = []
    /// The qualified names of the types in its body.
    var nested: [Spanned<String>] = []

    /// The components of the qualified name. Type names in the declaration are looked up in this scope first.
    var scope: [String] { name.value.split(separator: ".").map(String.init) }
    var lastName: String { scope.last ?? name.value }
}

/// An override of a Realm method, such as `override static func primaryKey() -> String? { "id" }`.
struct Customization {
    let name: Spanned<String>
    /// The returned value; nil if the body is not a single expression.
    let value: ValueExpression?
}

/// Code that a schema cannot contain and that can move to an extension.
struct SwiftOnlyMember {
    /// A description for messages, such as `method 'bark()'`.
    let what: String
    let span: SourceSpan
}

struct AliasDeclaration {
    /// The qualified name.
    let name: Spanned<String>
    /// The parameters of a generic alias.
    let parameters: [String]
    let target: TypeExpression
}

struct CaseDeclaration {
    let name: Spanned<String>
    let value: ValueExpression?
    let hasAssociatedValues: Bool
    let head: DeclarationHead
}
