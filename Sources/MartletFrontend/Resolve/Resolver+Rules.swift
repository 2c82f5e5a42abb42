import MartletSchema

/// Resolves the names in rules, and checks the types of their comparisons.
extension Resolver {
    mutating func resolve(_ rule: ParsedRule, in scope: ObjectScope) -> RuleModel? {
        condition(rule.syntax, scope).map { RuleModel(condition: $0, span: rule.span) }
    }

    private mutating func condition(_ syntax: RuleSyntax, _ scope: ObjectScope) -> RuleCondition? {
        switch syntax {
        case .constant(let value): return .constant(value)
        case .not(let part):
            return condition(part, scope).map { if case .not(let inner) = $0 { inner } else { .not($0) } }
        case .and(let parts):
            return conditions(parts, scope).map { parts in
                .and(parts.flatMap { if case .and(let inner) = $0 { inner } else { [$0] } })
            }
        case .or(let parts):
            return conditions(parts, scope).map { parts in
                .or(parts.flatMap { if case .or(let inner) = $0 { inner } else { [$0] } })
            }
        case .value(let operand):
            if case .property(let path) = side(operand, scope), path.value != .scalar(.bool) {
                return refuseRule(
                    "'\(path.text)' is '\(path.value.name)', which is not a condition; compare it with a value",
                    at: operand.span)
            }
            let truth = RuleOperandSyntax(content: .bool(true), span: operand.span)
            return compare(operand, .equal, truth, scope)
        case .comparison(let left, let relation, let right): return compare(left, relation.value, right, scope)
        case .oneOf(let left, let values): return oneOf(left, values, scope)
        case .contained(let left, let claim): return contained(left, claim, scope)
        }
    }

    /// The resolved parts of a condition; nil if a part is invalid. All invalid parts are reported.
    private mutating func conditions(_ parts: [RuleSyntax], _ scope: ObjectScope) -> [RuleCondition]? {
        let resolved = parts.map { condition($0, scope) }
        let valid = resolved.compactMap(\.self)
        return valid.count == resolved.count ? valid : nil
    }

    mutating func refuseRule(_ message: String, at span: SourceSpan) -> RuleCondition? {
        report(.badRule, message, at: span)
        return nil
    }

    // MARK: Comparisons

    private mutating func compare(
        _ left: RuleOperandSyntax, _ relation: RuleRelation, _ right: RuleOperandSyntax, _ scope: ObjectScope
    ) -> RuleCondition? {
        let (left, right) = withCases(left, right, scope)
        switch (side(left, scope), side(right, scope)) {
        case (.invalid, _), (_, .invalid): return nil
        case (.literal, .property), (.literal, .claim): return compare(right, relation.exchanged, left, scope)
        case (.literal, .literal):
            return refuseRule("a comparison needs a property or a claim; compare this value with one", at: left.span)
        case (.claim, .claim):
            return refuseRule(
                "a claim cannot be compared with another claim; compare it with a property or a value", at: left.span)
        case (.property(let path), .literal): return compare(path, relation, right, at: left.span)
        case (.property(let path), .claim(let claim)):
            return checkOrder(relation, path, at: left.span) && checkClaim(path, at: left.span)
                ? .comparison(.property(path), relation, .claim(claim)) : nil
        case (.claim, .property): return compare(right, relation.exchanged, left, scope)
        case (.claim(let claim), .literal):
            return claimLiteral(right, relation).map { .comparison(.claim(claim), relation, .literal($0)) }
        case (.property(let first), .property(let second)):
            return compare(first, relation, second, at: left.span.union(right.span))
        }
    }

    private mutating func compare(
        _ path: RulePath, _ relation: RuleRelation, _ literal: RuleOperandSyntax, at span: SourceSpan
    ) -> RuleCondition? {
        if case .null = literal.content {
            guard path.isOptional else {
                return refuseRule("'\(path.text)' is never nil; remove the comparison", at: literal.span)
            }
            guard !relation.isOrder else {
                return refuseRule("nil has no order; write '==' or '!='", at: literal.span)
            }
            return .comparison(.property(path), relation, .literal(.null))
        }
        if case .link(key: nil) = path.kind { return refuseLink(path, at: span) }
        guard checkOrder(relation, path, at: span) else { return nil }
        return ruleLiteral(literal, for: path).map { .comparison(.property(path), relation, .literal($0)) }
    }

    private mutating func compare(
        _ left: RulePath, _ relation: RuleRelation, _ right: RulePath, at span: SourceSpan
    ) -> RuleCondition? {
        for path in [left, right] {
            if case .link(key: nil) = path.kind { return refuseLink(path, at: span) }
            if path.value.isInexact || path.value.isOpaque {
                return refuseRule(
                    "'\(path.text)' is '\(path.value.name)', which a rule does not compare with other properties",
                    at: span)
            }
        }
        let isAlike = left.value == right.value || left.value.isWholeNumber && right.value.isWholeNumber
        guard isAlike else {
            return refuseRule(
                "'\(left.text)' is '\(left.value.name)' and '\(right.text)' is '\(right.value.name)'; "
                    + "compare values of one type", at: span)
        }
        guard checkOrder(relation, left, at: span) else { return nil }
        return .comparison(.property(left), relation, .property(right))
    }

