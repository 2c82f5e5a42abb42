/// The exact sum of decimal numbers. Only the result is rounded, so it does not depend on the order of the numbers.
package struct DecimalSum {
    // The sum in limbs of nine digits, by place: the limb at place `p` is multiplied by 10^(9p). A limb may temporarily
    // have more digits, because `propagateCarries` is called only after many additions.
    private var limbs: [Int: Int64] = [:]
    private var additionsSinceCarry = 0
    private var hasInfinity = false
    private var hasNegativeInfinity = false
    private var hasNaN = false
    /// The number of added numbers.
    package private(set) var count = 0

    private static let base: Int64 = 1_000_000_000
    private static let digits = 9
    // Carries are propagated after this many additions, before a limb can overflow.
    private static let carryLimit = 1 << 30

    package init() {}

    package mutating func add(_ number: DecimalNumber) {
        count += 1
        guard let (isNegative, coefficient, exponent) = number.parts else {
            if number == .infinity { hasInfinity = true }
            if number == .negativeInfinity { hasNegativeInfinity = true }
            if number.isNaN { hasNaN = true }
            return
        }
        var place = exponent / Self.digits
        var shift = exponent % Self.digits
        if shift < 0 { (place, shift) = (place - 1, shift + Self.digits) }
        var scale: UInt128 = 1
        for _ in 0..<shift { scale *= 10 }
        let base = UInt128(Self.base)
        var (rest, carry): (UInt128, UInt128) = (coefficient, 0)
        while rest != 0 || carry != 0 {
            let product = rest % base * scale + carry
            let limb = Int64(product % base)
            limbs[place, default: 0] += isNegative ? -limb : limb
            (rest, carry, place) = (rest / base, product / base, place + 1)
        }
        additionsSinceCarry += 1
        if additionsSinceCarry == Self.carryLimit { propagateCarries() }
    }

    /// The sum, rounded to 34 digits. A tie is rounded to the even digit.
    package var total: DecimalNumber { special ?? rounded(dividedBy: 1) }

    /// The mean, rounded like the sum. Nil if no numbers were added.
    package var mean: DecimalNumber? { count == 0 ? nil : special ?? rounded(dividedBy: count) }

    private var special: DecimalNumber? {
        if hasNaN || (hasInfinity && hasNegativeInfinity) { return .nan }
        if hasInfinity { return .infinity }
        return hasNegativeInfinity ? .negativeInfinity : nil
    }

    // Reduces every limb to 0..<base, except the highest limb of a negative sum, which stays negative.
    private mutating func propagateCarries() {
        additionsSinceCarry = 0
        guard var place = limbs.keys.min(), var last = limbs.keys.max() else { return }
        while place <= last {
            let limb = limbs[place] ?? 0
            var carry = limb / Self.base
            if limb % Self.base < 0 { carry -= 1 }
            limbs[place] = limb - carry * Self.base
            // The highest limb of a negative sum stays negative: its carry would be -1 at every further place.
            if place == last, carry == -1 {
                limbs[place] = limb
                break
            }
            if carry != 0 { limbs[place + 1, default: 0] += carry }
            if place == last, carry != 0 { last += 1 }
            place += 1
        }
    }

    /// The sign of the sum, its limbs from the highest to the lowest, and the place of the lowest limb. All limbs are
    /// in 0..<base.
    private var magnitude: (isNegative: Bool, limbs: [Int64], place: Int) {
        var sum = self
        sum.propagateCarries()
        guard let low = sum.limbs.keys.min(), let high = sum.limbs.keys.max() else { return (false, [], 0) }
        var leading: Int64 = 0
        for place in (low...high).reversed() where leading == 0 { leading = sum.limbs[place] ?? 0 }
        let isNegative = leading < 0
        if isNegative {
            for place in sum.limbs.keys { sum.limbs[place, default: 0].negate() }
            sum.propagateCarries()
        }
        let top = sum.limbs.keys.max() ?? high
        return (isNegative, (low...top).reversed().map { sum.limbs[$0] ?? 0 }, low)
    }

    private func rounded(dividedBy divisor: Int) -> DecimalNumber {
        let (isNegative, limbs, place) = magnitude
        var digits: [UInt8] = []
        for limb in limbs {
            let text = String(limb)
            digits += [UInt8](repeating: 0, count: Self.digits - text.utf8.count)
            digits += text.utf8.map { $0 - 48 }
        }
        digits = Array(digits.drop { $0 == 0 })
        var exponent = place * Self.digits
        let rest: Bool
        (digits, exponent, rest) = Self.divide(digits, exponent, UInt64(divisor))
        return DecimalNumber.rounding(isNegative: isNegative, digits, exponent, hasRest: rest)
    }

    /// Long division. Returns the quotient, its exponent, and whether there is a remainder. If there is a remainder,
    /// the quotient has at least `maximumDigits + 2` digits.
    private static func divide(_ digits: [UInt8], _ exponent: Int, _ divisor: UInt64) -> ([UInt8], Int, Bool) {
        if divisor == 1 || digits.isEmpty { return (digits, exponent, false) }
        var (quotient, exponent, rest): ([UInt8], Int, UInt128) = ([], exponent, 0)
        var position = 0
        while position < digits.count || (rest != 0 && quotient.count < DecimalNumber.maximumDigits + 2) {
            rest = rest * 10 + UInt128(position < digits.count ? digits[position] : 0)
            if position >= digits.count { exponent -= 1 }
            position += 1
            let digit = UInt8(rest / UInt128(divisor))
            rest %= UInt128(divisor)
            if digit != 0 || !quotient.isEmpty { quotient.append(digit) }
        }
        return (quotient, exponent, rest != 0)
    }
}
