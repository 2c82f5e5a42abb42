import MartletSchema

/// `@available(*, deprecated, message: "…")`.
struct Deprecation: Hashable {
    let message: String?
}

/// What stands around any declaration.
struct DeclarationHead {
    var documentation: [String] = []
    var deprecation: Deprecation?
    /// Attributes that neither Swift nor Realm knows: property wrappers and macros of others.
    var foreignAttributes: [Spanned<String>] = []
}

/// A class, enum, struct, protocol or extension with what matters of its body.
struct TypeDeclaration {
    enum Kind: Equatable {
        case classType
        case enumeration
        case structure
        case protocolType
        case extensionOf
    }

    let kind: Kind
    /// `Dog.Size`: what is around it in front, with dots between.
    let name: Spanned<String>
    var head = DeclarationHead()
    var inherited: [Spanned<TypeExpression>] = []
    var isGeneric = false
    /// `@objcMembers`.
    var hasObjcMembers = false
    /// `@objc`, with or without a name.
    var isObjc = false
    /// The name of `@objc(Name)`.
    var objcName: Spanned<String>?
    var properties: [PropertyDeclaration] = []
    var cases: [CaseDeclaration] = []
    var customizations: [Customization] = []
    var kept: [KeptMember] = []
    var aliases: [AliasDeclaration] = []
    /// The types in its body, by their whole names.
    var nested: [Spanned<String>] = []

    /// The names around it and its own: where the types are looked up that it names.
    var scope: [String] { name.value.split(separator: ".").map(String.init) }
    var lastName: String { scope.last ?? name.value }
}

/// `override static func primaryKey() -> String? { "id" }` and its relatives.
struct Customization {
    let name: Spanned<String>
    /// What it returns; nil where that is more than one literal.
    let value: ValueExpression?
}

/// Code that no schema holds, and that people keep in an extension.
struct KeptMember {
    /// `method 'bark()'`.
    let what: String
    let span: SourceSpan
}

struct AliasDeclaration {
    /// With what is around it.
    let name: Spanned<String>
    /// Those of a generic alias.
    let parameters: [String]
    let target: TypeExpression
}

struct CaseDeclaration {
    let name: Spanned<String>
    let value: ValueExpression?
    let hasAssociatedValues: Bool
    let head: DeclarationHead
}
