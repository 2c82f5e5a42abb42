/// What a rule is about, for an author who meets it for the first time.
///
/// The one source of `martlet explain`, of `Documentation/Rules.md` and of the help in SARIF reports. Things stand in
/// single quotes, which pages turn into code; the texts hold no other apostrophe.
public struct RuleExplanation: Hashable, Sendable {
    public let code: DiagnosticCode
    /// What is wrong.
    public let problem: String
    /// Why it matters.
    public let reason: String
    public let example: RuleExample
    /// What silences it.
    public let silencing: String

    init(
        _ code: DiagnosticCode, problem: String, reason: String, example: RuleExample, silencing: String? = nil
    ) {
        self.code = code
        self.problem = problem
        self.reason = reason
        self.example = example
        self.silencing = silencing ?? RuleExplanation.silencing(of: code)
    }

    private static func silencing(of code: DiagnosticCode) -> String {
        guard code.severity != .error else { return "not possible, since an error stops generation." }
        return """
            write '# martlet:ignore \(code.rawValue)' on the line above, or '\(code.rawValue): off' below 'lint:' and \
            'rules:' in 'martlet.yaml'.
            """
    }

    /// The severity, in words.
    public var severity: String {
        code == .embedding ? "error; warning where nothing uses the type" : code.severity.rawValue
    }
}

/// A mistake and its mend.
public enum RuleExample: Hashable, Sendable {
    /// Two texts of one schema file.
    case schema(wrong: String, mended: String)
    /// Two texts of `martlet.yaml`.
    case configuration(wrong: String, mended: String)
    /// No text of a schema shows the finding; the sentence says what does.
    case none(String)
}

extension DiagnosticCode {
    /// Every code has one: the switch sees to it.
    public var explanation: RuleExplanation {
        switch self {
        case .noSchema: .noSchema
        case .limitExceeded: .limitExceeded
        case .uselessIgnore: .uselessIgnore
        case .badConfiguration: .badConfiguration
        case .driftedOutput: .driftedOutput
        case .mergeConflict: .mergeConflict
        case .yamlSubset: .yamlSubset
        case .duplicateKey: .duplicateKey
        case .yamlTrap: .yamlTrap
        case .ambiguousScalar: .ambiguousScalar
        case .unknownKey: .unknownKey
        case .wrongShape: .wrongShape
        case .unknownType: .unknownType
        case .duplicateType: .duplicateType
        case .unknownName: .unknownName
        case .badLinkingObjects: .badLinkingObjects
        case .badDefault: .badDefault
        case .badOptionality: .badOptionality
        case .badPrimaryKey: .badPrimaryKey
        case .embedding: .embedding
        case .badIndex: .badIndex
        case .namingCase: .namingCase
        case .reservedName: .reservedName
        case .plurality: .plurality
        case .noPrimaryKey: .noPrimaryKey
        case .indexCost: .indexCost
        case .tooWide: .tooWide
        case .missingDocumentation: .missingDocumentation
        case .unreachable: .unreachable
        case .breakingChange: .breakingChange
        case .staleRename: .staleRename
        case .deprecation: .deprecation
        }
    }
}
