import MartletEngine
import MartletValues

extension SubscriptionCondition {
    /// The canonical form of the conjunction of the parts. The parts must be canonical.
    package static func and(_ parts: [SubscriptionCondition]) -> SubscriptionCondition {
        combined(parts, isConjunction: true)
    }

    /// The canonical form of the disjunction of the parts. The parts must be canonical.
    package static func or(_ parts: [SubscriptionCondition]) -> SubscriptionCondition {
        combined(parts, isConjunction: false)
    }

    /// The canonical form of the negation. Every test is true or false, so De Morgan's laws hold. The negation of `<`
    /// is a negated test `<`, and not a test `>=`: for nil and NaN, both `<` and `>=` are false.
    package var negated: SubscriptionCondition {
        switch self {
        case .constant(let value): .constant(!value)
        case .all(let parts): .or(parts.map(\.negated))
        case .any(let parts): .and(parts.map(\.negated))
        case .test(let test, let isNegated): .test(test, isNegated: !isNegated)
        }
    }

    /// The canonical form of this condition. All tests must be well-formed.
    package var normalized: SubscriptionCondition {
        switch self {
        case .constant: self
        case .all(let parts): .and(parts.map(\.normalized))
        case .any(let parts): .or(parts.map(\.normalized))
        case .test(let test, let isNegated): isNegated ? test.canonical.negated : test.canonical
        }
    }

    private static func combined(_ parts: [SubscriptionCondition], isConjunction: Bool) -> SubscriptionCondition {
        // A part that is `neutral` has no effect. A part that is the opposite constant determines the result.
        let neutral = SubscriptionCondition.constant(isConjunction)
        var flat: [SubscriptionCondition] = []
        for part in parts {
            switch part {
            case .constant(isConjunction): continue
            case .constant: return part
            case .all(let inner) where isConjunction: flat += inner
            case .any(let inner) where !isConjunction: flat += inner
            default: flat.append(part)
            }
        }
        let merged = mergedSets(flat, isConjunction: isConjunction)
        var unique: Set<SubscriptionCondition> = []
        for part in merged {
            if part == .constant(!isConjunction) { return part }
            if part != neutral { unique.insert(part) }
        }
        let hasOpposites = unique.contains { part in
            if case .test = part { unique.contains(part.negated) } else { false }
        }
        if hasOpposites { return .constant(!isConjunction) }
        let sorted = unique.map { SortedPart($0) }.sorted(by: SortedPart.precedes).map(\.condition)
        switch sorted.count {
        case 0: return neutral
        case 1: return sorted[0]
        default: return isConjunction ? .all(sorted) : .any(sorted)
        }
    }

    // Parts are sorted by their shapes (their bytes without values), and only then by their values. So two conditions
    // that differ only in values have their parts in the same order, and the conditions have the same shape.
    private struct SortedPart {
        let condition: SubscriptionCondition
        let shape: [UInt8]
        let bytes: [UInt8]

        init(_ condition: SubscriptionCondition) {
            self.condition = condition
            shape = condition.shape
            bytes = condition.encoded()
        }

        static func precedes(_ left: SortedPart, _ right: SortedPart) -> Bool {
            left.shape == right.shape
                ? left.bytes.lexicographicallyPrecedes(right.bytes) : left.shape.lexicographicallyPrecedes(right.shape)
        }
    }

    // MARK: Sets

    private struct SetKey: Hashable {
        let operand: ConditionOperand
        let testsElements: Bool
        let isNegated: Bool
    }

    // Merges tests that compare the same operand with sets of values. In a disjunction, two sets are replaced by their
    // union: `a == 1 || a == 2` becomes `a IN {1, 2}`. In a conjunction, two sets are replaced by their intersection.
    // For negated tests, a disjunction intersects the sets, and a conjunction unites them. Tests of the elements of a
    // collection are never merged by intersection, because two different elements can satisfy the two tests.
    private static func mergedSets(_ parts: [SubscriptionCondition], isConjunction: Bool) -> [SubscriptionCondition] {
        var result: [SubscriptionCondition] = []
        var sets: [SetKey: Set<SQLValue>] = [:]
        for part in parts {
            guard case .test(let test, let isNegated) = part, let (key, values) = set(test, isNegated) else {
                result.append(part)
                continue
            }
            let isUnion = isConjunction == isNegated
            if key.testsElements && !isUnion {
                result.append(part)
            } else if let known = sets[key] {
                sets[key] = isUnion ? known.union(values) : known.intersection(values)
            } else {
                sets[key] = values
            }
        }
        for (key, values) in sets {
            let test: ConditionTest =
                key.testsElements
                ? .containsAny(key.operand, Array(values)) : .isIn(key.operand, Array(values))
            result.append(key.isNegated ? test.canonical.negated : test.canonical)
        }
        return result
    }

