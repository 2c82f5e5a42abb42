import MartletSchema

/// Translates rules to SQL conditions for PostgreSQL.
///
/// A condition is true in SQL if and only if the rule holds. Otherwise it is false or NULL, which row level security
/// treats alike. Rules are first converted to negation normal form, in which only comparisons and `IN` are negated. The
/// SQL of a negated comparison also requires that its claims are not NULL. It is therefore not true for a user who does
/// not have a claim.
struct RuleSQL {
    let types: ColumnTypes
    /// The prefix of column names: the name of a table or record, followed by a dot. Empty if the names need no prefix.
    var qualifier = ""

    /// The claims of the user as JSON. `NULLIF` is necessary because PostgreSQL returns an empty text after the end of
    /// a transaction that has set the claims.
    static let claims = "NULLIF(current_setting('martlet.user', true), '')::jsonb"

    func condition(_ condition: RuleCondition) -> String { text(condition.inNegationNormalForm) }

    private func text(_ condition: RuleCondition) -> String {
        switch condition {
        case .constant(let value): value ? "true" : "false"
        case .and(let parts): parts.map(nested).joined(separator: " AND ")
        case .or(let parts): parts.map(nested).joined(separator: " OR ")
        case .comparison(let left, let relation, let right): comparison(left, relation, right, isNegated: false)
        case .oneOf(let operand, let values): oneOf(operand, values, isNegated: false)
        case .contained(let operand, let claim): contained(operand, claim, isNegated: false)
        case .not(.comparison(let left, let relation, let right)): comparison(left, relation, right, isNegated: true)
        case .not(.oneOf(let operand, let values)): oneOf(operand, values, isNegated: true)
        case .not(.contained(let operand, let claim)): contained(operand, claim, isNegated: true)
        // This case cannot occur, because the negation normal form contains no other negations.
        case .not: "false"
        }
    }

    private func nested(_ condition: RuleCondition) -> String { "(\(text(condition)))" }

    // MARK: Comparisons

    private func comparison(
        _ left: RuleOperand, _ relation: RuleRelation, _ right: RuleOperand, isNegated: Bool
    ) -> String {
        if case .literal(.null) = right { return nullTest(left, relation) }
        let type = type(of: left, right)
        let (first, second) = (sql(left, type), sql(right, type))
        // A missing claim is NULL. `IS DISTINCT FROM` and `IS NOT TRUE` would then return true, although the comparison
        // is unknown. The guards prevent this.
        let known = [left, right].filter(\.isClaim).map { "\(sql($0, type)) IS NOT NULL" }
        let guards = known.isEmpty ? "" : " AND " + known.joined(separator: " AND ")
        switch relation {
        case .equal:
            return equality(left, first, second, right)
        case .notEqual: return "\(first) IS DISTINCT FROM \(second)\(guards)"
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            let order = "\(first) \(relation.rawValue) \(second)\(nanGuard(left, relation, first))"
            return isNegated ? "(\(order)) IS NOT TRUE\(guards)" : order
        }
    }

    // If two properties are both nil, they are equal in a rule, but `=` would return NULL.
    private func equality(_ left: RuleOperand, _ first: String, _ second: String, _ right: RuleOperand) -> String {
        let isBothNil = left.path?.isOptional == true && right.path?.isOptional == true
        return isBothNil ? "\(first) IS NOT DISTINCT FROM \(second)" : "\(first) = \(second)"
    }

    // In PostgreSQL, NaN is greater than all numbers. In rules, `<`, `<=`, `>` and `>=` are false for NaN.
    private func nanGuard(_ operand: RuleOperand, _ relation: RuleRelation, _ sql: String) -> String {
        guard relation == .greater || relation == .greaterOrEqual, let path = operand.path else { return "" }
        switch path.value {
        case .scalar(.float), .scalar(.double), .scalar(.decimal128): return " AND \(sql) <> 'NaN'"
        default: return ""
        }
    }

    private func nullTest(_ operand: RuleOperand, _ relation: RuleRelation) -> String {
        let test = relation == .equal ? "IS NULL" : "IS NOT NULL"
        switch operand {
        case .claim(let claim): return "\(Self.value(of: claim, as: .any)) \(test)"
        case .property, .literal: return "\(sql(operand, .any)) \(test)"
        }
    }

    private func oneOf(_ operand: RuleOperand, _ values: [RuleOperand], isNegated: Bool) -> String {
        guard !values.isEmpty else {
            guard isNegated else { return "false" }
            // There is no comparison that tests whether the user has the claim.
            return operand.isClaim ? nullTest(operand, .notEqual) : "true"
        }
        let parts = values.map { comparison(operand, isNegated ? .notEqual : .equal, $0, isNegated: false) }
        return parts.map { "(\($0))" }.joined(separator: isNegated ? " AND " : " OR ")
    }

