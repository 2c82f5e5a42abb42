import MartletSchema

/// Parses the text of a rule.
///
/// A rule supports a part of the query notation: `==`, `!=`, `<`, `<=`, `>`, `>=`, `IN`, `AND`, `OR` and `NOT`, and the
/// other spellings of these operators. A property or a claim can be a condition by itself. `TRUE`, `FALSE`,
/// `TRUEPREDICATE` and `FALSEPREDICATE` are conditions too. `OR` has the lowest precedence, followed by `AND`, `NOT`
/// and the comparisons.
struct RuleParser {
    private static let maximumDepth = 32
    private static let maximumComparisons = 256

    private let tokens: [RuleLexer.Token]
    private let offsets: ScalarOffsets
    private var position = 0
    private var depth = 0
    private var comparisons = 0

    static func parse(_ text: String, _ offsets: ScalarOffsets) throws(RuleSyntaxError) -> RuleSyntax {
        var parser = RuleParser(tokens: try RuleLexer.tokens(text), offsets: offsets)
        let condition = try parser.disjunction()
        guard parser.current.kind == .end else { throw parser.failure("expected 'AND', 'OR' or the end") }
        return condition
    }

    private init(tokens: [RuleLexer.Token], offsets: ScalarOffsets) {
        self.tokens = tokens
        self.offsets = offsets
    }

    // MARK: Tokens

    private var current: RuleLexer.Token { tokens[position] }

    private mutating func advance() { position = min(position + 1, tokens.count - 1) }

    private mutating func take(_ symbol: String, orWord word: String? = nil) -> Bool {
        let isTaken =
            switch current.kind {
            case .symbol(let found): found == symbol
            case .name(let found): word != nil && found.uppercased() == word
            default: false
            }
        if isTaken { advance() }
        return isTaken
    }

    private func failure(_ expected: String) -> RuleSyntaxError {
        let found =
            switch current.kind {
            case .end: "the rule ends here"
            case .name(let name), .escapedName(let name): "found '\(name.shortened)'"
            case .variable(let name): "found '$\(name.shortened)'"
            case .symbol(let symbol): "found '\(symbol)'"
            case .number(let text): "found '\(text.shortened)'"
            case .string, .uuid, .objectId: "found a literal"
            }
        var range = current.range
        if range.isEmpty, range.lowerBound > 0 { range = range.lowerBound - 1..<range.lowerBound }
        return RuleSyntaxError(message: "\(expected), but \(found)", range: range)
    }

    // MARK: Conditions

    private mutating func disjunction() throws(RuleSyntaxError) -> RuleSyntax {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maximumDepth else {
            throw RuleSyntaxError(
                message:
                    "more than \(Self.maximumDepth) nested parentheses; write the rule without some of them",
                range: current.range)
        }
        var parts = [try conjunction()]
        while take("||", orWord: "OR") { parts.append(try conjunction()) }
        return parts.count == 1 ? parts[0] : .or(parts)
    }

    private mutating func conjunction() throws(RuleSyntaxError) -> RuleSyntax {
        var parts = [try negation()]
        while take("&&", orWord: "AND") { parts.append(try negation()) }
        return parts.count == 1 ? parts[0] : .and(parts)
    }

    private mutating func negation() throws(RuleSyntaxError) -> RuleSyntax {
        var isNegated = false
        while take("!", orWord: "NOT") { isNegated.toggle() }
        let condition = try primary()
        return isNegated ? .not(condition) : condition
    }

    private mutating func primary() throws(RuleSyntaxError) -> RuleSyntax {
        if take("(") {
            let condition = try disjunction()
            guard take(")") else { throw failure("expected ')'") }
            return condition
        }
        if case .name(let word) = current.kind, !isBeforeRelation {
            switch word.uppercased() {
            case "TRUE", "TRUEPREDICATE":
                advance()
                return .constant(true)
            case "FALSE", "FALSEPREDICATE":
                advance()
                return .constant(false)
            default: break
            }
        }
        return try comparison()
    }

    /// Whether the current word is the left side of a comparison, because the token after it is an operator.
    private var isBeforeRelation: Bool {
        guard position + 1 < tokens.count else { return false }
        switch tokens[position + 1].kind {
        case .symbol(let symbol): return ![")", "&&", "||"].contains(symbol)
        case .name(let word): return word.uppercased() == "IN"
        default: return false
        }
    }

