public import MartletSchema

/// The migration of the tables of an old schema to the tables of a new schema.
public struct TableMigration {
    private let pairs: TablePairs
    private let embedded: EmbeddedRenames
    private let names: SchemaNames
    /// Messages for the author of the schema about the changes that no migration can perform.
    public let problems: [String]

    public init(from old: SchemaModel, to new: SchemaModel, names: SchemaNames) {
        self.names = names
        pairs = TablePairs(TableBuilder(old).tables(), TableBuilder(new).tables(), names)
        embedded = EmbeddedRenames(old: old, new: new, names: names)
        problems = pairs.problems(new) + embedded.problems
    }

    /// Messages for the author of the schema about the data that the migration would lose, and about the new
    /// constraints that existing rows may violate.
    public var losses: [String] { pairs.losses() }

    /// The SQL of the migration in one transaction; nil if the migration changes nothing.
    public var text: String? {
        document(MigrationWriter(pairs, updates: embedded.statements()).statements())
    }

    /// The SQL of the migration in two parts, each in one transaction. `expand` adds the new items. It must run before
    /// any program uses the new schema. `contract` removes the old items. It must run when no program uses the old
    /// schema any more. A part is nil if it changes nothing.
    public var parts: (expand: String?, contract: String?) {
        let between = IntermediateTables(pairs: pairs).tables()
        let first = MigrationWriter(
            TablePairs(pairs.old, between, names.keepingRemoved), updates: embedded.statements()
        ).statements()
        let second = MigrationWriter(TablePairs(between, pairs.new, nil)).statements()
        return (document(first), document(second))
    }

    private func document(_ statements: [String]) -> String? {
        statements.isEmpty ? nil : DDLWriter.document(statements, createsRuleSchema: false)
    }
}
