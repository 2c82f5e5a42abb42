public import MartletSchema

/// A rule that finds one kind of breaking change.
protocol BreakingRule: Sendable {
    func changes(in schemas: SchemaPair) -> [BreakingChange]
}

/// Finds the differences between two versions of a schema that break data, code or queries of the older version.
public enum BreakingChanges {
    static let rules: [any BreakingRule] = [
        TypeChanges(), PropertyChanges(), EnumChanges(), UniquenessChanges(), OrderChanges(), KeyPathChanges(),
        ProjectionChanges(), IndexAndDeletionRuleChanges(), DefaultChanges(), RemovedRenames(),
        SyncChanges(),
    ]

    /// Compares two schemas. A file of the old schema and a file of the new schema must not have the same
    /// `SourceFileID`, because the diagnostics refer to both schemas.
    public static func between(_ old: SchemaModel, _ new: SchemaModel) -> [BreakingChange] {
        let schemas = SchemaPair(old: old, new: new)
        return rules.flatMap { $0.changes(in: schemas) }
    }
}
