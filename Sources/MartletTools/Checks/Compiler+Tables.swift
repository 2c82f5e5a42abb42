public import MartletCompiler
import MartletSchema
import MartletTables

/// SQL for the tables of a schema.
public struct SchemaTables: Sendable {
    /// The statements. `text` is nil if the schema has errors.
    public let document: SchemaDocument
    /// The reasons why no correct tables can be created, as messages for the author of the schema.
    public let problems: [String]
}

extension Compiler {
    /// Writes the tables of a schema for PostgreSQL.
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
