/// Writes rules in the canonical notation. It is the notation of query texts, with single spaces, without superfluous
/// parentheses, and on one line. Equal conditions have equal texts.
extension RuleCondition {
    public var text: String { text(in: .disjunction) }

    /// The levels of precedence, the lowest one first.
    private enum Level: Int {
        case disjunction
        case conjunction
        case negation
    }

    private func text(in level: Level) -> String {
        switch self {
        case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .or(let parts):
            parenthesized(parts.map { $0.text(in: .conjunction) }.joined(separator: " OR "), level, above: .disjunction)
        case .and(let parts):
            parenthesized(parts.map { $0.text(in: .negation) }.joined(separator: " AND "), level, above: .conjunction)
        case .not(let part): "NOT " + part.operandOfNot
        case .comparison(let left, let relation, let right): "\(left.text) \(relation.rawValue) \(right.text)"
        case .oneOf(let operand, let values):
            "\(operand.text) IN {\(values.map(\.text).joined(separator: ", "))}"
        case .contained(let operand, let claim): "\(operand.text) IN \(claim.text)"
        }
    }

    private var operandOfNot: String {
        switch self {
        case .and, .or: "(\(text))"
        default: text(in: .negation)
        }
    }

    private func parenthesized(_ text: String, _ level: Level, above own: Level) -> String {
        level.rawValue > own.rawValue ? "(\(text))" : text
    }
}

extension RuleModel {
    /// The canonical notation of the condition.
    public var text: String { condition.text }
}

extension RuleOperand {
    var text: String {
        switch self {
        case .property(let path): path.text
        case .claim(let claim): claim.text
        case .literal(let literal): literal.text
        }
    }
}

extension RuleClaim {
    public var text: String { "$user." + names.joined(separator: ".") }
}

extension RulePath {
    /// The path as a query text. If the path has only one name, and this name is a keyword of the query language, the
    /// text begins with `#`.
    public var text: String {
        let isKeyword = names.count == 1 && RuleKeyword.all.contains(property.uppercased())
        return (isKeyword ? "#" : "") + names.joined(separator: ".")
    }
}

/// The words that query texts reserve.
public enum RuleKeyword {
    /// The words in upper case. Query texts can contain them in any case.
    public static let all: Set<String> = [
        "AND", "OR", "NOT", "IN", "TRUE", "FALSE", "NIL", "NULL", "ANY", "SOME", "ALL", "NONE", "BETWEEN", "CONTAINS",
        "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES", "TEXT", "SUBQUERY", "TRUEPREDICATE", "FALSEPREDICATE", "SORT",
        "DISTINCT", "LIMIT", "INF", "INFINITY", "NAN", "YES", "NO",
    ]
}

extension RuleLiteral {
    var text: String {
        switch self {
        case .null: "nil"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .number(let text): text
        case .string(let text): "'\(RuleLiteral.escaped(text))'"
        case .uuid(let bytes): "uuid(\(RuleLiteral.uuidText(bytes)))"
        case .objectId(let bytes): "oid(\(RuleLiteral.hexadecimal(bytes)))"
        }
    }

    /// Escapes quotes, backslashes, and all characters that are not printable ASCII, so that the text is one line.
    private static func escaped(_ text: String) -> String {
        text.utf16.map { unit in
            switch unit {
            case 0x27: "\\'"
            case 0x5C: "\\\\"
            case 0x20...0x7E: String(UnicodeScalar(UInt8(unit)))
            default: "\\u" + hexadecimal([UInt8(unit >> 8), UInt8(unit & 0xFF)])
            }
        }.joined()
    }

    public static func uuidText(_ bytes: [UInt8]) -> String {
        var digits = hexadecimal(bytes)[...]
        return [8, 4, 4, 4, 12].map { length in
            defer { digits = digits.dropFirst(length) }
            return String(digits.prefix(length))
        }.joined(separator: "-")
    }

    public static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef")
        return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}
