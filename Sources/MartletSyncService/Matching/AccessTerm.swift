import MartletEngine
package import MartletSyncProtocol
package import MartletValues

/// A test by which an index finds queries. See `alternatives`.
package enum AccessTerm: Sendable, Equatable {
    /// The value of the operand is one of these values. `.null` stands for nil.
    case values(ConditionOperand, [SQLValue])
    /// At least one element of the operand is one of these values. `.null` stands for nil.
    case elements(ConditionOperand, [SQLValue])
    /// The value of the operand lies in the interval.
    case interval(ConditionOperand, ValueInterval)

    /// The rank of the term by its expected frequency. A term that fewer rows are expected to satisfy has a lower rank.
    var rank: Int {
        switch self {
        case .values(_, let values): values == [.null] ? 2 : 0
        case .elements: 1
        case .interval(_, let interval): interval.lower != nil && interval.upper != nil ? 3 : 4
        }
    }

    /// The alternatives by which an index can find a condition, the best one first. A row that satisfies the condition
    /// satisfies at least one term of each alternative. For `a == 1 && (b == 2 || c == 3)`, the alternatives are
    /// `[a == 1]` and `[b == 2, c == 3]`. The result is empty if no term can exclude a row.
    static func alternatives(_ condition: SubscriptionCondition) -> [[AccessTerm]] {
        found(condition).enumerated().sorted { left, right in
            let (a, b) = (cost(left.element), cost(right.element))
            return a == b ? left.offset < right.offset : a < b
        }.map(\.element)
    }

    // The rank of an alternative, which is the rank of its worst term.
    private static func cost(_ terms: [AccessTerm]) -> Int { terms.map(\.rank).max() ?? 0 }

    private static func found(_ condition: SubscriptionCondition) -> [[AccessTerm]] {
        switch condition {
        case .constant(let value): return value ? [] : [[]]
        case .test(let test, let isNegated): return isNegated ? [] : term(test).map { [[$0]] } ?? []
        case .all(let parts): return joinedIntervals(parts.flatMap(found))
        case .any(let parts):
            // Joins the best alternatives of all parts. Other combinations are not used, because there could be very
            // many.
            var terms: [AccessTerm] = []
            for part in parts {
                guard let best = alternatives(part).first else { return [] }
                terms += best
            }
            return [terms]
        }
    }

    private static func term(_ test: ConditionTest) -> AccessTerm? {
        switch test {
        case .isNil(let operand): return .values(operand, [.null])
        case .isIn(let operand, let values): return .values(operand, indexed(values, operand.kind))
        case .containsNil(let operand): return .elements(operand, [.null])
        case .containsAny(let operand, let values): return .elements(operand, indexed(values, operand.kind))
        case .order(let operand, let comparison, let value):
            // The values of an `AnyRealmValue` property have an order only within one kind of values. So no interval
            // contains all values that satisfy the test.
            return operand.kind == .any ? nil : .interval(operand, interval(comparison, value))
        case .text(let operand, .begins, let prefix): return .interval(operand, interval(prefix: prefix))
        case .text, .compared: return nil
        }
    }

    // The values of an `AnyRealmValue` property are found by their sort key. Equal numbers of different types have the
    // same sort key.
    private static func indexed(_ values: [SQLValue], _ kind: ConditionKind) -> [SQLValue] {
        kind == .any ? values.map(AnyValue.sortKey) : values
    }

    // MARK: Intervals

    private static func interval(_ comparison: ConditionComparison, _ value: SQLValue) -> ValueInterval {
        switch comparison {
        case .less: ValueInterval(upper: .init(value, isIncluded: false))
        case .lessOrEqual: ValueInterval(upper: .init(value, isIncluded: true))
        case .greater: ValueInterval(lower: .init(value, isIncluded: false))
        case .greaterOrEqual: ValueInterval(lower: .init(value, isIncluded: true))
        case .equal: ValueInterval(lower: .init(value, isIncluded: true), upper: .init(value, isIncluded: true))
        }
    }

    private static func interval(prefix: SQLValue) -> ValueInterval {
        var interval = ValueInterval(lower: .init(prefix, isIncluded: true))
        switch prefix {
        case .text(let text): interval.upper = successor(text).map { .init(.text($0), isIncluded: false) }
        case .blob(let bytes): interval.upper = successor(bytes).map { .init(.blob($0), isIncluded: false) }
        default: break
        }
        return interval
    }

    // The least text that is greater than all texts with this prefix: the last code point is replaced by the next code
    // point. Texts have the order of their code points, which is also the order of their bytes in UTF-8.
    private static func successor(_ prefix: String) -> String? {
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            // The code points after U+D7FF are surrogates, which texts do not contain.
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            guard let scalar = Unicode.Scalar(next) else { continue }
            var text = String.UnicodeScalarView(scalars)
            text.append(scalar)
            return String(text)
        }
        return nil
    }

    private static func successor(_ prefix: [UInt8]) -> [UInt8]? {
        var bytes = prefix
        while let last = bytes.popLast() {
            if last < 255 { return bytes + [last + 1] }
        }
        return nil
    }

    // Joins a lower and an upper bound of the same operand: `a >= 1 && a < 5` becomes one interval.
    private static func joinedIntervals(_ alternatives: [[AccessTerm]]) -> [[AccessTerm]] {
        var joined: [[AccessTerm]] = []
        var intervals: [(ConditionOperand, ValueInterval)] = []
        for terms in alternatives {
            guard terms.count == 1, case .interval(let operand, let interval) = terms[0] else {
                joined.append(terms)
                continue
            }
            let partner = intervals.firstIndex { other in
                other.0 == operand
                    && (other.1.lower == nil && interval.upper == nil || other.1.upper == nil && interval.lower == nil)
            }
            guard let partner else {
                intervals.append((operand, interval))
                continue
            }
            intervals[partner].1.lower = intervals[partner].1.lower ?? interval.lower
            intervals[partner].1.upper = intervals[partner].1.upper ?? interval.upper
        }
        return joined + intervals.map { [.interval($0.0, $0.1)] }
    }
}
