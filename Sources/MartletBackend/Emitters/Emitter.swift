import MartletSchema

/// What every emitter knows: the schema, and how the access level and the types are written.
struct EmitterContext {
    let schema: SchemaModel
    let access: Access
    let types: SwiftTypes
}

extension SourceWriter {
    /// Documentation from the schema, then the attribute of a deprecation.
    mutating func heading(_ documentation: String?, deprecation: DeprecationModel? = nil) {
        for text in Documentation.lines(documentation ?? "") { line(text) }
        guard let deprecation else { return }
        if let message = deprecation.message, !message.isEmpty {
            line("@available(*, deprecated, message: \(SwiftLiteral.string(message)))")
        } else {
            line("@available(*, deprecated)")
        }
    }

    /// Documentation of a type. A type that is deprecated says so in words: the attribute would warn wherever generated
    /// code names it.
    mutating func typeHeading(_ documentation: String?, deprecation: DeprecationModel?) {
        var text = documentation ?? ""
        if let deprecation {
            text += (text.isEmpty ? "" : "\n\n") + "- Important: Deprecated."
            if let message = deprecation.message, !message.isEmpty { text += " " + message }
        }
        heading(text)
    }
}
