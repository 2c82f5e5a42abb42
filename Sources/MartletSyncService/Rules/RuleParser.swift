import MartletEngine

/// Parses the canonical text of a rule. `RuleText.swift` of the compiler writes it.
struct RuleParser {
    private enum Token: Equatable {
        case word(String)
        case text(String)
        case symbol(String)
        case end
    }

    /// The limit for nested parentheses. The compiler checks rules, but a deployed schema may not come from the
    /// compiler. The limit prevents a stack overflow.
    private static let greatestDepth = 100

    private var tokens: [Token] = []
    private var position = 0
    private var depth = 0

    static func rule(_ text: String) throws(SyncSchemaError) -> RuleSyntax {
        var parser = try RuleParser(text)
        let rule = try parser.disjunction()
        guard parser.next == .end else { throw failure }
        return rule
    }

    private static let failure = SyncSchemaError("the rule cannot be read; write the facts again with 'martlet facts'")

    private var next: Token { position < tokens.count ? tokens[position] : .end }

    private mutating func take() -> Token {
        defer { position += 1 }
        return next
    }

    private mutating func take(_ token: Token) -> Bool {
        guard next == token else { return false }
        position += 1
        return true
    }

    private mutating func require(_ token: Token) throws(SyncSchemaError) {
        guard take(token) else { throw Self.failure }
    }

    // MARK: Conditions

    private mutating func disjunction() throws(SyncSchemaError) -> RuleSyntax {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.greatestDepth else { throw Self.failure }
        var parts = [try conjunction()]
        while take(.word("OR")) { parts.append(try conjunction()) }
        return parts.count == 1 ? parts[0] : .or(parts)
    }

    private mutating func conjunction() throws(SyncSchemaError) -> RuleSyntax {
        var parts = [try negation()]
        while take(.word("AND")) { parts.append(try negation()) }
        return parts.count == 1 ? parts[0] : .and(parts)
    }

    private mutating func negation() throws(SyncSchemaError) -> RuleSyntax {
        var isNegated = false
        while take(.word("NOT")) { isNegated.toggle() }
        let condition = try primary()
        return isNegated ? .not(condition) : condition
    }

    private mutating func primary() throws(SyncSchemaError) -> RuleSyntax {
        if take(.word("TRUEPREDICATE")) { return .constant(true) }
        if take(.word("FALSEPREDICATE")) { return .constant(false) }
        if take(.symbol("(")) {
            let condition = try disjunction()
            try require(.symbol(")"))
            return condition
        }
        let left = try operand()
        if take(.word("IN")) { return try membership(left) }
        guard case .symbol(let sign) = take(), let comparison = Self.comparisons[sign] else { throw Self.failure }
        return .comparison(left, comparison, try operand())
    }

    private static let comparisons: [String: Predicate.Comparison] = [
        "==": .equal, "!=": .notEqual, "<": .less, "<=": .lessOrEqual, ">": .greater, ">=": .greaterOrEqual,
    ]

    private mutating func membership(_ operand: RuleSyntax.Operand) throws(SyncSchemaError) -> RuleSyntax {
        guard take(.symbol("{")) else {
            guard case .claim(let names) = try self.operand() else { throw Self.failure }
            return .contained(operand, claim: names)
        }
        var values: [RuleSyntax.Operand] = []
        if take(.symbol("}")) { return .oneOf(operand, values) }
        repeat { values.append(try self.operand()) } while take(.symbol(","))
        try require(.symbol("}"))
        return .oneOf(operand, values)
    }

    // MARK: Operands

    private mutating func operand() throws(SyncSchemaError) -> RuleSyntax.Operand {
        switch take() {
        case .text(let text): return .text(text)
        case .word("nil"): return .null
        case .word("true"): return .bool(true)
        case .word("false"): return .bool(false)
        case .word(let word): return try operand(word)
        case .symbol, .end: throw Self.failure
        }
    }

    private mutating func operand(_ word: String) throws(SyncSchemaError) -> RuleSyntax.Operand {
        if (word == "uuid" || word == "oid"), take(.symbol("(")) {
            guard case .word(let digits) = take(),
                let bytes = Self.bytes(digits.filter { $0 != "-" }), bytes.count == (word == "uuid" ? 16 : 12)
            else { throw Self.failure }
            try require(.symbol(")"))
            return word == "uuid" ? .uuid(bytes) : .objectId(bytes)
        }
        if word.hasPrefix("$user.") { return .claim(Self.names(word.dropFirst(6))) }
        if let first = word.utf8.first, first == UInt8(ascii: "-") || (48...57).contains(first) { return .number(word) }
        let path = word.hasPrefix("#") ? word.dropFirst() : word[...]
        guard !path.isEmpty, !path.hasPrefix("$") else { throw Self.failure }
        return .path(PropertyPath(String(path)))
    }

    private static func names(_ text: Substring) -> [String] {
        text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    static func bytes(_ digits: String) -> [UInt8]? {
        let digits = Array(digits.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).compactMap { index in
            UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16)
        }
        return bytes.count * 2 == digits.count ? bytes : nil
    }

    // MARK: Tokens

    private init(_ text: String) throws(SyncSchemaError) {
        let units = Array(text.utf16)
        var index = 0
        while index < units.count {
            switch units[index] {
            case 0x20: index += 1
            case 0x27: tokens.append(.text(try Self.text(units, &index)))
            case let unit where Self.symbols.contains(unit): tokens.append(Self.symbol(units, &index))
            default:
                let word = units[index...].prefix { $0 != 0x20 && $0 != 0x27 && !Self.symbols.contains($0) }
                tokens.append(.word(String(decoding: word, as: UTF16.self)))
                index += word.count
            }
        }
    }

    private static let symbols = Set("(){},=!<>".utf16)

    private static func symbol(_ units: [UInt16], _ index: inout Int) -> Token {
        let comparison = Set("=!<>".utf16)
        let count = comparison.contains(units[index]) && index + 1 < units.count && units[index + 1] == 0x3D ? 2 : 1
        defer { index += count }
        return .symbol(String(decoding: units[index..<index + count], as: UTF16.self))
    }

    // Parses a text in quotes. Each `\u` escape stands for one UTF-16 code unit.
    private static func text(_ units: [UInt16], _ index: inout Int) throws(SyncSchemaError) -> String {
        var content: [UInt16] = []
        index += 1
        while index < units.count, units[index] != 0x27 {
            guard units[index] == 0x5C else {
                content.append(units[index])
                index += 1
                continue
            }
            guard index + 1 < units.count else { throw failure }
            if units[index + 1] != 0x75 {
                content.append(units[index + 1])
                index += 2
                continue
            }
            let digits = String(decoding: units[(index + 2)...].prefix(4), as: UTF16.self)
            guard digits.utf16.count == 4, let unit = UInt16(digits, radix: 16) else { throw failure }
            content.append(unit)
            index += 6
        }
        guard index < units.count else { throw failure }
        index += 1
        return String(decoding: content, as: UTF16.self)
    }
}
