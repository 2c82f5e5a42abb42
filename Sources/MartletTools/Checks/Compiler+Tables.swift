public import MartletCompiler
import MartletSchema
import MartletTables

/// The result of writing the SQL for the tables of a schema.
public struct SchemaTables: Sendable {
    /// The SQL statements. Its `text` is nil if the schema has errors.
    public let document: SchemaDocument
    /// Messages for the author of the schema. They say why the tables of the schema cannot be created correctly.
    public let problems: [String]
}

extension Compiler {
    /// Writes the SQL that creates the tables of a schema in PostgreSQL.
    public static func tables(_ input: SchemaInput) -> SchemaTables {
        let compilation = check(input)
        let builder = compilation.model.map(TableBuilder.init)
        let names = compilation.model.map { $0.files.flatMap(\.declarations).map(\.name) } ?? []
        let document = SchemaDocument(
            text: builder.map { DDLWriter.text($0.tables()) }, typeNames: Set(names),
            diagnostics: compilation.diagnostics.filter(\.isError))
        return SchemaTables(document: document, problems: builder?.problems() ?? [])
    }
}