    private mutating func comparison() throws(RuleSyntaxError) -> RuleSyntax {
        comparisons += 1
        guard comparisons <= Self.maximumComparisons else {
            throw RuleSyntaxError(
                message: "a rule has at most \(Self.maximumComparisons) comparisons; write 'IN {…}' for many values",
                range: current.range)
        }
        let left = try operand()
        if take("IN", orWord: "IN") { return try membership(left) }
        guard let relation = relation() else { return .value(left) }
        return .comparison(left, relation, try operand())
    }

    private mutating func membership(_ left: RuleOperandSyntax) throws(RuleSyntaxError) -> RuleSyntax {
        guard take("{") else {
            guard case .variable = current.kind else { throw failure("expected '{' or '$user.' after 'IN'") }
            return .contained(left, try operand())
        }
        var values: [RuleOperandSyntax] = []
        if take("}") { return .oneOf(left, values) }
        repeat { values.append(try operand()) } while take(",")
        guard take("}") else { throw failure("expected ',' or '}'") }
        return .oneOf(left, values)
    }

    private mutating func relation() -> Spanned<RuleRelation>? {
        guard case .symbol(let symbol) = current.kind else { return nil }
        let other = ["=": RuleRelation.equal, "<>": .notEqual, "=<": .lessOrEqual, "=>": .greaterOrEqual]
        guard let relation = RuleRelation(rawValue: symbol) ?? other[symbol] else { return nil }
        let span = offsets.span(of: current.range)
        advance()
        return Spanned(relation, span)
    }

    // MARK: Operands

    private mutating func operand() throws(RuleSyntaxError) -> RuleOperandSyntax {
        let token = current
        func literal(_ content: RuleOperandSyntax.Content) -> RuleOperandSyntax {
            RuleOperandSyntax(content: content, span: offsets.span(of: token.range))
        }
        switch token.kind {
        case .number(let text):
            advance()
            return literal(.number(text))
        case .string(let text):
            advance()
            return literal(.string(text))
        case .uuid(let bytes):
            advance()
            return literal(.uuid(bytes))
        case .objectId(let bytes):
            advance()
            return literal(.objectId(bytes))
        case .variable(let name): return try claim(name, token)
        case .escapedName(let name):
            advance()
            return try path(name, token, isEscaped: true)
        case .name(let name):
            advance()
            if let content = Self.keyword(name), current.kind != .symbol(".") { return literal(content) }
            return try path(name, token, isEscaped: false)
        case .symbol, .end: throw failure("expected a property, '$user.' or a value")
        }
    }

    private static func keyword(_ word: String) -> RuleOperandSyntax.Content? {
        switch word.uppercased() {
        case "TRUE": .bool(true)
        case "FALSE": .bool(false)
        case "NIL", "NULL": .null
        default: nil
        }
    }

    private mutating func path(
        _ first: String, _ token: RuleLexer.Token, isEscaped: Bool
    ) throws(RuleSyntaxError) -> RuleOperandSyntax {
        var names = [Spanned(first, offsets.span(of: token.range))]
        while take(".") {
            guard case .name(let name) = current.kind else { throw failure("expected the name of a property") }
            names.append(Spanned(name, offsets.span(of: current.range)))
            advance()
        }
        return RuleOperandSyntax(
            content: .path(names, isEscaped: isEscaped), span: names[0].span.union(names[names.count - 1].span))
    }

    private mutating func claim(
        _ variable: String, _ token: RuleLexer.Token
    ) throws(RuleSyntaxError) -> RuleOperandSyntax {
        guard variable == "user" else {
            throw RuleSyntaxError(message: "'$\(variable)' is unknown; write '$user.' and a claim", range: token.range)
        }
        advance()
        var names: [String] = []
        var end = token.range.upperBound
        while take(".") {
            guard case .name(let name) = current.kind else { throw failure("expected the name of a claim") }
            names.append(name)
            end = current.range.upperBound
            advance()
        }
        guard !names.isEmpty else {
            throw RuleSyntaxError(
                message: "'$user' has claims; write one of them, as in '$user.sub'", range: token.range)
        }
        return RuleOperandSyntax(
            content: .claim(names), span: offsets.span(of: token.range.lowerBound..<end))
    }
}
