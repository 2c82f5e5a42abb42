import MartletValues

/// Limits of a condition. They bound the time of its evaluation, and the depth of recursion.
package struct ConditionLimits: Sendable {
    /// The greatest number of bytes of the encoded condition.
    package var bytes = 1 << 16
    /// The greatest nesting depth of `all` and `any`.
    package var depth = 32
    /// The greatest number of tests.
    package var tests = 1_000

    package init() {}
}

private enum ConditionTag: UInt8 {
    case never, always, all, any
    // Each test has two tags. The tag of the negated test is greater by one than the tag that is listed here.
    case isNil = 4
    case isIn = 6
    case order = 8
    case text = 10
    case compared = 12
    case containsNil = 14
    case containsAny = 16
}

/// The first byte of a condition. Readers refuse other versions.
private let encodingVersion: UInt8 = 1

extension SubscriptionCondition {
    /// Encodes the condition. Equal conditions have equal bytes.
    package func encoded() -> [UInt8] {
        var writer = MessageWriter()
        writer.byte(encodingVersion)
        writer.condition(self, includesValues: true)
        return writer.bytes
    }

    /// The encoded condition without the values that it compares. Conditions that differ only in these values have the
    /// same shape.
    package var shape: [UInt8] {
        var writer = MessageWriter()
        writer.condition(self, includesValues: false)
        return writer.bytes
    }

    /// Decodes a condition. Throws if the bytes are not the encoding of a canonical condition, or if the condition
    /// exceeds the limits.
    package init(encoded bytes: [UInt8], limits: ConditionLimits = ConditionLimits()) throws(MalformedMessage) {
        guard bytes.count <= limits.bytes else {
            throw MalformedMessage("a condition has \(bytes.count) bytes, at most \(limits.bytes) are allowed")
        }
        var reader = ConditionReader(reader: try MessageReader(bytes), remainingTests: limits.tests)
        let version = try reader.reader.byte()
        guard version == encodingVersion else {
            throw MalformedMessage("a condition has the unknown version \(version)")
        }
        self = try reader.condition(depth: limits.depth)
        try reader.reader.requireEnd()
        guard normalized == self else { throw MalformedMessage("a condition is not in its canonical form") }
    }

    /// Checks a condition that this client has created. Throws if the condition exceeds the limits that the service
    /// enforces.
    package func check(_ limits: ConditionLimits = ConditionLimits()) throws(UnsupportedQuery) {
        var tests = 0
        forEachTest { _, _ in tests += 1 }
        guard tests <= limits.tests, depth <= limits.depth, encoded().count <= limits.bytes else {
            throw UnsupportedQuery.tooLarge(limits)
        }
    }

    private var depth: Int {
        switch self {
        case .constant, .test: 0
        case .all(let parts), .any(let parts): 1 + (parts.map(\.depth).max() ?? 0)
        }
    }
}

extension MessageWriter {
    fileprivate mutating func condition(_ condition: SubscriptionCondition, includesValues: Bool) {
        switch condition {
        case .constant(let value): byte((value ? ConditionTag.always : .never).rawValue)
        case .all(let parts):
            byte(ConditionTag.all.rawValue)
            list(parts) { $0.condition($1, includesValues: includesValues) }
        case .any(let parts):
            byte(ConditionTag.any.rawValue)
            list(parts) { $0.condition($1, includesValues: includesValues) }
        case .test(let test, let isNegated):
            byte(test.tag.rawValue + (isNegated ? 1 : 0))
            self.test(test, includesValues: includesValues)
        }
    }

    private mutating func test(_ test: ConditionTest, includesValues: Bool) {
        switch test {
        case .isNil(let operand), .containsNil(let operand): self.operand(operand)
        case .isIn(let operand, let values), .containsAny(let operand, let values):
            self.operand(operand)
            if includesValues { list(values) { $0.value($1) } }
        case .order(let operand, let comparison, let value):
            self.operand(operand)
            byte(comparison.rawValue)
            if includesValues { self.value(value) }
        case .text(let operand, let match, let pattern):
            self.operand(operand)
            byte(match.rawValue)
            if includesValues { value(pattern) }
        case .compared(let left, let comparison, let right):
            operand(left)
            byte(comparison.rawValue)
            operand(right)
        }
    }

