public import MartletReference
public import MartletSchema

/// What was drawn or written about a schema for people to read.
public struct Reference: Sendable {
    /// nil when the schema has errors.
    public let text: String?
    /// What the schema declares; empty when it has errors.
    public let typeNames: Set<String>
    /// The errors of the schema.
    public let diagnostics: [Diagnostic]
}

extension Compiler {
    /// Draws a schema.
    ///
    /// - Parameter options: names of types that the schema does not have are passed over.
    public static func diagram(
        _ input: SchemaInput, as format: DiagramFormat, options: DiagramOptions = DiagramOptions()
    ) -> Reference {
        reference(input) { Diagram.text(of: $0, as: format, options: options) }
    }

    /// Writes the page that describes a schema.
    public static func page(_ input: SchemaInput, title: String) -> Reference {
        reference(input) { ReferencePage.html(of: $0, title: title) }
    }

    private static func reference(_ input: SchemaInput, write: (SchemaModel) -> String) -> Reference {
        let compilation = lint(input, options: CompilerOptions(isLinting: false))
        let names = compilation.model.map { $0.files.flatMap(\.declarations).map(\.name) } ?? []
        return Reference(
            text: compilation.model.map(write), typeNames: Set(names),
            diagnostics: compilation.diagnostics.filter(\.isError))
    }
}
