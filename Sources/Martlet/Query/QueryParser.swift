import MartletEngine

/// Parses a query string in the predicate language of Foundation and Realm.
///
/// Precedence, from lowest to highest: `OR`, `AND`, `NOT`, comparisons, `+ -`, `* /`.
struct QueryParser {
    let tokens: [QueryToken]
    private let arguments: [QueryLiteral]
    private(set) var position = 0
    private var nextArgument = 0
    private var depth = 0
    private static let maximumDepth = 100

    /// A condition or a value. Both can be in parentheses, so the parser does not know in advance which one follows.
    private enum Node {
        case condition(QuerySyntax.Condition)
        /// `depth` is the nesting depth of the arithmetic expressions in the operand.
        case operand(QuerySyntax.Operand, depth: Int = 0)
    }

    static func parse(_ text: String, _ arguments: [QueryLiteral]) throws(QuerySyntaxError) -> QuerySyntax {
        var parser = QueryParser(
            tokens: try QueryLexer.tokens(text), arguments: arguments)
        var query = QuerySyntax(condition: .constant(true))
        if !parser.startsStage && parser.current.kind != .end { query.condition = try parser.condition() }
        query.stages = try parser.stages()
        guard parser.current.kind == .end else {
            throw parser.failure("expected 'AND', 'OR' or the end")
        }
        guard parser.nextArgument == arguments.count else {
            throw QuerySyntaxError(
                offset: text.utf8.count,
                message: "the number of arguments is \(arguments.count), but the text uses \(parser.nextArgument)")
        }
        return query
    }

    private init(tokens: [QueryToken], arguments: [QueryLiteral]) {
        self.tokens = tokens
        self.arguments = arguments
    }

    // MARK: Tokens

    var current: QueryToken { tokens[position] }

    mutating func advance() { position = min(position + 1, tokens.count - 1) }

    func isSymbol(_ symbols: String...) -> Bool {
        if case .symbol(let symbol) = current.kind { symbols.contains(symbol) } else { false }
    }

    func word(_ token: QueryToken) -> String? {
        if case .name(let name) = token.kind { name.uppercased() } else { nil }
    }

    func isWord(_ words: String...) -> Bool { word(current).map { words.contains($0) } ?? false }

    mutating func expect(symbol: String) throws(QuerySyntaxError) {
        guard isSymbol(symbol) else { throw failure("expected '\(symbol)'") }
        advance()
    }

    func failure(_ expected: String) -> QuerySyntaxError {
        let found =
            switch current.kind {
            case .end: "the text ends here"
            case .name(let name), .escapedName(let name): "found '\(name)'"
            case .symbol(let symbol): "found '\(symbol)'"
            case .keyword(let name): "found '@\(name)'"
            case .string(let text): "found the text '\(text)'"
            case .number, .literal: "found a literal"
            case .variable(let name): "found '$\(name)'"
            case .argument, .keyPathArgument: "found an argument"
            }
        return QuerySyntaxError(offset: current.offset, message: "\(expected), but \(found)")
    }

    // MARK: Conditions

    private mutating func condition() throws(QuerySyntaxError) -> QuerySyntax.Condition {
        asCondition(try disjunction())
    }

    private func asCondition(_ node: Node) -> QuerySyntax.Condition {
        switch node {
        case .condition(let condition): condition
        case .operand(let operand, _): .value(operand)
        }
    }

    private mutating func disjunction() throws(QuerySyntaxError) -> Node {
        depth += 1
        defer { depth -= 1 }
        // The depth of a query without parentheses is 1.
        guard depth <= Self.maximumDepth + 1 else {
            throw QuerySyntaxError(
                offset: current.offset, message: "more than \(Self.maximumDepth) nested parentheses")
        }
        let first = try conjunction()
        guard isSymbol("||") || isWord("OR") else { return first }
        var parts = [asCondition(first)]
        while isSymbol("||") || isWord("OR") {
            advance()
            parts.append(asCondition(try conjunction()))
        }
        return .condition(.or(parts))
    }

    private mutating func conjunction() throws(QuerySyntaxError) -> Node {
        let first = try negation()
        guard isSymbol("&&") || isWord("AND") else { return first }
        var parts = [asCondition(first)]
        while isSymbol("&&") || isWord("AND") {
            advance()
            parts.append(asCondition(try negation()))
        }
        return .condition(.and(parts))
    }

