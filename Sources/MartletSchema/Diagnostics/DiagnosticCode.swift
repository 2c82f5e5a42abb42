/// The stable name of a kind of diagnostic. The lowest module declares all codes, so that a compiler stage can use a
/// code without importing another stage.
public enum DiagnosticCode: String, Hashable, Comparable, CaseIterable, Sendable {
    case noSchema = "MRT0001"
    case limitExceeded = "MRT0002"
    case uselessIgnore = "MRT0003"
    case badConfiguration = "MRT0004"
    case outdatedOutput = "MRT0005"
    case mergeConflict = "MRT0006"
    case yamlSubset = "MRT0101"
    case duplicateKey = "MRT0102"
    case yamlMistake = "MRT0103"
    case ambiguousScalar = "MRT0104"
    case unknownKey = "MRT0201"
    case wrongShape = "MRT0202"
    case unknownType = "MRT0203"
    case duplicateType = "MRT0204"
    case unknownName = "MRT0205"
    case badLinkingObjects = "MRT0206"
    case badDefault = "MRT0301"
    case badOptionality = "MRT0302"
    case badPrimaryKey = "MRT0303"
    /// An embedded type whose nesting is infinite (an error), or that no object type contains (a warning).
    case embedding = "MRT0304"
    case badIndex = "MRT0305"
    case namingCase = "MRT0401"
    case reservedName = "MRT0402"
    case plurality = "MRT0403"
    case noPrimaryKey = "MRT0501"
    case indexCost = "MRT0502"
    case tooWide = "MRT0503"
    case missingDocumentation = "MRT0504"
    /// An enum that no property uses, or a cycle of cascading deletions.
    case unusedOrCyclic = "MRT0505"
    case breakingChange = "MRT0601"
    case staleRename = "MRT0602"
    case deprecation = "MRT0603"
    case badRule = "MRT0701"
    case badSync = "MRT0702"
    case unsynchronizedLink = "MRT0703"
    case databaseName = "MRT0704"
    case lostPrecision = "MRT0705"

    /// The default severity of diagnostics with this code.
    public var severity: Severity {
        switch self {
        case .plurality, .indexCost, .missingDocumentation, .lostPrecision: .note
        case .uselessIgnore, .badIndex, .namingCase, .noPrimaryKey, .tooWide, .unusedOrCyclic,
            .staleRename, .deprecation, .databaseName:
            .warning
        default: .error
        }
    }

    /// Whether the configuration can silence diagnostics with this code. A `martlet:ignore` comment can silence them
    /// too if a lint rule reports them. Diagnostics with the code `embedding` can be errors or warnings, and only the
    /// warnings can be silenced.
    public var canBeSilenced: Bool { severity != .error || self == .embedding }

    public static func < (left: DiagnosticCode, right: DiagnosticCode) -> Bool {
        left.rawValue < right.rawValue
    }
}