    private func contained(_ operand: RuleOperand, _ claim: RuleClaim, isNegated: Bool) -> String {
        let list = Self.value(of: claim, as: .list)
        let type = type(of: operand, operand)
        let element =
            switch type {
            case .objectId: "to_jsonb(encode(\(sql(operand, type)), 'hex'))"
            case .text: "to_jsonb((\(sql(operand, type)))::text)"
            default: "to_jsonb(\(sql(operand, type)))"
            }
        let test = "\(list) @> \(element)"
        return isNegated ? "(\(test)) IS NOT TRUE AND \(list) IS NOT NULL" : test
    }

    // MARK: Operands

    /// The types to which members of JSON values are converted.
    private enum ValueType {
        case bool
        /// A 64-bit integer.
        case integer
        case number
        case text
        case uuid
        case objectId
        /// A JSON array.
        case list
        /// No conversion. This case is used only for tests for NULL.
        case any
    }

    private func type(of left: RuleOperand, _ right: RuleOperand) -> ValueType {
        for operand in [left, right] {
            switch operand {
            case .property(let path): return Self.type(path.value)
            case .literal(.bool): return .bool
            case .literal(.integer), .literal(.number): return .number
            case .literal(.string): return .text
            case .literal, .claim: continue
            }
        }
        return .any
    }

    private static func type(_ value: ValueTypeModel) -> ValueType {
        switch value {
        case .scalar(.bool): .bool
        case .scalar(.string), .enumeration(_, raw: .string): .text
        case .scalar(.uuid): .uuid
        case .scalar(.objectId): .objectId
        case .scalar(.float), .scalar(.double), .scalar(.decimal128): .number
        case .scalar, .enumeration: .integer
        case .link, .embedded: .any
        }
    }

    private func sql(_ operand: RuleOperand, _ type: ValueType) -> String {
        switch operand {
        case .property(let path): sql(path, type)
        case .claim(let claim): Self.value(of: claim, as: type)
        case .literal(let literal): Self.sql(literal)
        }
    }

    private func sql(_ path: RulePath, _ type: ValueType) -> String {
        let column = qualifier + SQLName.quoted(SQLName.snakeCase(path.property))
        guard case .embedded(let members) = path.kind else { return column }
        return "(\(Self.value(in: column, members, as: type)))"
    }

    private static func sql(_ literal: RuleLiteral) -> String {
        switch literal {
        case .null: "NULL"
        case .bool(let value): "\(value)"
        case .integer(let value): value < 0 ? "(\(value))" : "\(value)"
        case .number(let text): text.hasPrefix("-") ? "(\(text))" : text
        case .string(let text): SQLName.literal(text)
        case .uuid(let bytes): "'\(RuleLiteral.uuidText(bytes))'::uuid"
        case .objectId(let bytes): SQLName.literal(bytes) + "::bytea"
        }
    }

    /// The SQL for the value of a claim. The SQL is a subquery that does not depend on the row, so PostgreSQL evaluates
    /// it once for each statement.
    private static func value(of claim: RuleClaim, as type: ValueType) -> String {
        "(SELECT \(value(in: "u", claim.names, as: type)) FROM (SELECT \(claims) AS u) AS c)"
    }

    /// The SQL for a member of a JSON value. The SQL returns NULL if the member is missing or has another type.
    private static func value(in json: String, _ names: [String], as type: ValueType) -> String {
        let steps = names.dropLast().map { " -> \(SQLName.literal($0))" }.joined()
        let last = SQLName.literal(names[names.count - 1])
        let (member, text) = ("\(json)\(steps) -> \(last)", "\(json)\(steps) ->> \(last)")
        // The SQL tests the JSON type before it converts the value, because a failed conversion would abort the whole
        // statement.
        func checked(_ typeName: String, _ value: String, where condition: String? = nil) -> String {
            let inner = condition.map { "CASE WHEN \($0) THEN \(value) END" } ?? value
            return "CASE WHEN jsonb_typeof(\(member)) = '\(typeName)' THEN \(inner) END"
        }
        return switch type {
        case .bool: checked("boolean", "(\(text))::boolean")
        case .integer:
            checked(
                "number", "(\(text))::numeric::bigint",
                where: "(\(text))::numeric BETWEEN -9223372036854775808 AND 9223372036854775807 "
                    + "AND (\(text))::numeric % 1 = 0")
        case .number: checked("number", "(\(text))::numeric")
        case .text: checked("string", "(\(text)) COLLATE \"C\"")
        case .uuid:
            checked(
                "string", "(\(text))::uuid",
                where: "\(text) ~* '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'")
        case .objectId: checked("string", "decode(\(text), 'hex')", where: "\(text) ~* '^[0-9a-f]{24}$'")
        case .list: checked("array", member)
        case .any: "CASE WHEN jsonb_typeof(\(member)) <> 'null' THEN \(member) END"
        }
    }
}

extension RuleOperand {
    fileprivate var isClaim: Bool {
        if case .claim = self { true } else { false }
    }
}
