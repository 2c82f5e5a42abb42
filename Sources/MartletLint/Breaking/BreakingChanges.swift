public import MartletSchema

/// A group of changes that are looked for together.
protocol BreakingRule: Sendable {
    func changes(in schemas: SchemaPair) -> [BreakingChange]
}

/// What of a schema breaks what the one before it allowed.
public enum BreakingChanges {
    static let rules: [any BreakingRule] = [
        TypeChanges(), PropertyChanges(), EnumChanges(), UniquenessChanges(), OrderChanges(), KeyPathChanges(),
        ProjectionChanges(), SearchChanges(), DefaultChanges(), ForgottenRenames(),
    ]

    /// Compares two schemas, whose files have different numbers; a pure function of them.
    public static func between(_ old: SchemaModel, _ new: SchemaModel) -> [BreakingChange] {
        let schemas = SchemaPair(old: old, new: new)
        return rules.flatMap { $0.changes(in: schemas) }
    }
}
