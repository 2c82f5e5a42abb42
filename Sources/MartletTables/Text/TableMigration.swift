public import MartletSchema

/// The migration of the tables of one schema to those of another.
public struct TableMigration {
    private let pairs: TablePairs
    private let embedded: EmbeddedRenames
    private let names: SchemaNames
    /// The changes that no migration can perform, as messages for the author of the schema.
    public let problems: [String]

    public init(from old: SchemaModel, to new: SchemaModel, names: SchemaNames) {
        self.names = names
        pairs = TablePairs(TableBuilder(old).tables(), TableBuilder(new).tables(), names)
        embedded = EmbeddedRenames(old: old, new: new, names: names)
        problems = pairs.problems(new) + embedded.problems
    }

    /// The data that would be lost, as messages for the author of the schema.
    public var losses: [String] { pairs.losses() }

    /// The migration in one transaction; nil if nothing changes.
    public var text: String? {
        document(MigrationWriter(pairs, updates: embedded.statements()).statements())
    }

    /// The migration in two parts, each in one transaction. The first part adds what is new. Run it before any program
    /// uses the new schema. The second part removes what is old. Run it when no program uses the old schema any more. A
    /// part is nil if it changes nothing.
    public var parts: (expand: String?, contract: String?) {
        let between = IntermediateTables(pairs: pairs).tables()
        let first = MigrationWriter(
            TablePairs(pairs.old, between, names.keepingRemoved), updates: embedded.statements()
        ).statements()
        let second = MigrationWriter(TablePairs(between, pairs.new, nil)).statements()
        return (document(first), document(second))
    }

    private func document(_ statements: [String]) -> String? {
        statements.isEmpty ? nil : DDLWriter.document(statements, hasRules: false)
    }
}
