import MartletEngine
import MartletValues

extension SubscriptionCondition {
    /// Returns the condition as text, for errors and logs. The text resembles the text of a query, but cannot always be
    /// parsed.
    ///
    /// - Parameters:
    ///   - type: the number of the type of the subscription.
    ///   - includesValues: false to write `?` instead of values, which may be private.
    package func text(type: Int, in schema: AgreedSchema, includesValues: Bool = true) -> String {
        ConditionText(type: type, schema: schema, includesValues: includesValues).text(self, isNested: false)
    }
}

private struct ConditionText {
    let type: Int
    let schema: AgreedSchema
    let includesValues: Bool

    func text(_ condition: SubscriptionCondition, isNested: Bool) -> String {
        switch condition {
        case .constant(let value): return value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .all(let parts): return joined(parts, " AND ", isNested)
        case .any(let parts): return joined(parts, " OR ", isNested)
        case .test(let test, let isNegated): return text(test, isNegated)
        }
    }

    private func joined(_ parts: [SubscriptionCondition], _ separator: String, _ isNested: Bool) -> String {
        let text = parts.map { self.text($0, isNested: true) }.joined(separator: separator)
        return isNested ? "(\(text))" : text
    }

    private func text(_ test: ConditionTest, _ isNegated: Bool) -> String {
        switch test {
        case .isNil(let operand): return "\(name(operand)) \(isNegated ? "!=" : "==") nil"
        case .isIn(let operand, let values) where values.count == 1:
            return "\(name(operand)) \(isNegated ? "!=" : "==") \(text(values[0], operand))"
        default: return isNegated ? "NOT (\(plainText(test)))" : plainText(test)
        }
    }

    private func plainText(_ test: ConditionTest) -> String {
        switch test {
        case .isNil(let operand): "\(name(operand)) == nil"
        case .isIn(let operand, let values): "\(name(operand)) IN \(list(values, operand))"
        case .order(let operand, let comparison, let value):
            "\(name(operand)) \(sign(comparison)) \(text(value, operand))"
        case .text(let operand, let match, let pattern):
            "\(name(operand)) \(keyword(match)) \(text(pattern, operand))"
        case .compared(let left, let comparison, let right): "\(name(left)) \(sign(comparison)) \(name(right))"
        case .containsNil(let operand): "ANY \(name(operand)) == nil"
        case .containsAny(let operand, let values): "ANY \(name(operand)) IN \(list(values, operand))"
        }
    }

    private func sign(_ comparison: ConditionComparison) -> String {
        switch comparison {
        case .equal: "=="
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        }
    }

    private func keyword(_ match: ConditionTextMatch) -> String {
        switch match {
        case .contains: "CONTAINS"
        case .begins: "BEGINSWITH"
        case .ends: "ENDSWITH"
        case .like: "LIKE"
        }
    }

    // A property that the schema does not have is written as its number, such as `#3`.
    private func name(_ operand: ConditionOperand) -> String {
        var current = schema.type(type)
        var names: [String] = []
        for number in operand.path.properties {
            guard let found = current, found.properties.indices.contains(number) else {
                names.append("#\(number)")
                current = nil
                continue
            }
            let property = found.properties[number]
            names.append(property.name)
            current = property.element.target.flatMap { schema.type(named: $0) }
            if case .link(let target) = property.element, let key = schema.primaryKey(of: target) {
                names.append(key.name)
            }
        }
        return names.joined(separator: ".")
    }

    // MARK: Values

    private static let greatestCount = 8

    private func list(_ values: [SQLValue], _ operand: ConditionOperand) -> String {
        guard includesValues else { return "{?}" }
        let shown = values.prefix(Self.greatestCount).map { text($0, operand) }
        let rest = values.count - shown.count
        return "{\(shown.joined(separator: ", "))\(rest > 0 ? ", and \(rest) more" : "")}"
    }

    private func text(_ value: SQLValue, _ operand: ConditionOperand) -> String {
        guard includesValues else { return "?" }
        switch (value, operand.kind) {
        case (.null, _): return "nil"
        case (.integer(let number), .bool): return number == 0 ? "false" : "true"
        case (.integer(let number), _): return "\(number)"
        case (.real(let number), .date): return "date(\(number))"
        case (.real(let number), _): return "\(number)"
        case (.text(let text), _): return Self.quoted(text)
        case (.blob(let bytes), .decimal): return DecimalNumber(bytes: bytes)?.description ?? "?"
        case (.blob(let bytes), .any): return Self.anyText(bytes)
        case (.blob(let bytes), _): return Self.hexadecimal(bytes)
        }
    }

    private static func anyText(_ bytes: [UInt8]) -> String {
        let content = Array(bytes.dropFirst())
        return switch bytes.first.flatMap(AnyValueTag.init) {
        case .bool: content == [1] ? "true" : "false"
        case .decimal128: DecimalNumber(bytes: content)?.description ?? "?"
        case .date:
            "date(\(Double(bitPattern: content.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })))"
        default: hexadecimal(content)
        }
    }

    // Control characters are escaped. Otherwise a value with a line break could add a forged line to a log.
    private static func quoted(_ text: String) -> String {
        let shown = text.unicodeScalars.prefix(64).map { scalar in
            scalar == "'" || scalar == "\\" || scalar.properties.generalCategory == .control
                ? scalar.escaped(asASCII: true) : String(scalar)
        }
        return "'\(shown.joined())'" + (text.unicodeScalars.count > 64 ? "…" : "")
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = bytes.prefix(32).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        return "0x\(digits.joined())" + (bytes.count > 32 ? "…" : "")
    }
}
