public import MartletCompiler
import MartletFrontend
import MartletLint
public import MartletSchema
import MartletTables

/// The result of writing a migration: SQL that changes the tables of an old schema into the tables of a new schema.
public struct SchemaMigration: Sendable {
    /// The SQL of a migration, in one part or in two. A part is nil if it changes nothing.
    public enum Text: Sendable {
        case one(String?)
        /// `expand` must run before any program uses the new schema. `contract` must run after the last program has
        /// stopped using the old schema.
        case two(expand: String?, contract: String?)
    }

    /// The SQL. nil if one of the schemas has errors, or if the migration is impossible or refused.
    public let text: Text?
    /// The errors of the new schema. If the migration is refused because it would lose data, these are the schema
    /// changes that affect data.
    public let diagnostics: [Diagnostic]
    /// The errors of the old schema.
    public let oldErrors: [Diagnostic]
    /// Messages that say why the migration is impossible. If the migration is refused because it would lose data, the
    /// messages describe this data.
    public let problems: [String]
    /// The files to which the diagnostics refer.
    public let sources: [SourceText]
}

extension Compiler {
    /// Writes the migration of the tables of a schema for PostgreSQL.
    ///
    /// - Parameter losingData: whether the migration may lose data. A migration that loses data has two parts.
    public static func migration(
        _ new: SchemaInput, from old: SchemaInput, losingData: Bool = false
    ) -> SchemaMigration {
        let comparison = compare(new, with: old, failingFrom: .data)
        func refused(_ diagnostics: [Diagnostic], _ problems: [String] = []) -> SchemaMigration {
            SchemaMigration(
                text: nil, diagnostics: diagnostics, oldErrors: comparison.oldErrors, problems: problems,
                sources: comparison.sources)
        }
        let current = check(new)
        // The tables of the old schema depend only on its schema files. So mistakes in its configuration, and equal
        // names of its output files, do not prevent a migration. The errors of the schema files are in `oldErrors`.
        guard let model = current.model, let former = Frontend.analyze(old.sources).model else {
            return refused(current.diagnostics.filter(\.isError))
        }
        let successors = SchemaSuccessors(from: former, to: model)
        let migration = TableMigration(
            from: former, to: model, names: SchemaNames(types: successors.types, properties: successors.properties))
        let builder = TableBuilder(model)
        // If the old schema has problems, its tables were never created. The result then creates all tables of the new
        // schema.
        guard TableBuilder(former).problems().isEmpty else {
            return builder.problems().isEmpty
                ? accepted(.one(DDLWriter.text(builder.tables())), comparison) : refused([], builder.problems())
        }
        let problems = builder.problems() + migration.problems
        guard problems.isEmpty else { return refused([], problems) }
        let losses = migration.losses
        guard !losses.isEmpty else { return accepted(.one(migration.text), comparison) }
        guard losingData else { return refused(comparison.diagnostics.filter(\.isError), losses) }
        let parts = migration.parts
        return accepted(.two(expand: parts.expand, contract: parts.contract), comparison)
    }

    private static func accepted(_ text: SchemaMigration.Text, _ comparison: Comparison) -> SchemaMigration {
        SchemaMigration(text: text, diagnostics: [], oldErrors: [], problems: [], sources: comparison.sources)
    }
}