    private mutating func operand(_ operand: ConditionOperand) {
        byte(operand.kind.rawValue)
        path(operand.path)
    }
}

extension ConditionTest {
    fileprivate var tag: ConditionTag {
        switch self {
        case .isNil: .isNil
        case .isIn: .isIn
        case .order: .order
        case .text: .text
        case .compared: .compared
        case .containsNil: .containsNil
        case .containsAny: .containsAny
        }
    }
}

private struct ConditionReader {
    var reader: MessageReader
    var remainingTests: Int

    mutating func condition(depth: Int) throws(MalformedMessage) -> SubscriptionCondition {
        let number = try reader.byte()
        let isNegated = number >= ConditionTag.isNil.rawValue && number % 2 == 1
        guard let tag = ConditionTag(rawValue: isNegated ? number - 1 : number) else {
            throw MalformedMessage("a condition has a part of the unknown kind \(number)")
        }
        switch tag {
        case .never: return .constant(false)
        case .always: return .constant(true)
        case .all: return .all(try parts(depth: depth))
        case .any: return .any(try parts(depth: depth))
        case .isNil, .isIn, .order, .text, .compared, .containsNil, .containsAny:
            remainingTests -= 1
            guard remainingTests >= 0 else { throw MalformedMessage("a condition has too many comparisons") }
            return .test(try test(tag), isNegated: isNegated)
        }
    }

    private mutating func parts(depth: Int) throws(MalformedMessage) -> [SubscriptionCondition] {
        guard depth > 0 else { throw MalformedMessage("the parts of a condition are nested too deeply") }
        var parts: [SubscriptionCondition] = []
        for _ in 0..<(try reader.count()) { parts.append(try condition(depth: depth - 1)) }
        return parts
    }

    private mutating func test(_ tag: ConditionTag) throws(MalformedMessage) -> ConditionTest {
        let operand = try operand()
        switch tag {
        case .isNil: return .isNil(operand)
        case .containsNil: return .containsNil(operand)
        case .isIn: return .isIn(operand, try values(operand.kind))
        case .containsAny: return .containsAny(operand, try values(operand.kind))
        case .order:
            let comparison = try comparison()
            guard comparison != .equal else {
                throw MalformedMessage("an equality is encoded as an order instead of 'isIn' with one value")
            }
            return .order(operand, comparison, try value(operand.kind))
        case .text:
            guard let match = ConditionTextMatch(rawValue: try reader.byte()), operand.kind.isSearchable else {
                throw MalformedMessage("a search has an unknown kind, or is applied to a value without characters")
            }
            return .text(operand, match, try value(operand.kind))
        default: return .compared(operand, try comparison(), try self.operand())
        }
    }

    private mutating func operand() throws(MalformedMessage) -> ConditionOperand {
        guard let kind = ConditionKind(rawValue: try reader.byte()) else {
            throw MalformedMessage("a compared value has an unknown kind")
        }
        return ConditionOperand(try reader.path(), kind)
    }

    private mutating func comparison() throws(MalformedMessage) -> ConditionComparison {
        guard let comparison = ConditionComparison(rawValue: try reader.byte()) else {
            throw MalformedMessage("a comparison has an unknown kind")
        }
        return comparison
    }

    private mutating func values(_ kind: ConditionKind) throws(MalformedMessage) -> [SQLValue] {
        var values: [SQLValue] = []
        for _ in 0..<(try reader.count()) { values.append(try value(kind)) }
        return values
    }

    private mutating func value(_ kind: ConditionKind) throws(MalformedMessage) -> SQLValue {
        let value: SQLValue = try reader.value()
        guard kind.isCanonical(value) else { throw MalformedMessage("a condition has a value of the wrong type") }
        return value
    }
}