    private mutating func negation() throws(QuerySyntaxError) -> Node {
        var isNegated = false
        var isFound = false
        while isSymbol("!") || isWord("NOT") {
            advance()
            isNegated.toggle()
            isFound = true
        }
        let node = try comparison()
        guard isFound else { return node }
        let condition = asCondition(node)
        return .condition(isNegated ? .not(condition) : condition)
    }

    private mutating func comparison() throws(QuerySyntaxError) -> Node {
        let quantifier = try quantifier()
        let left = try sum()
        let offset = current.offset
        guard let relation = try relation() else {
            if quantifier != nil { throw failure("expected a comparison") }
            return left
        }
        guard case .operand(let operand, _) = left else {
            throw QuerySyntaxError(
                offset: offset, message: "a condition cannot be compared; expected 'AND', 'OR' or the end")
        }
        var comparison = QuerySyntax.Comparison(
            quantifier: quantifier, left: operand, relation: relation,
            right: .literal(.null, offset), offset: offset)
        if isSymbol("[") { comparison.options = try options(relation) }
        guard case .operand(let right, _) = try sum() else { throw failure("expected a value") }
        comparison.right = right
        return .condition(.comparison(comparison))
    }

    private mutating func quantifier() throws(QuerySyntaxError) -> QuerySyntax.Quantifier? {
        guard let word = word(current), !isPropertyName else { return nil }
        let quantifier: QuerySyntax.Quantifier
        switch word {
        case "ANY", "SOME": quantifier = .any
        case "ALL": quantifier = .all
        case "NONE": quantifier = .none
        default: return nil
        }
        advance()
        return quantifier
    }

