import MartletSQLite
import MartletValues

extension QueryCompiler {
    /// The SQL of a condition, without parentheses around `AND` and `OR`. A caller that combines this SQL with other
    /// SQL adds the parentheses.
    mutating func compile(_ predicate: Predicate, _ scope: QueryScope) throws -> String {
        try nested { compiler in
            switch predicate {
            case .constant(let value): value ? "1" : "0"
            case .and(let parts): try parts.isEmpty ? "1" : compiler.conjunction(parts, scope)
            case .or(let parts): try parts.isEmpty ? "0" : compiler.disjunction(parts, scope)
            case .not(let part): Self.negation(of: try compiler.compile(part, scope))
            case .someNot(let part): try compiler.compileLeaf(part, scope, Self.negation)
            case .element(let table, let property, let owner):
                try compiler.element(of: table, property, owner, scope)
            case .exists(let path, let condition):
                try compiler.someElement(of: path, scope) { compiler, element in
                    try compiler.compile(condition, element)
                }
            case .comparison, .contained, .range, .text, .isRow, .fullText: try compiler.compileLeaf(predicate, scope)
            }
        }
    }

    // Conditions are 1, 0 or NULL. 'IS NOT TRUE' is not used: in a table with a column called 'true', TRUE refers to
    // the column.
    private static func negation(of condition: String) -> String { "(\(condition)) IS NOT 1" }

    /// The SQL of a comparison, search or similar condition. If its paths pass through collections, `negation` is
    /// applied to the condition of each element, not to the whole condition.
    private mutating func compileLeaf(
        _ predicate: Predicate, _ scope: QueryScope, _ negation: ((String) -> String)? = nil
    ) throws -> String {
        try countCondition()
        let applyNegation = negation ?? { $0 }
        switch predicate {
        case .comparison(let left, let comparison, let right):
            if let condition = try linkedEquality(left, comparison, right, scope) { return applyNegation(condition) }
            return try terms([left, right], scope) { compiler, terms in
                applyNegation(try compiler.comparison(terms[0], comparison, terms[1]))
            }
        case .contained(let operand, let values, let options):
            return try terms([operand], scope) { compiler, terms in
                applyNegation(try compiler.contained(terms[0], values, options))
            }
        case .range(let operand, let lower, let upper, let includesUpper):
            return try terms([operand, lower, upper], scope) { compiler, terms in
                let low = try compiler.comparison(terms[0], .greaterOrEqual, terms[1])
                let high = try compiler.comparison(terms[0], includesUpper ? .lessOrEqual : .less, terms[2])
                return applyNegation("(\(low) AND \(high))")
            }
        case .text(let operand, let match, let pattern, let options):
            return try terms([operand, pattern], scope) { compiler, terms in
                applyNegation(try compiler.text(terms[0], match, terms[1], options))
            }
        case .isRow(let path, let keys):
            // A map entry whose value is nil can satisfy only a negated condition. Conditions that are not negated omit
            // these entries and use the table of targets, which is faster.
            return try terms([.path(path)], scope, includesNilEntries: negation != nil) { compiler, terms in
                applyNegation(try compiler.contained(terms[0], keys.map(SQLValue.integer), []))
            }
        case .fullText(let path, let search):
            return try forSome([ScopedOperand(.path(path), scope)], includesNilEntries: false) { compiler, operands in
                applyNegation(try compiler.fullText(operands[0], search))
            }
        case .constant, .and, .or, .not, .someNot, .element, .exists:
            return applyNegation(try compile(predicate, scope))
        }
    }

    private mutating func conjunction(_ parts: [Predicate], _ scope: QueryScope) throws -> String {
        var conditions: [String] = []
        for part in parts {
            let condition = try compile(part, scope)
            if case .or = part { conditions.append("(\(condition))") } else { conditions.append(condition) }
        }
        return Self.joined(conditions[...], " AND ")
    }

    // 'AND' has a higher precedence than 'OR', so the parts need no parentheses.
    private mutating func disjunction(_ parts: [Predicate], _ scope: QueryScope) throws -> String {
        var conditions: [String] = []
        for part in parts { conditions.append(try compile(part, scope)) }
        return Self.joined(conditions[...], " OR ")
    }

    // SQLite parses a chain of `AND` or `OR` as an expression whose depth is the length of the chain. It also limits
    // the depth of expressions. Therefore long chains are split into halves recursively.
    private static func joined(_ conditions: ArraySlice<String>, _ separator: String) -> String {
        guard conditions.count > 8 else { return conditions.joined(separator: separator) }
        let middle = conditions.startIndex + conditions.count / 2
        let left = joined(conditions[..<middle], separator), right = joined(conditions[middle...], separator)
        return "(\(left))\(separator)(\(right))"
    }

    // MARK: Comparisons

