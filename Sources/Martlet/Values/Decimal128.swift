import MartletEngine
import MartletValues

/// A decimal number of up to 34 significant digits.
///
/// The number consists of a sign, a coefficient and an exponent of ten. The coefficient has no trailing zeros, so `1.0`
/// and `1.00` are the same number. A Realm stores the number as bytes that sort in numeric order.
public struct Decimal128: Hashable, Sendable, Comparable, CustomStringConvertible, ExpressibleByIntegerLiteral {
    private let number: DecimalNumber

    private init(_ number: DecimalNumber) { self.number = number }

    /// The number 0.
    public static let zero = Decimal128(DecimalNumber.zero)
    /// Not a number. Unlike `Double.nan`, this value equals itself. The operator `<` orders it after all numbers.
    public static let nan = Decimal128(DecimalNumber.nan)
    /// Greater than all finite numbers.
    public static let infinity = Decimal128(DecimalNumber.infinity)

    /// Creates a whole number.
    public init(integerLiteral value: Int64) { self.init(Int(value)) }

    /// Creates a whole number.
    public init(_ value: Int) { self.init(DecimalNumber(value)) }

    /// Creates a number from a literal in generated code. The schema compiler has checked that the literal is a number.
    public init(_ literal: StaticString) {
        guard let number = DecimalNumber("\(literal)") else {
            Misuse.notDecimal("\(literal)")
        }
        self.init(number)
    }

    /// Converts a floating-point number, for comparisons with decimal numbers.
    init(comparing number: Double) { self.init(DecimalNumber(.real(number)) ?? .nan) }

    /// Parses a decimal number with an optional sign, decimal point and exponent, or `NaN` or `inf`.
    ///
    /// - Throws: `InvalidText` if the text is not a number, if it has more than 34 significant digits, or if the number
    ///   is outside the range of decimal128, from 1e-6176 to 9.99…e6144.
    public init(string: String) throws {
        guard let number = DecimalNumber(string) else {
            throw InvalidText(text: string, expected: "a decimal number of at most 34 digits")
        }
        self.init(number)
    }

    /// The digits with a decimal point. Very large and very small numbers are written with an exponent.
    public var description: String { number.description }

    /// Compares the values. NaN comes last.
    public static func < (left: Decimal128, right: Decimal128) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }

    var bytes: [UInt8] { number.bytes }

    /// The sum and the mean of numbers. The mean of no numbers is nil. Only the two results are rounded, to 34 digits.
    static func total(_ numbers: some Sequence<Decimal128>) -> (sum: Decimal128, mean: Decimal128?) {
        var sum = DecimalSum()
        for number in numbers { sum.add(number.number) }
        return (Decimal128(sum.total), sum.mean.map { Decimal128($0) })
    }

    init?(bytes: [UInt8]) {
        guard let number = DecimalNumber(bytes: bytes) else { return nil }
        self.init(number)
    }
}

extension Decimal128: OrderedValue {
    public var _stored: StoredValue { StoredValue(.blob(bytes)) }
    public static func _value(_ stored: StoredValue) -> Decimal128? {
        if case .blob(let bytes) = stored.raw { Decimal128(bytes: bytes) } else { nil }
    }
}

extension Decimal128: NumericValue {
    public typealias _Average = Decimal128

    public static func _nearest(_ stored: StoredValue) -> Decimal128 {
        switch stored.raw {
        case .integer(let number): Decimal128(Int(number))
        case .real(let number): (try? Decimal128(string: "\(number)")) ?? .nan
        default: _value(stored) ?? .zero
        }
    }

    public static func _sum(_ stored: StoredValue) -> Decimal128? { _nearest(stored) }
}
