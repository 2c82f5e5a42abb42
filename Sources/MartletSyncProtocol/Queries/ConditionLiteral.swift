import MartletEngine
import MartletValues

/// The value that a query compares with an operand, in the form that the engine binds to a statement.
struct ConditionLiteral {
    let operand: ConditionOperand
    let value: SQLValue
    /// The name of the operand, for errors.
    let name: String

    /// Returns the value, converted to the type of the operand; nil if no value of the operand's type equals it.
    func equalValue() throws(UnsupportedQuery) -> SQLValue? {
        if isNaN { return nil }
        switch (operand.kind, value) {
        case (.integer, .integer), (.floating, .real): return zeroIsPositive(value)
        case (.integer, .real), (.integer, .blob), (.floating, .integer), (.floating, .blob):
            return try threshold().equalValue
        case (.decimal, .integer), (.decimal, .real), (.decimal, .blob): return .blob(try decimal().bytes)
        case (.date, .real): return zeroIsPositive(value)
        case (.any, _): return try anyValue()
        default: return try checked()
        }
    }

    /// Returns the condition that the operand has the given order relative to the value.
    func condition(_ comparison: ConditionComparison) throws(UnsupportedQuery) -> SubscriptionCondition {
        if isNaN { return .constant(false) }
        switch (operand.kind, value) {
        case (.integer, .real), (.integer, .blob), (.floating, .integer), (.floating, .blob):
            return try threshold().condition(comparison)
        case (.object, _): throw UnsupportedQuery.wrongType(name)
        default:
            guard let value = try equalValue() else { return .constant(false) }
            return ConditionTest.order(operand, comparison, value).canonical
        }
    }

    // NaN equals no value and has no order. For an `AnyRealmValue`, `AnyLiteral` detects NaN.
    private var isNaN: Bool {
        switch (operand.kind, value) {
        case (.any, _): false
        case (_, .real(let number)): number.isNaN
        case (.decimal, .blob), (.integer, .blob), (.floating, .blob): value == .blob(DecimalNumber.nan.bytes)
        default: false
        }
    }

    private func zeroIsPositive(_ value: SQLValue) -> SQLValue {
        if case .real(let number) = value, number == 0 { .real(0) } else { value }
    }

    private func threshold() throws(UnsupportedQuery) -> NumberThreshold {
        if case .blob = value { return NumberThreshold(operand: operand, literal: .blob(try decimal().bytes)) }
        return NumberThreshold(operand: operand, literal: value)
    }

    private func decimal() throws(UnsupportedQuery) -> DecimalNumber {
        guard let decimal = DecimalNumber(value) else { throw UnsupportedQuery.wrongType(name) }
        return decimal
    }

    private func anyValue() throws(UnsupportedQuery) -> SQLValue? {
        switch AnyLiteral.canonical(value) {
        case .value(let value): return value
        case .notANumber: return nil
        case .unsupported:
            throw UnsupportedQuery(
                "'\(name)' is compared with an object, a list or a map, which a subscription cannot contain; compare it "
                    + "with a number, a text or another single value")
        }
    }

    private func checked() throws(UnsupportedQuery) -> SQLValue {
        guard operand.kind.isCanonical(value) else { throw UnsupportedQuery.wrongType(name) }
        return value
    }
}