    /// True for a path through one link to a property with an index, or to the primary key.
    static func isIndexedLink(_ path: PropertyPath, _ type: String, _ schema: DatabaseSchema) -> Bool {
        guard let table = schema[type]?.id else { return false }
        return indexedLink(path, table, schema) != nil
    }

    private static func indexedLink(
        _ path: PropertyPath, _ table: TableID, _ schema: DatabaseSchema
    ) -> (link: TableLayout.Column, target: TableID)? {
        guard path.components.count == 2, let resolved = try? ResolvedPath(path, from: table, in: schema),
            resolved.steps.count == 1, case .link(let source, let property, let target) = resolved.steps[0],
            let end = resolved.end, case .whole = resolved.part, let link = schema[source].layout.column(of: property)
        else { return nil }
        let type = schema[target].type
        let element = type.properties[end.property].element
        guard type.properties[end.property].isColumn, element != .scalar(.any), element != .scalar(.decimal128),
            type.isFirstInIndex(end.property)
        else { return nil }
        return (link, target)
    }

    // Compiles an equality of an indexed property at the end of a link, such as `owner.name == 'Ann'`. The SQL uses two
    // indexes: one to find the targets with the value, and one to find the rows that link to these targets. Returns nil
    // for other comparisons, and if the query only tests rows with given keys.
    private mutating func linkedEquality(
        _ left: Predicate.Operand, _ comparison: Predicate.Comparison, _ right: Predicate.Operand, _ scope: QueryScope
    ) throws -> String? {
        guard comparison == .equal, !selectsRowsByKey, case .path(let path) = left, case .value(let value) = right,
            value != .null, case .row(let table, let alias) = scope,
            let (link, target) = Self.indexedLink(path, table, schema)
        else { return nil }
        let inner = self.alias()
        let rest = Predicate.Operand.path(PropertyPath(components: Array(path.components.dropFirst())))
        let condition = try terms([rest, right], .row(target, inner)) { compiler, terms in
            try compiler.comparison(terms[0], .equal, terms[1])
        }
        let layout = schema[target].layout
        return
            "\(alias).\(link.name) IN (SELECT \(inner).\(layout.keyColumn) FROM \(layout.table) \(inner) "
            + "WHERE \(condition))"
    }

    // `= nil` is true if there is no value, and `<> nil` is true if there is a value. A comparison by `<>` with a value
    // other than nil is true for nil. `<` and similar operators are false for nil.
    private mutating func comparison(
        _ left: QueryTerm, _ comparison: Predicate.Comparison, _ right: QueryTerm
    ) throws -> String {
        if left.literal != nil && right.literal == nil { return try self.comparison(right, comparison.flipped, left) }
        if right.literal == .null {
            switch comparison {
            case .equal: return absence(left)
            case .notEqual: return "NOT \(absence(left))"
            default: return "0"
            }
        }
        if case .real(let number)? = right.literal, number.isNaN { return comparison == .notEqual ? "1" : "0" }
        if left.kind == .any || right.kind == .any { return anyComparison(left, comparison, right) }
        if left.isDecimal(against: right) { return decimalComparison(left, comparison, right) }
        let (a, b) = (left.sql, right.sql)
        guard comparison == .equal || comparison == .notEqual, right.literal == nil else {
            return comparison == .notEqual ? "\(a) IS NOT \(b)" : "\(a) \(comparison.rawValue) \(b)"
        }
        return equality("\(a) = \(b)", left, comparison, right)
    }

    // Completes a comparison of two terms: two absent values are equal, but two NaNs are not. `equal` is SQL that
    // compares two values.
    private func equality(
        _ equal: String, _ left: QueryTerm, _ comparison: Predicate.Comparison, _ right: QueryTerm
    ) -> String {
        let equality = "(\(equal) OR (\(absence(left)) AND \(absence(right))))"
        return comparison == .equal ? equality : Self.negation(of: equality)
    }

    private func anyComparison(
        _ left: QueryTerm, _ comparison: Predicate.Comparison, _ right: QueryTerm
    ) -> String {
        let order = "martlet_order(\(left.asAny), \(right.asAny))"
        switch comparison {
        case .equal, .notEqual:
            if right.literal == nil { return equality("\(order) = 0", left, comparison, right) }
            return comparison == .equal ? "\(order) = 0" : Self.negation(of: "\(order) = 0")
        default: return "\(order) \(comparison.rawValue) 0"
        }
    }

