import MartletSchema

/// A type expression as it is written in a schema file.
struct TypeSyntax {
    enum Shape {
        case single
        case list
        case set
        case map
        /// Linking objects, with the name of the property after the dot.
        case linkingObjects(Spanned<String>)
    }

    let shape: Shape
    /// The type name of the value. For a collection, the type name of its elements.
    let name: Spanned<String>
    /// The range of the `?` after `name`; nil if there is none.
    let optional: SourceSpan?
    /// The range of a `?` after a collection. Such a `?` is invalid, because a collection is never optional.
    let outerOptional: SourceSpan?
    let span: SourceSpan

    var isSingle: Bool {
        if case .single = shape { true } else { false }
    }
}

/// A default as it is written in a schema file.
struct LiteralSyntax {
    enum Form {
        /// Quoted text with its escapes resolved.
        case quoted
        case bare
    }

    let form: Form
    let text: String
    let span: SourceSpan
    /// The range to delete if the default is removed. It begins with the blanks before the `=` and ends with the
    /// scalar. For the key `default:`, it is the whole entry. nil if the entry cannot be deleted as one range.
    let removal: SourceSpan?
}
