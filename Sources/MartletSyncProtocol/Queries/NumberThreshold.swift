import MartletEngine
import MartletValues

/// A number of any type as a bound for the values of an integer or floating-point property.
///
/// The engine compares numbers of different types exactly. A condition contains only values of the type of its
/// property, so the bound becomes the least value of this type that is not less than it. The values of a type are
/// searched in their order by bisection: integers as they are, floating-point numbers by their bits.
struct NumberThreshold {
    let operand: ConditionOperand
    /// An integer, a floating-point number other than NaN, or the bytes of a decimal other than NaN.
    let literal: SQLValue

    /// The value of the type that equals the number; nil if there is none.
    var equalValue: SQLValue? {
        guard let least = leastNotLess, order(of: least) == 0 else { return nil }
        return least
    }

    /// The canonical condition that the value has this order.
    func condition(_ comparison: ConditionComparison) -> SubscriptionCondition {
        guard let least = leastNotLess else {
            // All values are less.
            guard comparison == .less || comparison == .lessOrEqual else { return .constant(false) }
            return test(.lessOrEqual, operand.kind == .floating ? .real(.infinity) : .integer(.max))
        }
        if order(of: least) == 0 { return test(comparison, least) }
        return comparison == .less || comparison == .lessOrEqual ? test(.less, least) : test(.greaterOrEqual, least)
    }

    private func test(_ comparison: ConditionComparison, _ value: SQLValue) -> SubscriptionCondition {
        ConditionTest.order(operand, comparison, value).canonical
    }

    private var leastNotLess: SQLValue? {
        let isFloating = operand.kind == .floating
        var low = isFloating ? Self.position(-.infinity) : .min
        var high = isFloating ? Self.position(.infinity) : .max
        guard order(of: value(at: high)) >= 0 else { return nil }
        while low < high {
            // The sum of the halves does not overflow.
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

    // As signed integers, the bits of numbers have the order of the numbers if the bits of negative ones are inverted.
    private static func position(_ number: Double) -> Int64 {
        let bits = Int64(bitPattern: number.bitPattern)
        return bits ^ ((bits >> 63) & .max)
    }

    private static func number(at position: Int64) -> Double {
        Double(bitPattern: UInt64(bitPattern: position ^ ((position >> 63) & .max)))
    }

    // The order of a value of the type relative to the number, as in the engine.
    private func order(of value: SQLValue) -> Int {
        guard case .blob = literal, let decimal = DecimalNumber(value) else {
            return ValueOrder.compare(value, literal)
        }
        return ValueOrder.compare(.blob(decimal.bytes), literal)
    }
}