    // Decimals are stored as bytes that sort in numeric order. Numbers that are compared with them are converted to
    // such bytes. NaN equals no value, not even NaN, and has no order.
    private func decimalComparison(
        _ left: QueryTerm, _ comparison: Predicate.Comparison, _ right: QueryTerm
    ) -> String {
        let (a, b) = (left.asDecimal, right.asDecimal)
        let isEquality = comparison == .equal || comparison == .notEqual
        let compared = "(\(a) \(isEquality ? "=" : comparison.rawValue) \(b) AND \(a) <> \(DecimalNumber.nanLiteral))"
        guard isEquality else { return "(\(compared) AND \(b) <> \(DecimalNumber.nanLiteral))" }
        if right.literal == nil { return equality(compared, left, comparison, right) }
        return comparison == .equal ? compared : Self.negation(of: compared)
    }

    // SQL that is true if the value is nil. A NaN is also stored as NULL, but its bits are in the column `_special`.
    private func absence(_ term: QueryTerm) -> String {
        guard let nanCondition = term.nanCondition else { return "(\(term.sql) IS NULL)" }
        return "(\(term.sql) IS NULL AND NOT \(nanCondition))"
    }

    private mutating func contained(
        _ term: QueryTerm, _ values: [SQLValue], _ options: Predicate.TextOptions
    ) throws -> String {
        var parts: [String] = []
        if values.contains(.null) { parts.append(absence(term)) }
        if !options.isEmpty {
            let equals = Predicate.TextMatch.equals.rawValue
            let compared = term.kind == .any ? values.map(AnyValue.textOrData) : values
            parts.append(
                some(of: compared) { "martlet_text(\(equals), \(options.rawValue), \(term.textOrData), \($0))" })
        } else if term.kind == .any {
            parts.append(some(of: values) { "martlet_order(\(term.sql), \($0)) = 0" })
        } else if term.kind == .number || term.kind == .decimal {
            // No value equals a decimal NaN, so NaN is removed from the list.
            let decimals = values.filter { $0.isBlob && $0 != .blob(DecimalNumber.nan.bytes) }
            parts += ValueSet(values.filter { !$0.isBlob }).conditions(term.sql, &self)
            parts += ValueSet(decimals).conditions(term.asDecimal, &self)
        } else {
            parts += ValueSet(values).conditions(term.sql, &self)
        }
        return parts.isEmpty ? "0" : "(\(parts.joined(separator: " OR ")))"
    }

    // The values are bound as one list, because SQLite limits the number of parameters and the length of `OR` chains.
    private mutating func some(of values: [SQLValue], _ condition: (String) -> String) -> String {
        let present = values.filter { $0 != .null }
        let (bytes, count) = (bind(.blob(ElementCodec.encode(present))), bind(.integer(Int64(present.count))))
        let value = alias()
        return
            "EXISTS (SELECT 1 FROM martlet_elements(\(bytes), \(count), 0) \(value) WHERE \(condition("\(value).v")))"
    }

    // MARK: Texts

    private mutating func text(
        _ term: QueryTerm, _ match: Predicate.TextMatch, _ pattern: QueryTerm, _ options: Predicate.TextOptions
    ) throws -> String {
        let text = term.textOrData
        let literal = term.kind == .any ? pattern.literal : nil
        let patternSQL = literal.map { bind(AnyValue.textOrData($0)) } ?? pattern.textOrData
        let isPlain =
            options.isEmpty && pattern.literal != nil && term.kind != .any && match != .like && match != .ends
        // An empty pattern needs `martlet_text`, because SQLite's 'substr' returns NULL for an empty blob.
        let isEmpty = pattern.literal == .text("") || pattern.literal == .blob([])
        guard isPlain && !isEmpty else {
            return "martlet_text(\(match.rawValue), \(options.rawValue), \(text), \(patternSQL))"
        }
        switch match {
        case .contains: return "instr(\(text), \(patternSQL)) > 0"
        case .equals: return "\(text) = \(patternSQL)"
        default:
            let begins =
                "substr(CAST(\(text) AS BLOB), 1, length(CAST(\(patternSQL) AS BLOB))) = CAST(\(patternSQL) AS BLOB)"
            guard term.kind == .text, case .text(let prefix)? = pattern.literal else { return begins }
            // SQLite can use an index for the range, but not for the exact condition.
            let range = "\(text) >= \(patternSQL)"
            guard let end = Self.endOfRange(withPrefix: prefix) else { return "(\(range) AND \(begins))" }
            return "(\(range) AND \(text) < \(bind(.text(end))) AND \(begins))"
        }
    }

    /// The least text that is greater than all texts that begin with a prefix. Nil if there is none. Texts are compared
    /// by their UTF-8 bytes. This order is the same as the order of the Unicode scalars.
    static func endOfRange(withPrefix prefix: String) -> String? {
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            // Surrogates are not scalars.
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            guard let scalar = Unicode.Scalar(next) else { continue }
            var end = String.UnicodeScalarView(scalars)
            end.append(scalar)
            return String(end)
        }
        return nil
    }
}

extension SQLValue {
    fileprivate var isBlob: Bool { if case .blob = self { true } else { false } }
}
