import MartletEngine
import MartletSyncProtocol
import MartletValues

/// The rule `read` of a type: the condition that selects the objects that a user may receive.
///
/// A comparison with a claim that is missing or has another type is unknown: neither the comparison nor its negation
/// holds. All negations are first moved inward to the comparisons, so that each unknown comparison can be replaced by
/// false. The policies that `martlet postgres` writes use the same method.
struct ReadRule: Sendable {
    private let rule: RuleSyntax
    private let type: Int
    private let schema: AgreedSchema

    /// - Parameters:
    ///   - text: the canonical text of the rule, from the schema facts.
    ///   - isSynchronized: returns whether the service knows the values of the property with this number.
    /// - Throws: `SyncSchemaError` if the service cannot evaluate the rule.
    init(
        _ text: String, type: Int, in schema: AgreedSchema, isSynchronized: (Int) -> Bool
    ) throws(SyncSchemaError) {
        self.type = type
        self.schema = schema
        let name = schema.types[type].name
        do throws(SyncSchemaError) {
            rule = try RuleParser.rule(text)
        } catch {
            throw SyncSchemaError("the rule 'read' of '\(name)': \(error)")
        }
        for path in rule.paths {
            guard let operand = try? operand(path), isSynchronized(operand.path.first) else {
                throw SyncSchemaError(
                    "the rule 'read' of '\(name)' compares '\(path.text)', which is not synchronized; compare another property"
                )
            }
        }
    }

    /// The condition of the rule for a user with these claims.
    func condition(_ claims: UserClaims) throws -> SubscriptionCondition {
        let predicate = try predicate(rule, isNegated: false, claims)
        return try ConditionBuilder(type: type, schema: schema) { _, _ in nil }.condition(predicate)
    }

    // Resolves a path. `ConditionBuilder` resolves paths only inside conditions, so this function builds a comparison
    // of the path with nil.
    private func operand(_ path: PropertyPath) throws -> ConditionOperand {
        let builder = ConditionBuilder(type: type, schema: schema) { _, _ in nil }
        let isNil = Predicate.comparison(.path(path), .equal, .value(.null))
        guard case .test(.isNil(let operand), _) = try builder.condition(isNil) else {
            throw SyncSchemaError("'\(path.text)' is a collection")
        }
        return operand
    }

    // MARK: Conditions

    private func predicate(_ rule: RuleSyntax, isNegated: Bool, _ claims: UserClaims) throws -> Predicate {
        switch rule {
        case .constant(let value): return .constant(value != isNegated)
        case .not(let part): return try predicate(part, isNegated: !isNegated, claims)
        case .and(let parts):
            let predicates = try parts.map { try predicate($0, isNegated: isNegated, claims) }
            return isNegated ? .or(predicates) : .and(predicates)
        case .or(let parts):
            let predicates = try parts.map { try predicate($0, isNegated: isNegated, claims) }
            return isNegated ? .and(predicates) : .or(predicates)
        case .comparison(let left, let comparison, let right):
            return try self.comparison(left, comparison, right, isNegated: isNegated, claims)
        case .oneOf(.claim(let names), let values) where values.isEmpty && claims[names] == nil:
            // There is no comparison that tests whether the user has the claim.
            return .constant(false)
        case .oneOf(let operand, let values):
            let parts = try values.map { try comparison(operand, .equal, $0, isNegated: isNegated, claims) }
            return isNegated ? .and(parts) : .or(parts)
        case .contained(let operand, let names):
            guard let list = claims[names]?.list else { return .constant(false) }
            return try contained(operand, list, isNegated: isNegated)
        }
    }

    private func comparison(
        _ left: RuleSyntax.Operand, _ comparison: Predicate.Comparison, _ right: RuleSyntax.Operand, isNegated: Bool,
        _ claims: UserClaims
    ) throws -> Predicate {
        switch (left, right) {
        case (.path(let path), .path(let other)):
            return Self.predicate(.path(path), comparison, .path(other), isNegated: isNegated)
        case (.path(let path), _):
            // `value` returns nil for a claim that is missing or has another type. The comparison is then unknown.
            guard let value = try value(right, as: operand(path).kind, claims) else { return .constant(false) }
            return Self.predicate(.path(path), comparison, .value(value), isNegated: isNegated)
        case (_, .path): return try self.comparison(right, comparison.flipped, left, isNegated: isNegated, claims)
        case (.claim(let names), .null):
            return .constant(((claims[names] == nil) == (comparison == .equal)) != isNegated)
        default:
            guard let left = constant(left, claims), let right = constant(right, claims),
                let holds = left.holds(comparison, right)
            else { return .constant(false) }
            return .constant(holds != isNegated)
        }
    }

