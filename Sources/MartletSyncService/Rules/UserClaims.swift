import MartletEngine
import MartletSyncProtocol
import MartletValues

/// The claims of a user. The values of claims are converted to the types of properties in the same way as in the
/// policies that `martlet postgres` writes.
struct UserClaims: Sendable {
    private let claims: ClaimValue

    /// - Parameter json: a JSON object. If the text is anything else, the user has no claims.
    init(_ json: String) { claims = ClaimValue(bytes: Array(json.utf8)) ?? .null }

    /// The value of the claim with this path; nil if the claim is missing or null.
    subscript(_ names: [String]) -> ClaimValue? {
        names.reduce(claims) { value, name in value?[name] }
    }
}

extension ClaimValue {
    /// The value, converted to the type of a property; nil if the claim has a value of another type.
    ///
    /// - Parameter isExact: whether UUIDs and ObjectIds must be in lower case, as in the list of a rule with `IN`.
    func value(as kind: ConditionKind, isExact: Bool = false) -> SQLValue? {
        switch (kind, self) {
        case (.bool, .bool(let value)): .integer(value ? 1 : 0)
        case (.integer, .integer(let number)): .integer(number)
        case (.integer, .real(let number)): Int64(exactly: number).map { .integer($0) }
        case (.floating, .integer), (.floating, .real), (.decimal, .integer), (.decimal, .real):
            decimal.map { .blob($0.bytes) }
        case (.text, .text(let text)): .text(text)
        case (.uuid, .text(let text)) where Self.isIdentifier(text, [8, 4, 4, 4, 12], isExact):
            RuleParser.bytes(text.filter { $0 != "-" }).map { .blob($0) }
        case (.objectId, .text(let text)) where Self.isIdentifier(text, [24], isExact):
            RuleParser.bytes(text).map { .blob($0) }
        default: nil
        }
    }

    var decimal: DecimalNumber? {
        switch self {
        case .integer(let number): DecimalNumber(.integer(number))
        case .real(let number): DecimalNumber(.real(number))
        default: nil
        }
    }

    private static func isIdentifier(_ text: String, _ lengths: [Int], _ isExact: Bool) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.utf8.count) == lengths
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 48...57, 97...102, 45: true
                case 65...70: !isExact
                default: false
                }
            }
    }
}