    // True if the current word is a property with the name of a quantifier, such as 'any'. A property name is followed
    // by a relation, a dot or the end. A quantifier is followed by a value.
    private var isPropertyName: Bool {
        guard position + 1 < tokens.count else { return true }
        switch tokens[position + 1].kind {
        case .symbol(let symbol): return symbol != "(" && symbol != "{"
        case .end: return true
        case .name(let name):
            return ["CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "IN", "BETWEEN", "AND", "OR", "TEXT"]
                .contains(name.uppercased())
        default: return false
        }
    }

    private mutating func relation() throws(QuerySyntaxError) -> QuerySyntax.Relation? {
        let relation: QuerySyntax.Relation
        switch current.kind {
        case .symbol("="), .symbol("=="): relation = .compare(.equal)
        case .symbol("!="), .symbol("<>"): relation = .compare(.notEqual)
        case .symbol("<"): relation = .compare(.less)
        case .symbol("<="), .symbol("=<"): relation = .compare(.lessOrEqual)
        case .symbol(">"): relation = .compare(.greater)
        case .symbol(">="), .symbol("=>"): relation = .compare(.greaterOrEqual)
        case .name(let name):
            switch name.uppercased() {
            case "CONTAINS": relation = .text(.contains)
            case "BEGINSWITH": relation = .text(.begins)
            case "ENDSWITH": relation = .text(.ends)
            case "LIKE": relation = .text(.like)
            case "IN": relation = .isIn
            case "BETWEEN": relation = .between
            case "TEXT": relation = .fullText
            case "MATCHES":
                throw failure("regular expressions are not supported; use 'LIKE', 'CONTAINS' or 'TEXT'")
            default: return nil
            }
        default: return nil
        }
        advance()
        return relation
    }

    private mutating func options(_ relation: QuerySyntax.Relation) throws(QuerySyntaxError) -> Predicate.TextOptions {
        let allowed =
            switch relation {
            case .text, .compare(.equal), .compare(.notEqual), .isIn: true
            default: false
            }
        advance()
        guard allowed, case .name(let letters) = current.kind, !letters.isEmpty,
            letters.lowercased().utf8.allSatisfy({ "cd".utf8.contains($0) })
        else { throw failure(allowed ? "expected 'c', 'd' or 'cd'" : "this comparison has no options") }
        advance()
        try expect(symbol: "]")
        var options: Predicate.TextOptions = []
        if letters.lowercased().contains("c") { options.insert(.caseInsensitive) }
        if letters.lowercased().contains("d") { options.insert(.diacriticInsensitive) }
        return options
    }

    // MARK: Values

    private mutating func sum() throws(QuerySyntaxError) -> Node {
        try arithmetic(["+": .plus, "-": .minus]) { (parser) throws(QuerySyntaxError) in try parser.product() }
    }

    private mutating func product() throws(QuerySyntaxError) -> Node {
        try arithmetic(["*": .times, "/": .dividedBy]) { (parser) throws(QuerySyntaxError) in try parser.primary() }
    }

    private mutating func arithmetic(
        _ signs: [String: Predicate.Arithmetic], _ part: (inout QueryParser) throws(QuerySyntaxError) -> Node
    ) throws(QuerySyntaxError) -> Node {
        var node = try part(&self)
        while case .symbol(let text) = current.kind, let sign = signs[text] {
            let offset = current.offset
            guard case .operand(let left, let leftDepth) = node else {
                throw failure("expected 'AND', 'OR' or the end")
            }
            advance()
            guard case .operand(let right, let rightDepth) = try part(&self) else {
                throw QuerySyntaxError(offset: offset, message: "expected a value on both sides of '\(text)'")
            }
            let depth = max(leftDepth, rightDepth) + 1
            guard depth <= Self.maximumDepth else {
                throw QuerySyntaxError(
                    offset: offset, message: "more than \(Self.maximumDepth) calculations are nested here")
            }
            node = .operand(.arithmetic(left, sign, right, offset), depth: depth)
        }
        return node
    }

    private mutating func primary() throws(QuerySyntaxError) -> Node {
        let token = current
        switch token.kind {
        case .symbol("("):
            advance()
            let node = try disjunction()
            try expect(symbol: ")")
            return node
        case .symbol("{"): return .operand(try list())
        case .symbol("-"), .symbol("+"): return .operand(.literal(try signedNumber(), token.offset))
        case .number(let literal), .literal(let literal):
            advance()
            return .operand(.literal(literal, token.offset))
        case .string(let text):
            advance()
            return .operand(.literal(.string(text), token.offset))
        case .argument(let number):
            advance()
            return .operand(.literal(try argument(number, token.offset), token.offset))
        case .name(let name): return try keywordOrPath(name, token)
        case .variable, .keyword, .keyPathArgument, .escapedName: return .operand(.path(try path()))
        case .symbol, .end: throw failure("expected a property, a value or a condition")
        }
    }

    private mutating func signedNumber() throws(QuerySyntaxError) -> QueryLiteral {
        let isNegative = isSymbol("-")
        advance()
        let literal: QueryLiteral? =
            switch current.kind {
            case .number(let number): number
            case .name(let name): QueryLiteral.keyword(name)
            default: nil
            }
        switch literal {
        case .integer, .double, .decimal: break
        default: throw failure("expected a number after '\(isNegative ? "-" : "+")'")
        }
        advance()
        return (isNegative ? literal?.negated : literal) ?? .null
    }

    private mutating func keywordOrPath(_ name: String, _ token: QueryToken) throws(QuerySyntaxError) -> Node {
        // A name before a dot is a property, even if it is a keyword.
        if position + 1 < tokens.count, tokens[position + 1].kind == .symbol(".") { return .operand(.path(try path())) }
        switch name.uppercased() {
        case "TRUEPREDICATE":
            advance()
            return .condition(.constant(true))
        case "FALSEPREDICATE":
            advance()
            return .condition(.constant(false))
        case "SUBQUERY": return .operand(try subquery())
        default: break
        }
        if let literal = QueryLiteral.keyword(name) {
            advance()
            return .operand(.literal(literal, token.offset))
        }
        return .operand(.path(try path()))
    }

    private mutating func argument(_ number: Int?, _ offset: Int) throws(QuerySyntaxError) -> QueryLiteral {
        let index = number ?? nextArgument
        nextArgument = max(nextArgument, index + 1)
        guard index < arguments.count else {
            throw QuerySyntaxError(
                offset: offset, message: "argument \(index + 1) is missing; \(arguments.count) were given")
        }
        return arguments[index]
    }

    private mutating func list() throws(QuerySyntaxError) -> QuerySyntax.Operand {
        let offset = current.offset
        try expect(symbol: "{")
        var elements: [QuerySyntax.Operand] = []
        while !isSymbol("}") {
            if isSymbol("{") { throw failure("expected a value; a list cannot contain lists") }
            guard case .operand(let element, _) = try sum() else { throw failure("expected a value") }
            elements.append(element)
            if isSymbol(",") { advance() } else { break }
        }
        guard isSymbol("}") else { throw failure("expected ',' or '}'") }
        advance()
        return .list(elements, offset)
    }

    // Parses a subquery such as `SUBQUERY(items, $x, $x.price > 5).@count`.
    private mutating func subquery() throws(QuerySyntaxError) -> QuerySyntax.Operand {
        let offset = current.offset
        advance()
        try expect(symbol: "(")
        let collection = try path()
        try expect(symbol: ",")
        guard case .variable(let variable) = current.kind else { throw failure("expected a variable such as '$x'") }
        advance()
        try expect(symbol: ",")
        let inner = try condition()
        try expect(symbol: ")")
        try expect(symbol: ".")
        guard case .keyword(let name) = current.kind, name == "count" || name == "size" else {
            throw failure("expected '.@count' after a SUBQUERY")
        }
        advance()
        return .subquery(collection, variable: variable, inner, offset)
    }

    // MARK: Key paths

    mutating func path() throws(QuerySyntaxError) -> QuerySyntax.Path {
        var path = QuerySyntax.Path(offset: current.offset)
        if case .variable(let name) = current.kind {
            path.variable = name
            advance()
            guard isSymbol(".") else { return path }
            advance()
        } else if isWord("SELF") {
            advance()
            guard isSymbol(".") else { return path }
            advance()
        }
        while true {
            try component(&path)
            guard path.components.count <= Self.maximumDepth else {
                throw QuerySyntaxError(
                    offset: path.offset, message: "a key path has at most \(Self.maximumDepth) names")
            }
            guard isSymbol(".") else { return path }
            advance()
        }
    }

    private mutating func component(_ path: inout QuerySyntax.Path) throws(QuerySyntaxError) {
        let offset = current.offset
        switch current.kind {
        case .name(let name), .escapedName(let name):
            advance()
            path.components.append((.property(name), offset))
        case .keyPathArgument(let number):
            advance()
            guard case .string(let text) = try argument(number, offset) else {
                throw QuerySyntaxError(offset: offset, message: "'%K' and '$K0' need a key path as a text")
            }
            for name in text.split(separator: ".", omittingEmptySubsequences: false) {
                path.components.append((.property(String(name)), offset))
            }
        case .keyword(let name): return try keyword(name, &path)
        default: throw failure("expected the name of a property")
        }
        while isSymbol("[") {
            let offset = current.offset
            advance()
            path.components.append((.entry(try mapKey()), offset))
            try expect(symbol: "]")
        }
    }

    private mutating func mapKey() throws(QuerySyntaxError) -> String {
        switch current.kind {
        case .string(let text):
            advance()
            return text
        case .argument(let number):
            let offset = current.offset
            advance()
            if case .string(let text) = try argument(number, offset) { return text }
            throw QuerySyntaxError(offset: offset, message: "the key of a map must be a text")
        default: throw failure("expected the key of a map, as in '[\"key\"]'")
        }
    }

    private mutating func keyword(_ name: String, _ path: inout QuerySyntax.Path) throws(QuerySyntaxError) {
        let offset = current.offset
        func setFunction(_ function: QuerySyntax.Function) throws(QuerySyntaxError) {
            guard path.function == nil else {
                throw QuerySyntaxError(
                    offset: offset,
                    message: "a key path can contain only one of '@count', '@min', '@max', '@sum', '@avg' and '@type'")
            }
            path.function = (function, path.components.count)
        }
        switch name.lowercased() {
        case "count", "size": try setFunction(.count)
        case "min": try setFunction(.aggregate(.min))
        case "max": try setFunction(.aggregate(.max))
        case "sum": try setFunction(.aggregate(.sum))
        case "avg", "average": try setFunction(.aggregate(.average))
        case "type": try setFunction(.kind)
        case "allkeys": path.components.append((.keys, offset))
        case "allvalues": break
        case "links":
            advance()
            let names = try (backlinkName(), backlinkName())
            path.components.append((.backlinks(type: names.0, property: names.1), offset))
            return
        default:
            throw failure(
                "expected '@count', '@size', '@min', '@max', '@sum', '@avg', '@type', '@allKeys', '@allValues' or "
                    + "'@links'")
        }
        advance()
    }

    private mutating func backlinkName() throws(QuerySyntaxError) -> String {
        try expect(symbol: ".")
        switch current.kind {
        case .name(let name), .escapedName(let name):
            advance()
            return name
        default: throw failure("expected a class and a property, as in '@links.Dog.owner'")
        }
    }
}
