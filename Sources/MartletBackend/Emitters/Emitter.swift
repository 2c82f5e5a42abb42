import MartletSchema

/// The input of all emitters: the schema, the access level and the names of types.
struct EmitterContext {
    let schema: SchemaModel
    let access: Access
    let types: SwiftTypes
}

extension SourceWriter {
    /// Writes the documentation of a declaration, and then the attribute `@available` if the declaration is deprecated.
    mutating func heading(_ documentation: String?, deprecation: DeprecationModel? = nil) {
        for text in Documentation.lines(documentation ?? "") { line(text) }
        guard let deprecation else { return }
        if let message = deprecation.message, !message.isEmpty {
            line("@available(*, deprecated, message: \(SwiftLiteral.string(message)))")
        } else {
            line("@available(*, deprecated)")
        }
    }

    /// Writes the documentation of a type. A deprecated type is marked in the documentation only. The attribute
    /// `@available` would cause warnings in the generated code that uses the type.
    mutating func typeHeading(_ documentation: String?, deprecation: DeprecationModel?) {
        var text = documentation ?? ""
        if let deprecation {
            text += (text.isEmpty ? "" : "\n\n") + "- Important: Deprecated."
            if let message = deprecation.message, !message.isEmpty { text += " " + message }
        }
        heading(text)
    }
}
