/// The rules, listed by hand so that their order and number are plain to see.
public enum RuleRegistry {
    public static let rules: [any LintRule] = [
        UnusedEmbedded(), UselessIndex(), NamingCase(), Plurality(), NoPrimaryKey(), IndexCost(), TooWide(),
        MissingDocumentation(), Unreachable(), StaleRename(), Deprecations(),
    ]
}