    private static func predicate(
        _ left: Predicate.Operand, _ comparison: Predicate.Comparison, _ right: Predicate.Operand, isNegated: Bool
    ) -> Predicate {
        switch comparison {
        case .equal: .comparison(left, isNegated ? .notEqual : .equal, right)
        case .notEqual: .comparison(left, isNegated ? .equal : .notEqual, right)
        default: isNegated ? .not(.comparison(left, comparison, right)) : .comparison(left, comparison, right)
        }
    }

    private func contained(
        _ operand: RuleSyntax.Operand, _ list: [ClaimValue], isNegated: Bool
    ) throws -> Predicate {
        guard case .path(let path) = operand else {
            guard let constant = Self.constant(operand) else { return .constant(false) }
            return .constant(list.contains { $0.holds(.equal, constant) == true } != isNegated)
        }
        let kind = try self.operand(path).kind
        let predicate = Predicate.contained(.path(path), list.compactMap { $0.value(as: kind, isExact: true) })
        return isNegated ? .not(predicate) : predicate
    }

    // MARK: Values

    private func value(
        _ operand: RuleSyntax.Operand, as kind: ConditionKind, _ claims: UserClaims
    ) throws -> SQLValue? {
        switch operand {
        case .claim(let names): return claims[names]?.value(as: kind)
        case .null: return .null
        case .bool(let value): return .integer(value ? 1 : 0)
        case .number(let text):
            if let number = Int64(text) { return .integer(number) }
            guard let number = DecimalNumber(text) else { throw SyncSchemaError("'\(text)' is not a number") }
            return .blob(number.bytes)
        case .text(let text): return .text(text)
        case .uuid(let bytes), .objectId(let bytes): return .blob(bytes)
        case .path: return nil
        }
    }

    private func constant(_ operand: RuleSyntax.Operand, _ claims: UserClaims) -> ClaimValue? {
        if case .claim(let names) = operand { return claims[names] }
        return Self.constant(operand)
    }

    // Converts a literal to the JSON value that is compared with a claim. UUIDs and ObjectIds become texts in lower
    // case.
    private static func constant(_ operand: RuleSyntax.Operand) -> ClaimValue? {
        switch operand {
        case .bool(let value): .bool(value)
        case .number(let text): Int64(text).map { .integer($0) } ?? Double(text).map { .real($0) }
        case .text(let text): .text(text)
        case .objectId(let bytes): .text(hexadecimal(bytes))
        case .uuid(let bytes):
            .text(
                [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { hexadecimal(Array(bytes[$0])) }.joined(separator: "-"))
        case .null, .claim, .path: nil
        }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension ClaimValue {
    /// Whether the comparison of two values holds. Nil if the values cannot be compared, because they have different
    /// types or because their type has no order.
    fileprivate func holds(_ comparison: Predicate.Comparison, _ other: ClaimValue) -> Bool? {
        let order: Int
        switch (self, other) {
        case (.bool(let left), .bool(let right)) where !comparison.isOrder: order = left == right ? 0 : 1
        case (.text(let left), .text(let right)):
            // Texts are compared by code points, as in PostgreSQL with the collation "C".
            order =
                left.unicodeScalars.elementsEqual(right.unicodeScalars)
                ? 0 : left.unicodeScalars.lexicographicallyPrecedes(right.unicodeScalars) ? -1 : 1
        default:
            guard let left = sqlNumber, let right = other.sqlNumber else { return nil }
            order = ValueOrder.compare(left, right)
        }
        return switch comparison {
        case .equal: order == 0
        case .notEqual: order != 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        }
    }
}

extension ClaimValue {
    private var sqlNumber: SQLValue? {
        switch self {
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        default: nil
        }
    }
}

extension SyncSchema {
    /// The rules `read` of the types that have one, by the numbers of the types.
    ///
    /// - Throws: if the service cannot evaluate a rule.
    func readRules(_ tables: [Int: SyncTable]) throws(SyncSchemaError) -> [Int: ReadRule] {
        var rules: [Int: ReadRule] = [:]
        for (number, table) in tables {
            guard let rule = types[number].rule(.read) else { continue }
            rules[number] = try ReadRule(rule.text, type: number, in: agreed) { table.position(of: $0) != nil }
        }
        return rules
    }

    /// True if PostgreSQL has to check rules for uploads and for new subscriptions.
    var hasRules: Bool {
        types.contains { type in !type.rules.isEmpty || type.properties.contains { $0.writeRule != nil } }
    }
}

extension Predicate.Comparison {
    fileprivate var isOrder: Bool { self != .equal && self != .notEqual }
}
