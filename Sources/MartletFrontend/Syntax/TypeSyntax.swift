import MartletSchema

/// A type expression as written.
struct TypeSyntax {
    enum Shape {
        case single
        case list
        case set
        case map
        /// With the property behind the dot.
        case linkingObjects(Spanned<String>)
    }

    let shape: Shape
    /// The type of the value, or of the elements.
    let name: Spanned<String>
    /// The `?` of the value, or of the elements.
    let optional: SourceSpan?
    /// The `?` behind a collection, which must not be.
    let outerOptional: SourceSpan?
    let span: SourceSpan

    var isSingle: Bool {
        if case .single = shape { true } else { false }
    }
}

/// A default as written.
struct LiteralSyntax {
    enum Form {
        /// In quotes; escapes are resolved.
        case quoted
        case bare
    }

    let form: Form
    let text: String
    let span: SourceSpan
    /// From the `=` to the end, or the whole `default:` value: what goes when the default goes.
    let removal: SourceSpan?
}
