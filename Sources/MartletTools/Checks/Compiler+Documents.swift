import MartletBackend
public import MartletCompiler
public import MartletDocs
public import MartletSchema

/// A diagram or a documentation page of a schema.
public struct SchemaDocument: Sendable {
    /// The text of the diagram or page; nil if the schema has errors.
    public let text: String?
    /// The names of the declared types; empty if the schema has errors.
    public let typeNames: Set<String>
    /// The errors of the schema.
    public let diagnostics: [Diagnostic]
}

extension Compiler {
    /// Draws a diagram of a schema.
    ///
    /// - Parameter options: the options of the diagram. Names of undeclared types in them are ignored.
    public static func diagram(
        _ input: SchemaInput, as format: DiagramFormat, options: DiagramOptions = DiagramOptions()
    ) -> SchemaDocument {
        document(input) { Diagram.text(of: $0, as: format, options: options) }
    }

    /// Writes the documentation page of a schema.
    public static func page(_ input: SchemaInput, title: String) -> SchemaDocument {
        document(input) { ReferencePage.html(of: $0, title: title) }
    }

    /// Writes the facts of all object types and embedded types of a schema, separated by empty lines.
    public static func facts(_ input: SchemaInput) -> SchemaDocument { document(input, write: Backend.facts) }

    private static func document(_ input: SchemaInput, write: (SchemaModel) -> String) -> SchemaDocument {
        let compilation = check(input)
        let names = compilation.model.map { $0.files.flatMap(\.declarations).map(\.name) } ?? []
        return SchemaDocument(
            text: compilation.model.map(write), typeNames: Set(names),
            diagnostics: compilation.diagnostics.filter(\.isError))
    }
}
