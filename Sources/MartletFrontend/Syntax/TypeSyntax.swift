import MartletSchema

/// A type expression as written.
struct TypeSyntax {
    enum Shape {
        case single
        case list
        case set
        case map
        /// Linking objects, with the property after the dot.
        case linkingObjects(Spanned<String>)
    }

    let shape: Shape
    /// The name of the type of the value, or of the elements.
    let name: Spanned<String>
    /// The `?` of the value, or of the elements.
    let optional: SourceSpan?
    /// The `?` after a collection, which is invalid.
    let outerOptional: SourceSpan?
    let span: SourceSpan

    var isSingle: Bool {
        if case .single = shape { true } else { false }
    }
}

/// A default as written.
struct LiteralSyntax {
    enum Form {
        /// Quoted text with its escapes resolved.
        case quoted
        case bare
    }

    let form: Form
    let text: String
    let span: SourceSpan
    /// The range to delete if the default is removed: from the `=` to the end, or the whole `default:` entry.
    let removal: SourceSpan?
}
