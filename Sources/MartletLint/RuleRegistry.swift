/// All lint rules, in the order in which they run.
public enum RuleRegistry {
    public static let rules: [any LintRule] = [
        UnusedEmbedded(), BadIndex(), NamingCase(), Plurality(), NoPrimaryKey(), IndexCost(), TooWide(),
        MissingDocumentation(), UnusedEnumsAndCascadeCycles(), StaleRename(), Deprecations(), DatabaseNames(),
        LostPrecision(),
    ]
}
