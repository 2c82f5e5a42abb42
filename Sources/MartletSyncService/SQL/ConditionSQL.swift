package import MartletEngine
package import MartletSyncProtocol
import MartletValues

/// A condition as SQL for PostgreSQL.
package struct PostgresFilter: Sendable, Equatable {
    /// An expression that is true for every row that satisfies the condition.
    package var sql: String
    /// The texts of the parameters, in their order. The SQL converts each text to the type of the parameter.
    package var parameters: [String]
    /// True if the expression is true only for rows that satisfy the condition. If false, the caller has to evaluate
    /// the condition for each row that the SQL selects.
    package var isExact: Bool
}

/// Writes conditions as SQL, for the tables that `martlet postgres` creates.
///
/// Two kinds of tests cannot be written as SQL: tests of values inside JSON (embedded objects and `AnyRealmValue`), and
/// comparisons of an integer property with a floating-point property. The SQL omits such a test, so it selects more
/// rows than the condition. All other tests are exact, including tests of nil and NaN, negated tests, and the test
/// whether a whole JSON column is nil. A negated test has the form `(…) IS NOT TRUE`, because SQL's `NOT` of an unknown
/// condition is unknown.
package struct ConditionSQL {
    private let type: ObjectTypeSchema
    private let alias: String
    /// The number of the first parameter; nil if the SQL contains the values as literals.
    private let firstParameter: Int?
    private var parameters: [String] = []

    /// - Parameters:
    ///   - alias: the alias of the table of the type in the query.
    ///   - firstParameter: the number of the first parameter.
    package static func filter(
        _ condition: SubscriptionCondition, type: ObjectTypeSchema, alias: String = "t", firstParameter: Int = 1
    ) -> PostgresFilter {
        var writer = ConditionSQL(type: type, alias: alias, firstParameter: firstParameter)
        let part = writer.part(condition)
        return PostgresFilter(sql: part.sql ?? "TRUE", parameters: writer.parameters, isExact: part.isExact)
    }

    /// An expression without parameters, for statements that cannot have parameters, such as COPY. It is true for every
    /// row that satisfies at least one of the conditions. Nil if SQL cannot exclude any row.
    package static func literal(
        _ conditions: [SubscriptionCondition], type: ObjectTypeSchema, alias: String = "t"
    ) -> String? {
        var writer = ConditionSQL(type: type, alias: alias, firstParameter: nil)
        var parts: [String] = []
        for condition in conditions {
            guard let sql = writer.part(condition).sql else { return nil }
            parts.append(sql)
        }
        return parts.isEmpty ? "FALSE" : parts.joined(separator: " OR ")
    }

    private init(type: ObjectTypeSchema, alias: String, firstParameter: Int?) {
        self.type = type
        self.alias = alias
        self.firstParameter = firstParameter
    }

    /// The SQL of a part of a condition.
    private struct Part {
        /// Nil if SQL cannot exclude any row.
        var sql: String?
        var isExact: Bool

        static let unknown = Part(sql: nil, isExact: false)
    }

    private mutating func part(_ condition: SubscriptionCondition) -> Part {
        switch condition {
        case .constant(let value): return Part(sql: value ? "TRUE" : "FALSE", isExact: true)
        case .all(let conditions):
            let parts = conditions.map { part($0) }
            let known = parts.compactMap(\.sql)
            return Part(
                sql: known.isEmpty ? nil : "(\(known.joined(separator: " AND ")))",
                isExact: parts.allSatisfy(\.isExact))
        case .any(let conditions):
            let parameterCount = parameters.count
            let parts = conditions.map { part($0) }
            let known = parts.compactMap(\.sql)
            guard known.count == parts.count else {
                // The SQL omits these conditions, and PostgreSQL refuses parameters that the SQL does not contain.
                parameters.removeSubrange(parameterCount...)
                return .unknown
            }
            return Part(sql: "(\(known.joined(separator: " OR ")))", isExact: parts.allSatisfy(\.isExact))
        case .test(let test, let isNegated):
            guard let sql = sql(test) else { return .unknown }
            return Part(sql: isNegated ? "(\(sql)) IS NOT TRUE" : "(\(sql))", isExact: true)
        }
    }

    private mutating func bind(_ text: String, _ type: String) -> String {
        guard let firstParameter else { return "\(PostgresLiteral.quoted(text))::\(type)" }
        parameters.append(text)
        return "$\(firstParameter + parameters.count - 1)::\(type)"
    }

    // MARK: Tests

    // The SQL of a test; nil if no exact SQL exists.
    private mutating func sql(_ test: ConditionTest) -> String? {
        switch test {
        case .isNil(let operand): return column(operand).map { Self.isNil($0, operand.kind) }
        case .isIn(let operand, let values): return compared(operand).map { equals($0, values, operand.kind) }
        case .order(let operand, let comparison, let value):
            return compared(operand).map { order($0, comparison, value, operand.kind) }
        case .text(let operand, let match, let pattern):
            return compared(operand).map { text($0, match, pattern, operand.kind) }
        case .compared(let left, let comparison, let right): return compared(left, comparison, right)
        case .containsNil(let operand): return elements(operand).map { $0.exists(Self.isNil($0.value, operand.kind)) }
        case .containsAny(let operand, let values):
            guard operand.kind != .any, let elements = elements(operand) else { return nil }
            return elements.exists(equals(elements.value, values, operand.kind))
        }
    }

    // The column of an operand; nil if the value is inside an embedded object.
    private func column(_ operand: ConditionOperand) -> String? {
        guard operand.path.count == 1, type.properties.indices.contains(operand.path.first) else {
            return nil
        }
        return "\(alias).\(PostgresNames.column(type.properties[operand.path.first]))"
    }

    // The column, converted to the type in which SQL compares it; nil for a column of JSON.
    private func compared(_ operand: ConditionOperand) -> String? {
        guard let column = column(operand), PostgresLiteral.type(operand.kind) != nil else { return nil }
        let isFloat = type.properties[operand.path.first].element == .scalar(.float)
        return isFloat ? "\(column)::double precision" : column
    }

    private static func isNil(_ value: String, _ kind: ConditionKind) -> String {
        // A program may have stored the JSON value `null` with SQL.
        kind == .any || kind == .object ? "\(value) IS NULL OR \(value) = 'null'::jsonb" : "\(value) IS NULL"
    }

    private mutating func equals(_ value: String, _ values: [SQLValue], _ kind: ConditionKind) -> String {
        if kind == .date { return equalsDate(value, values) }
        let texts = values.filter { !PostgresLiteral.hasNUL($0) }.map { PostgresLiteral.text($0, kind) }
        return isOne(value, of: texts, kind)
    }

    private mutating func isOne(_ value: String, of texts: [String], _ kind: ConditionKind) -> String {
        guard let first = texts.first, let type = PostgresLiteral.type(kind) else { return "FALSE" }
        if texts.count == 1 { return "\(value) = \(bind(first, type))" }
        return "\(value) = ANY(\(bind(PostgresLiteral.array(texts), type + "[]")))"
    }

    private mutating func order(
        _ value: String, _ comparison: ConditionComparison, _ bound: SQLValue, _ kind: ConditionKind
    ) -> String {
        if kind == .date { return orderDate(value, comparison, bound) }
        guard let type = PostgresLiteral.type(kind) else { return "TRUE" }
        var (bound, comparison) = (bound, comparison)
        if case .text(let text) = bound, let end = text.utf8.firstIndex(of: 0) {
            // Texts in PostgreSQL contain no NUL. So no stored text lies between the part before the NUL and the whole
            // text, and the comparison uses the part before the NUL.
            bound = .text(String(text[..<end]))
            comparison = comparison == .less || comparison == .lessOrEqual ? .lessOrEqual : .greater
        }
        let sql = "\(value) \(comparison.sign) \(bind(PostgresLiteral.text(bound, kind), type))"
        // In PostgreSQL, NaN is greater than all numbers. In a condition, NaN satisfies no order test.
        let includesNaN = kind == .floating || kind == .decimal
        guard includesNaN, comparison == .greater || comparison == .greaterOrEqual else { return sql }
        return "\(sql) AND \(value) <> 'NaN'::\(type)"
    }

    private func compared(
        _ left: ConditionOperand, _ comparison: ConditionComparison, _ right: ConditionOperand
    ) -> String? {
        // If one operand is an integer and the other is not, PostgreSQL would round the integer.
        guard left.kind == right.kind, let a = compared(left), let b = compared(right),
            let type = PostgresLiteral.type(left.kind)
        else { return nil }
        var sql = "\(a) \(comparison.sign) \(b)"
        if left.kind == .floating || left.kind == .decimal { sql += " AND \(b) <> 'NaN'::\(type)" }
        return comparison == .equal ? "\(sql) OR \(a) IS NULL AND \(b) IS NULL" : sql
    }

    private mutating func text(
        _ value: String, _ match: ConditionTextMatch, _ pattern: SQLValue, _ kind: ConditionKind
    ) -> String {
        if PostgresLiteral.hasNUL(pattern) { return "FALSE" }
        let isText = kind == .text
        let bound = match == .like ? PostgresLiteral.likePattern(pattern) : pattern
        let part = bind(PostgresLiteral.text(bound, kind), isText ? "text" : "bytea")
        switch match {
        case .contains: return isText ? "strpos(\(value), \(part)) > 0" : "position(\(part) IN \(value)) > 0"
        // `starts_with` alone is correct, but the first condition lets PostgreSQL use an index.
        case .begins where isText: return "\(value) >= \(part) AND starts_with(\(value), \(part))"
        case .begins: return "substring(\(value) FROM 1 FOR octet_length(\(part))) = \(part)"
        case .ends where isText: return "right(\(value), length(\(part))) = \(part)"
        case .ends:
            return "octet_length(\(value)) >= octet_length(\(part)) AND "
                + "substring(\(value) FROM octet_length(\(value)) - octet_length(\(part)) + 1) = \(part)"
        case .like: return "\(value) LIKE \(part)"
        }
    }

    // MARK: Dates

    private mutating func equalsDate(_ value: String, _ dates: [SQLValue]) -> String {
        var singles: [String] = []
        var ranges: [(String, String)] = []
        for case .real(let seconds) in dates {
            let first = PostgresTimestamp.firstNotBefore(seconds)
            let after = PostgresTimestamp.firstAfter(seconds)
            guard first != after, let last = after.map(\.previous) ?? .afterAll else { continue }
            if first == last { singles.append(first.text) } else { ranges.append((first.text, last.text)) }
        }
        let type = "timestamp with time zone"
        var conditions = ranges.map { "\(value) BETWEEN \(bind($0.0, type)) AND \(bind($0.1, type))" }
        if !singles.isEmpty || ranges.isEmpty { conditions.append(isOne(value, of: singles, .date)) }
        return conditions.joined(separator: " OR ")
    }

    private mutating func orderDate(_ value: String, _ comparison: ConditionComparison, _ bound: SQLValue) -> String {
        guard case .real(let seconds) = bound else { return "FALSE" }
        let isStrict = comparison == .less || comparison == .greaterOrEqual
        let first = isStrict ? PostgresTimestamp.firstNotBefore(seconds) : PostgresTimestamp.firstAfter(seconds)
        let isLess = comparison == .less || comparison == .lessOrEqual
        // `first` is nil if the date is infinity, because no timestamp is after infinity.
        guard let first else { return isLess ? "\(value) IS NOT NULL" : "FALSE" }
        return "\(value) \(isLess ? "<" : ">=") \(bind(first.text, "timestamp with time zone"))"
    }

    // MARK: Collections

    private struct Elements {
        let table: String
        let owner: String

        var value: String { "e.\"value\"" }

        func exists(_ condition: String) -> String {
            "EXISTS (SELECT 1 FROM \(table) e WHERE e.\"owner\" = \(owner) AND (\(condition)))"
        }
    }

    private func elements(_ operand: ConditionOperand) -> Elements? {
        guard operand.path.count == 1, type.properties.indices.contains(operand.path.first),
            let key = type.primaryKey
        else { return nil }
        return Elements(
            table: PostgresNames.table(type, type.properties[operand.path.first]),
            owner: "\(alias).\(PostgresNames.column(type.properties[key]))")
    }
}

extension ConditionComparison {
    fileprivate var sign: String {
        switch self {
        case .equal: "="
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        }
    }
}
