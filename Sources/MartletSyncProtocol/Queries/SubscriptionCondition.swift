package import MartletValues

/// A value of a row that a condition tests: a property, a property of embedded objects, the primary key of the target
/// of a link, or the elements of a collection.
package struct ConditionOperand: Sendable, Hashable {
    /// The path from the type of the subscription. A path that ends with a link refers to the primary key of the link's
    /// target.
    package let path: ValuePath
    package let kind: ConditionKind

    package init(_ path: ValuePath, _ kind: ConditionKind) {
        self.path = path
        self.kind = kind
    }
}

/// A comparison. If one side is nil or NaN, every comparison is false. The only exception is that two nil operands are
/// equal.
package enum ConditionComparison: UInt8, Sendable, CaseIterable {
    case equal, less, lessOrEqual, greater, greaterOrEqual

    /// The comparison with its two sides swapped.
    package var flipped: ConditionComparison {
        switch self {
        case .equal: .equal
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }
}

/// The kind of a search in a text or in data.
package enum ConditionTextMatch: UInt8, Sendable, CaseIterable {
    case contains, begins, ends
    /// `?` matches one code point of a text or one byte of data. `*` matches any number of them. A backslash escapes
    /// `?`, `*` and a backslash.
    case like
}

/// A test of one value, or of the elements of one collection. A test is true or false, never unknown.
package enum ConditionTest: Sendable, Hashable {
    /// The value is nil, or an embedded object on the path is nil. NaN is not nil.
    case isNil(ConditionOperand)
    /// The value equals one of the given values. The given values are sorted and unique.
    case isIn(ConditionOperand, [SQLValue])
    /// The value has this order relative to the given value. The comparison is never `.equal`. Nil and NaN have no
    /// order.
    case order(ConditionOperand, ConditionComparison, SQLValue)
    case text(ConditionOperand, ConditionTextMatch, SQLValue)
    /// Compares two operands of the same kind, or an integer with a floating-point number. Two nils are equal, but two
    /// NaNs are not equal. The comparison is `.equal`, `.less` or `.lessOrEqual`.
    case compared(ConditionOperand, ConditionComparison, ConditionOperand)
    /// Some element of the collection is nil.
    case containsNil(ConditionOperand)
    /// Some element of the collection equals one of the given values. The given values are sorted and unique.
    case containsAny(ConditionOperand, [SQLValue])

    package var operands: [ConditionOperand] {
        switch self {
        case .isNil(let operand), .isIn(let operand, _), .order(let operand, _, _), .text(let operand, _, _),
            .containsNil(let operand), .containsAny(let operand, _):
            [operand]
        case .compared(let left, _, let right): [left, right]
        }
    }

    /// Returns this test with transformed operands.
    package func mapOperands<E: Error>(
        _ transform: (ConditionOperand) throws(E) -> ConditionOperand
    ) throws(E) -> ConditionTest {
        switch self {
        case .isNil(let operand): .isNil(try transform(operand))
        case .isIn(let operand, let values): .isIn(try transform(operand), values)
        case .order(let operand, let comparison, let value): .order(try transform(operand), comparison, value)
        case .text(let operand, let match, let pattern): .text(try transform(operand), match, pattern)
        case .compared(let left, let comparison, let right):
            .compared(try transform(left), comparison, try transform(right))
        case .containsNil(let operand): .containsNil(try transform(operand))
        case .containsAny(let operand, let values): .containsAny(try transform(operand), values)
        }
    }

    /// True if the operand is a collection. The test then applies to its elements.
    package var testsElements: Bool {
        switch self {
        case .containsNil, .containsAny: true
        case .isNil, .isIn, .order, .text, .compared: false
        }
    }
}

/// The condition of a subscription, in its canonical form.
///
/// Only tests are negated, and a constant is never a part of another condition. `all` and `any` have at least two
/// parts, which are sorted and unique. No part of an `all` is an `all`, and no part of an `any` is an `any`.
/// `SubscriptionCondition+Normal.swift` brings conditions into this form. Equal conditions have equal bytes. Most
/// queries that are written differently but have the same meaning become equal conditions.
package indirect enum SubscriptionCondition: Sendable, Hashable {
    case constant(Bool)
    case all([SubscriptionCondition])
    case any([SubscriptionCondition])
    case test(ConditionTest, isNegated: Bool)

    /// Calls `body` for each test.
    package func forEachTest(_ body: (ConditionTest, _ isNegated: Bool) throws -> Void) rethrows {
        switch self {
        case .constant: break
        case .all(let parts), .any(let parts): for part in parts { try part.forEachTest(body) }
        case .test(let test, let isNegated): try body(test, isNegated)
        }
    }
}