    private static func set(_ test: ConditionTest, _ isNegated: Bool) -> (SetKey, Set<SQLValue>)? {
        switch test {
        case .isIn(let operand, let values):
            (SetKey(operand: operand, testsElements: false, isNegated: isNegated), Set(values))
        case .containsAny(let operand, let values):
            (SetKey(operand: operand, testsElements: true, isNegated: isNegated), Set(values))
        default: nil
        }
    }
}

extension ConditionTest {
    /// The canonical condition of this test. The values of the test must be canonical.
    package var canonical: SubscriptionCondition {
        switch self {
        case .isNil, .containsNil: return .test(self, isNegated: false)
        case .isIn(let operand, let values):
            let sorted = Self.sorted(values)
            return sorted.isEmpty ? .constant(false) : .test(.isIn(operand, sorted), isNegated: false)
        case .containsAny(let operand, let values):
            let sorted = Self.sorted(values)
            return sorted.isEmpty ? .constant(false) : .test(.containsAny(operand, sorted), isNegated: false)
        case .order(let operand, let comparison, let value): return Self.order(operand, comparison, value)
        case .text(let operand, let match, let pattern): return Self.text(operand, match, pattern)
        case .compared(let left, let comparison, let right): return Self.compared(left, comparison, right)
        }
    }

    private static func sorted(_ values: [SQLValue]) -> [SQLValue] {
        Set(values).sorted { ValueOrder.compare($0, $1) < 0 }
    }

    // The comparisons `<` and `>` of integers and booleans become `<=` and `>=`: `a < 3` becomes `a <= 2`.
    private static func order(
        _ operand: ConditionOperand, _ comparison: ConditionComparison, _ value: SQLValue
    ) -> SubscriptionCondition {
        let isNotNil = SubscriptionCondition.test(.isNil(operand), isNegated: true)
        guard operand.kind == .bool || operand.kind == .integer, case .integer(let number) = value else {
            return .test(.order(operand, comparison, value), isNegated: false)
        }
        let isBool = operand.kind == .bool
        let (least, greatest): (Int64, Int64) = isBool ? (0, 1) : (.min, .max)
        switch comparison {
        case .less:
            return number == least ? .constant(false) : order(operand, .lessOrEqual, .integer(number - 1))
        case .greater:
            return number == greatest ? .constant(false) : order(operand, .greaterOrEqual, .integer(number + 1))
        case .lessOrEqual where number == greatest, .greaterOrEqual where number == least: return isNotNil
        // Only one value satisfies these comparisons.
        case .lessOrEqual where isBool || number == least, .greaterOrEqual where isBool || number == greatest:
            return .test(.isIn(operand, [value]), isNegated: false)
        default: return .test(.order(operand, comparison, value), isNegated: false)
        }
    }

    // Every text contains, begins with and ends with the empty text. So a search for the empty text becomes the test
    // that the value is not nil.
    private static func text(
        _ operand: ConditionOperand, _ match: ConditionTextMatch, _ pattern: SQLValue
    ) -> SubscriptionCondition {
        let isEmpty = pattern == .text("") || pattern == .blob([])
        if match == .like, !hasWildcards(pattern) { return .test(.isIn(operand, [pattern]), isNegated: false) }
        if isEmpty { return .test(.isNil(operand), isNegated: true) }
        return .test(.text(operand, match, pattern), isNegated: false)
    }

    private static func hasWildcards(_ pattern: SQLValue) -> Bool {
        let special: Set<UInt8> = [UInt8(ascii: "?"), UInt8(ascii: "*"), UInt8(ascii: "\\")]
        return switch pattern {
        case .text(let text): text.utf8.contains(where: special.contains)
        case .blob(let bytes): bytes.contains(where: special.contains)
        default: false
        }
    }

    // Of two equivalent comparisons, such as `a > b` and `b < a`, only one is canonical.
    private static func compared(
        _ left: ConditionOperand, _ comparison: ConditionComparison, _ right: ConditionOperand
    ) -> SubscriptionCondition {
        let isReversed =
            switch comparison {
            case .greater, .greaterOrEqual: true
            case .equal: right.path < left.path
            case .less, .lessOrEqual: false
            }
        return isReversed
            ? .test(.compared(right, comparison.flipped, left), isNegated: false)
            : .test(.compared(left, comparison, right), isNegated: false)
    }
}
