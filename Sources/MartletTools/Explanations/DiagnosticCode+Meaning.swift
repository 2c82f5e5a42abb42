public import MartletSchema

extension DiagnosticCode {
    /// A one-line description of the problem.
    public var meaning: String {
        switch self {
        case .noSchema: "no schema was found"
        case .limitExceeded: "a limit of the schema language is exceeded"
        case .uselessIgnore: "a 'martlet:ignore' comment that silences nothing"
        case .badConfiguration: "the configuration file cannot be used"
        case .outdatedOutput: "a generated file differs from what the schema generates"
        case .mergeConflict: "an unresolved merge conflict"
        case .yamlSubset: "YAML outside the subset of the schema language"
        case .duplicateKey: "a key that occurs twice in one mapping"
        case .yamlMistake: "a common YAML mistake"
        case .ambiguousScalar: "a boolean or number in YAML 1.1 notation"
        case .unknownKey: "a key that is unknown at this level"
        case .wrongShape: "a value of the wrong shape, or a missing one"
        case .unknownType: "a type that does not exist"
        case .duplicateType: "a type that is declared twice"
        case .unknownName: "a key path, index, unique list, rule or linking objects with an unknown name"
        case .badLinkingObjects: "a linking-objects property that names a property which is not a link to this type"
        case .badDefault: "a default that does not fit its type"
        case .badOptionality: "an optional collection, a link that is not optional, or a type that is not allowed here"
        case .badPrimaryKey: "an invalid primary key"
        case .embedding: "embedded objects that contain themselves, or that nothing uses"
        case .badIndex: "an index that is not supported or already exists"
        case .namingCase: "a name in the wrong case for Swift"
        case .reservedName: "a name that generated code cannot use"
        case .plurality: "a collection with a singular name, or a link or type with a plural name"
        case .noPrimaryKey: "an object without a primary key"
        case .indexCost: "an index with little benefit, or too many indexes"
        case .tooWide: "too many properties, or a key path that is too long"
        case .missingDocumentation: "a type without documentation, or with documentation that repeats its name"
        case .unusedOrCyclic: "an enum that nothing uses, or a cycle of cascading links"
        case .breakingChange: "a change that breaks stored data or code"
        case .staleRename: "a 'renamedFrom' that is stale or impossible"
        case .deprecation: "a deprecation that does not say what to use, or a deprecated item that is still used"
        case .badRule: "a rule that cannot be parsed, or compares values of different types"
        case .badSync:
            "a synchronization key (such as 'sync', 'merge' or a rule) that is not allowed on this type or property"
        case .unsynchronizedLink: "a link of a synchronized type to a type that is not synchronized"
        case .databaseName: "names that are equal or too long in the database of the service"
        case .lostPrecision: "a type whose values lose precision in the database of the service"
        }
    }
}
