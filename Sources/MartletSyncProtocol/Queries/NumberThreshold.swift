import MartletEngine
import MartletValues

/// A number of any type with which a query compares an integer or floating-point property.
///
/// The engine compares numbers of different types exactly. A condition contains only values of the property's type. So
/// the condition contains the least value of this type that is not less than the number: for an integer property, 3.5
/// becomes 4. A binary search over all values of the type finds this value.
struct NumberThreshold {
    let operand: ConditionOperand
    /// An integer, a floating-point number other than NaN, or the bytes of a decimal other than NaN.
    let literal: SQLValue

    /// The value of the property's type that equals the number; nil if no value of the type equals it.
    var equalValue: SQLValue? {
        guard let least = leastNotLess, order(of: least) == 0 else { return nil }
        return least
    }

    /// Returns the canonical condition that the property has the given order relative to the number.
    func condition(_ comparison: ConditionComparison) -> SubscriptionCondition {
        guard let least = leastNotLess else {
            // All values of the type are less than the number.
            guard comparison == .less || comparison == .lessOrEqual else { return .constant(false) }
            return test(.lessOrEqual, operand.kind == .floating ? .real(.infinity) : .integer(.max))
        }
        if order(of: least) == 0 { return test(comparison, least) }
        return comparison == .less || comparison == .lessOrEqual ? test(.less, least) : test(.greaterOrEqual, least)
    }

    private func test(_ comparison: ConditionComparison, _ value: SQLValue) -> SubscriptionCondition {
        ConditionTest.order(operand, comparison, value).canonical
    }

    // The least value of the property's type that is not less than the number; nil if all values are less.
    private var leastNotLess: SQLValue? {
        let isFloating = operand.kind == .floating
        var low = isFloating ? Self.position(-.infinity) : .min
        var high = isFloating ? Self.position(.infinity) : .max
        guard order(of: value(at: high)) >= 0 else { return nil }
        while low < high {
            // Unlike `(low + high) / 2`, the sum of the halves cannot overflow.
            let middle = (low >> 1) + (high >> 1) + (low & high & 1)
            if order(of: value(at: middle)) >= 0 { high = middle } else { low = middle + 1 }
        }
        return value(at: low)
    }

    private func value(at position: Int64) -> SQLValue {
        guard operand.kind == .floating else { return .integer(position) }
        let number = Self.number(at: position)
        return .real(number == 0 ? 0 : number)
    }

    // Returns the bits of a number as a signed integer. If the number is negative, all bits except the sign bit are
    // inverted, so that the integers have the same order as the numbers.
    private static func position(_ number: Double) -> Int64 {
        let bits = Int64(bitPattern: number.bitPattern)
        return bits ^ ((bits >> 63) & .max)
    }

    private static func number(at position: Int64) -> Double {
        Double(bitPattern: UInt64(bitPattern: position ^ ((position >> 63) & .max)))
    }

    // Compares a value of the property's type with the number, in the same way as the engine.
    private func order(of value: SQLValue) -> Int {
        guard case .blob = literal, let decimal = DecimalNumber(value) else {
            return ValueOrder.compare(value, literal)
        }
        return ValueOrder.compare(.blob(decimal.bytes), literal)
    }
}
