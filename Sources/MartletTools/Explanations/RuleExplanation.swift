public import MartletSchema

/// The explanation of a diagnostic code, for an author who does not know the code.
///
/// `martlet explain`, `Documentation/Rules.md` and the help in SARIF reports are generated from these texts. Code is
/// written in single quotes, which become backquotes in Markdown. The texts contain no other apostrophe.
public struct RuleExplanation: Hashable, Sendable {
    public let code: DiagnosticCode
    /// The problem that diagnostics with this code report.
    public let problem: String
    /// Why the problem matters.
    public let reason: String
    public let example: RuleExample
    /// How the author can silence diagnostics with this code.
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

    /// The severity as text.
    public var severity: String {
        code == .embedding ? "error; warning if nothing uses the type" : code.severity.rawValue
    }
}

/// An example of the problem and of its fix.
public enum RuleExample: Hashable, Sendable {
    /// A schema file with the problem, and the same file without the problem.
    case schema(wrong: String, fixed: String)
    /// A `martlet.yaml` with the problem, and the same file without the problem.
    case configuration(wrong: String, fixed: String)
    /// No single file shows the problem. The associated value says how the problem occurs.
    case none(String)
}

extension DiagnosticCode {
    /// The explanation of the code. The exhaustive switch ensures that every code has an explanation.
    public var explanation: RuleExplanation {
        switch self {
        case .noSchema: .noSchema
        case .limitExceeded: .limitExceeded
        case .uselessIgnore: .uselessIgnore
        case .badConfiguration: .badConfiguration
        case .outdatedOutput: .outdatedOutput
        case .mergeConflict: .mergeConflict
        case .yamlSubset: .yamlSubset
        case .duplicateKey: .duplicateKey
        case .yamlMistake: .yamlMistake
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
        case .unusedOrCyclic: .unusedOrCyclic
        case .breakingChange: .breakingChange
        case .staleRename: .staleRename
        case .deprecation: .deprecation
        case .badRule: .badRule
        case .badSync: .badSync
        case .unsynchronizedLink: .unsynchronizedLink
        case .databaseName: .databaseName
        case .lostPrecision: .lostPrecision
        }
    }
}
