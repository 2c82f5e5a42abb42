import MartletSQLite
import MartletTestSupport
import ModelTesting
import Testing

@testable import MartletEngine

/// Decodes random and invalid encodings of decimals.
@Suite("encoding of decimals") struct DecimalBytesTests {
    @Test("random bytes are rejected, or decode to a number that encodes to the same bytes") func randomBytes() {
        var random = SeededRandom(seed: 6)
        var found = 0
        for round in 0..<40_000 {
            var bytes = (0..<Int.random(in: 1...22, using: &random)).map { _ in
                UInt8.random(in: .min ... .max, using: &random)
            }
            if round.isMultiple(of: 2) {
                bytes =
                    [[127, 129].randomElement(using: &random) ?? 127]
                    + (0..<18).map { _ in UInt8.random(in: .min ... .max, using: &random) }
                // Uses exponents near the limits of their range.
                if round.isMultiple(of: 4) { bytes[1] = bytes[0] == 129 ? 0x40 : 0xbf }
            }
            guard let number = DecimalNumber(bytes: bytes) else { continue }
            found += 1
            #expect(number.bytes == bytes && DecimalNumber(number.description) == number, "\(bytes)")
            var sum = DecimalSum()
            sum.add(number)
            #expect(sum.total == number)
        }
        #expect(found > 10)
    }

    @Test("numbers in range round-trip, and numbers out of range are rejected") func range() {
        for text in [
            "1e6144", "-1e6144", "1e-6176", "9999999999999999999999999999999999e6111", "0.1", "-7", "NaN", "inf",
        ] {
            let number = DecimalNumber(text)
            #expect(number.flatMap { DecimalNumber(bytes: $0.bytes) } == number && number != nil, "\(text)")
        }
        #expect(DecimalNumber(bytes: []) == .zero)
        let largest = DecimalNumber("1e6144")?.bytes ?? []
        var beyond = largest
        beyond[2] += 1
        #expect(DecimalNumber(bytes: beyond) == nil)
        // A coefficient must have exactly 34 digits, but these two have 35 and 33.
        #expect(DecimalNumber(bytes: largest.prefix(3) + [UInt8](repeating: 255, count: 16)) == nil)
        #expect(DecimalNumber(bytes: largest.prefix(3) + [UInt8](repeating: 1, count: 16)) == nil)
    }
}
