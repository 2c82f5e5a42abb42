import ModelTesting
import Testing

@testable import MartletEngine

@Suite struct DecimalSumTests {
    private func sum(_ texts: [String]) -> DecimalSum {
        var sum = DecimalSum()
        for text in texts { sum.add(DecimalNumber(text) ?? .nan) }
        return sum
    }

    @Test(
        "sums of decimals are exact until they are rounded once at the end O53",
        arguments: [
            ([], "0"), (["0.1", "0.2"], "0.3"), (["1e34", "-1e34", "1"], "1"), (["1", "1e34", "-1e34"], "1"),
            (["9999999999999999999999999999999999", "1"], "10000000000000000000000000000000000"),
            (["1e6144", "1e-6176", "-1e6144"], "1e-6176"), (["-0.5", "0.25"], "-0.25"),
            (["1000000000", "-999999999.999999999"], "0.000000001"), (["5", "-5"], "0"),
            // These sums need more than the 34 available digits. A remainder of exactly one half is rounded to the even
            // digit.
            (["1000000000000000000000000000000000", "0.5"], "1000000000000000000000000000000000"),
            (["1000000000000000000000000000000001", "0.5"], "1000000000000000000000000000000002"),
            (["1000000000000000000000000000000000", "0.5", "1e-6176"], "1000000000000000000000000000000001"),
            (["-1000000000000000000000000000000001", "-0.5"], "-1000000000000000000000000000000002"),
            (["9.999999999999999999999999999999999e6144", "1e6144"], "inf"),
            (["-9.999999999999999999999999999999999e6144", "-1e6144"], "-inf"), (["inf", "1"], "inf"),
            (["inf", "-inf"], "NaN"), (["nan", "1"], "NaN"),
        ])
    func totals(_ numbers: [String], _ expected: String) {
        #expect(sum(numbers).total == DecimalNumber(expected))
        #expect(sum(numbers.reversed()).total == DecimalNumber(expected))
    }

    @Test(
        "means of decimals are rounded to 34 digits O53",
        arguments: [
            (["1", "2"], "1.5"), (["1", "1", "0"], "0.6666666666666666666666666666666667"),
            (["1", "0", "0"], "0.3333333333333333333333333333333333"),
            (["-2", "-1", "-2"], "-1.666666666666666666666666666666667"),
            (["1e-6176", "0"], "0"), (["1e-6176", "2e-6176"], "2e-6176"), (["1e6144", "1e6144"], "1e6144"),
            (["0.1", "0.1", "0.1"], "0.1"),
        ])
    func means(_ numbers: [String], _ expected: String) { #expect(sum(numbers).mean == DecimalNumber(expected)) }

    @Test("the mean of no values is nil O53") func nothing() { #expect(sum([]).mean == nil) }

    @Test("random sums of numbers with two decimal places equal sums of integers O53") func random() {
        var random = SeededRandom(seed: 1)
        for _ in 0..<200 {
            let hundredths = (0..<20).map { _ in
                Int64.random(in: -1_000_000_000_000...1_000_000_000_000, using: &random)
            }
            let texts = hundredths.map {
                "\($0 < 0 ? "-" : "")\($0.magnitude / 100).\($0.magnitude % 100 / 10)\($0.magnitude % 10)"
            }
            let total = hundredths.reduce(0, +)
            let expected =
                "\(total < 0 ? "-" : "")\(total.magnitude / 100).\(total.magnitude % 100 / 10)\(total.magnitude % 10)"
            #expect(sum(texts).total == DecimalNumber(expected), "\(texts)")
        }
    }
}