    private mutating func oneOf(
        _ left: RuleOperandSyntax, _ values: [RuleOperandSyntax], _ scope: ObjectScope
    ) -> RuleCondition? {
        let subject: RuleOperand
        switch side(left, scope) {
        case .invalid: return nil
        case .literal: return refuseRule("'IN {…}' needs a property or a claim before it", at: left.span)
        case .property(let path): subject = .property(path)
        case .claim(let claim): subject = .claim(claim)
        }
        var operands: [RuleOperand] = []
        for value in values {
            guard case .comparison(let first, _, let second) = compare(left, .equal, value, scope) else { continue }
            operands.append(first == subject ? second : first)
        }
        return operands.count == values.count ? .oneOf(subject, operands) : nil
    }

    private mutating func contained(
        _ left: RuleOperandSyntax, _ right: RuleOperandSyntax, _ scope: ObjectScope
    ) -> RuleCondition? {
        guard case .claim(let claim) = side(right, scope) else { return nil }
        switch side(left, scope) {
        case .invalid: return nil
        case .claim:
            return refuseRule("a claim cannot be 'IN' a claim; write a property or a literal here", at: left.span)
        case .literal:
            return claimLiteral(left, .equal).flatMap { literal in
                if case .null = literal {
                    return refuseRule("nil is never in a list; remove the comparison", at: left.span)
                }
                return .contained(.literal(literal), claim)
            }
        case .property(let path):
            return checkClaim(path, at: left.span) ? .contained(.property(path), claim) : nil
        }
    }

    private mutating func refuseLink(_ path: RulePath, at span: SourceSpan) -> RuleCondition? {
        refuseRule(
            "'\(path.text)' is a link; write '\(path.property).' and the primary key of its target, or compare it with nil",
            at: span)
    }

    private mutating func checkOrder(_ relation: RuleRelation, _ path: RulePath, at span: SourceSpan) -> Bool {
        guard relation.isOrder, !path.value.hasOrder else { return true }
        report(
            .badRule, "'\(path.text)' is '\(path.value.name)', which has no order in a rule; write '==', '!=' or 'IN'",
            at: span)
        return false
    }

    /// Whether a claim can have the type of the path's value. If not, a diagnostic is reported.
    private mutating func checkClaim(_ path: RulePath, at span: SourceSpan) -> Bool {
        if case .link(key: nil) = path.kind {
            _ = refuseLink(path, at: span)
            return false
        }
        let isComparable: Bool =
            switch path.value {
            case .scalar(let kind): !path.value.isInexact && !path.value.isOpaque || kind == .decimal128
            case .enumeration: true
            case .link, .embedded: false
            }
        if !isComparable {
            report(
                .badRule,
                "'\(path.text)' is '\(path.value.name)', and no claim has this type; "
                    + "compare whole numbers, 'Decimal128', text or identifiers",
                at: span)
        }
        return isComparable
    }

    // MARK: Sides

    private enum Side {
        case property(RulePath)
        case claim(RuleClaim)
        case literal
        /// An operand for which a diagnostic was already reported.
        case invalid
    }

    private mutating func side(_ operand: RuleOperandSyntax, _ scope: ObjectScope) -> Side {
        switch operand.content {
        case .path(let names, _): rulePath(names, scope).map { .property($0) } ?? .invalid
        case .claim(let names): .claim(RuleClaim(names: names))
        case .invalid: .invalid
        default: .literal
        }
    }

    /// Both sides of a comparison, with cases of enums replaced by their stored values. A name on one side is a case if
    /// the other side is a property whose type is an enum with this case.
    private mutating func withCases(
        _ left: RuleOperandSyntax, _ right: RuleOperandSyntax, _ scope: ObjectScope
    ) -> (RuleOperandSyntax, RuleOperandSyntax) {
        if let stored = caseLiteral(right, of: enumName(left, scope), scope) { return (left, stored) }
        if let stored = caseLiteral(left, of: enumName(right, scope), scope) { return (stored, right) }
        return (left, right)
    }
}

extension ValueTypeModel {
    /// Whether PostgreSQL and the runtime can give different results when they compare a value of this number type with
    /// NaN or with a value of another number type.
    fileprivate var isInexact: Bool {
        self == .scalar(.float) || self == .scalar(.double) || self == .scalar(.decimal128)
    }

    /// Whether a rule can compare values of this type only with nil.
    fileprivate var isOpaque: Bool {
        self == .scalar(.data) || self == .scalar(.date) || self == .scalar(.anyValue)
    }

    fileprivate var isWholeNumber: Bool {
        if case .scalar(let kind) = self { kind.integerBits != nil } else { false }
    }

    fileprivate var hasOrder: Bool { isInexact || isWholeNumber || self == .scalar(.string) }
}
