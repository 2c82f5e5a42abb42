import MartletSQLite

extension QueryCompiler {
    mutating func compile(_ predicate: Predicate, _ scope: QueryScope) throws -> String {
        switch predicate {
        case .constant(let value): return value ? "1" : "0"
        case .and(let parts): return try joined(parts[...], " AND ", "1", scope)
        case .or(let parts): return try joined(parts[...], " OR ", "0", scope)
        case .not(let part): return "(\(try compile(part, scope))) IS NOT TRUE"
        case .comparison(let left, let comparison, let right):
            return try terms([left, right], scope) { compiler, terms in
                try compiler.comparison(terms[0], comparison, terms[1])
            }
        case .contained(let operand, let values):
            return try terms([operand], scope) { compiler, terms in try compiler.contained(terms[0], values) }
        case .range(let operand, let lower, let upper, let includesUpper):
            return try terms([operand, lower, upper], scope) { compiler, terms in
                let low = try compiler.comparison(terms[0], .greaterOrEqual, terms[1])
                let high = try compiler.comparison(terms[0], includesUpper ? .lessOrEqual : .less, terms[2])
                return "(\(low) AND \(high))"
            }
        case .text(let operand, let match, let pattern, let options):
            return try terms([operand, pattern], scope) { compiler, terms in
                try compiler.text(terms[0], match, terms[1], options)
            }
        case .isRow(let path, let keys):
            return try terms([.path(path)], scope) { compiler, terms in
                try compiler.contained(terms[0], keys.map(SQLValue.integer))
            }
        case .element(let table, let property, let owner):
            return try element(of: table, property, owner, scope)
        case .exists(let path, let condition):
            return try someElement(of: path, scope) { compiler, element in try compiler.compile(condition, element) }
        case .words(let path, let search):
            return try forSome([PlacedOperand(.path(path), scope)]) { compiler, operands in
                try compiler.words(operands[0], search)
            }
        }
    }

    // Halves of halves: SQLite limits the depth of an expression, and a chain is as deep as it is long.
    private mutating func joined(
        _ parts: ArraySlice<Predicate>, _ separator: String, _ empty: String, _ scope: QueryScope
    ) throws -> String {
        guard let first = parts.first else { return empty }
        if parts.count == 1 { return "(\(try compile(first, scope)))" }
        let middle = parts.startIndex + parts.count / 2
        let left = try joined(parts[..<middle], separator, empty, scope)
        let right = try joined(parts[middle...], separator, empty, scope)
        return "(\(left)\(separator)\(right))"
    }

    // MARK: Comparisons

    // A comparison with nil asks for presence; `<>` matches nil; orders with nil are false.
    private mutating func comparison(
        _ left: QueryTerm, _ comparison: Predicate.Comparison, _ right: QueryTerm
    ) throws -> String {
        if left.literal != nil && right.literal == nil { return try self.comparison(right, comparison.flipped, left) }
        if right.literal == .null {
            switch comparison {
            case .equal: return presence(left)
            case .notEqual: return "NOT \(presence(left))"
            default: return "0"
            }
        }
        if case .real(let number)? = right.literal, number.isNaN { return comparison == .notEqual ? "1" : "0" }
        if left.kind == .any || right.kind == .any { return anyComparison(left, comparison, right) }
        if left.kind == .decimal || right.kind == .decimal { return decimalComparison(left, comparison, right) }
        let (a, b) = (left.sql, right.sql)
        guard comparison == .equal || comparison == .notEqual, right.literal == nil else {
            return comparison == .notEqual ? "\(a) IS NOT \(b)" : "\(a) \(comparison.rawValue) \(b)"
        }
        return equality("\(a) = \(b)", left, comparison, right)
    }

    // Two absent values are equal, two NaNs are not.
    private func equality(
        _ equal: String, _ left: QueryTerm, _ comparison: Predicate.Comparison, _ right: QueryTerm
    ) -> String {
        let equality = "(\(equal) OR (\(presence(left)) AND \(presence(right))))"
        return comparison == .equal ? equality : "\(equality) IS NOT TRUE"
    }

    private func anyComparison(
        _ left: QueryTerm, _ comparison: Predicate.Comparison, _ right: QueryTerm
    ) -> String {
        let order = "martlet_order(\(left.asAny), \(right.asAny))"
        switch comparison {
        case .equal, .notEqual:
            if right.literal == nil { return equality("\(order) = 0", left, comparison, right) }
            return comparison == .equal ? "\(order) = 0" : "(\(order) = 0) IS NOT TRUE"
        default: return "\(order) \(comparison.rawValue) 0"
        }
    }

    // Decimals lie as bytes in their order; numbers beside them are made such bytes. NaN equals nothing and has no order.
    private func decimalComparison(
        _ left: QueryTerm, _ comparison: Predicate.Comparison, _ right: QueryTerm
    ) -> String {
        let (a, b) = (left.asDecimal, right.asDecimal)
        let isEquality = comparison == .equal || comparison == .notEqual
        let compared = "(\(a) \(isEquality ? "=" : comparison.rawValue) \(b) AND \(a) <> \(DecimalNumber.nanLiteral))"
        guard isEquality else { return "(\(compared) AND \(b) <> \(DecimalNumber.nanLiteral))" }
        if right.literal == nil { return equality(compared, left, comparison, right) }
        return comparison == .equal ? compared : "\(compared) IS NOT TRUE"
    }

    // A stored NaN is NULL in its column and kept beside it: it is present.
    private func presence(_ term: QueryTerm) -> String {
        guard let isNaN = term.isNaN else { return "(\(term.sql) IS NULL)" }
        return "(\(term.sql) IS NULL AND NOT \(isNaN))"
    }

    private mutating func contained(_ term: QueryTerm, _ values: [SQLValue]) throws -> String {
        var parts: [String] = []
        if values.contains(.null) { parts.append(presence(term)) }
        if term.kind == .any {
            for value in values where value != .null {
                parts.append("martlet_order(\(term.sql), \(bind(value))) = 0")
            }
        } else {
            // Nothing equals a decimal that is not a number.
            let values = term.kind == .decimal ? values.filter { $0 != .blob(DecimalNumber.nan.bytes) } : values
            parts += try ValueSet(values).conditions(term.sql, &self)
        }
        return parts.isEmpty ? "0" : "(\(parts.joined(separator: " OR ")))"
    }

    // MARK: Texts

    private mutating func text(
        _ term: QueryTerm, _ match: Predicate.TextMatch, _ pattern: QueryTerm, _ options: Predicate.TextOptions
    ) throws -> String {
        let (text, sought) = (term.sql, pattern.sql)
        let isPlain =
            options.isEmpty && pattern.literal != nil && term.kind != .any && match != .like && match != .ends
        // SQLite's 'substr' of an empty blob is NULL.
        let isEmpty = pattern.literal == .text("") || pattern.literal == .blob([])
        guard isPlain && !isEmpty else {
            return "martlet_text(\(match.rawValue), \(options.rawValue), \(text), \(sought))"
        }
        switch match {
        case .contains: return "instr(\(text), \(sought)) > 0"
        case .equals: return "\(text) = \(sought)"
        default:
            return "substr(CAST(\(text) AS BLOB), 1, length(CAST(\(sought) AS BLOB))) = CAST(\(sought) AS BLOB)"
        }
    }
}
