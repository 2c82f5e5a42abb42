import Foundation
import Martlet
import Testing

@Suite struct ValueTypeTests {
    @Test(
        "Decimal128 is parsed from text and written as text O34",
        arguments: [
            ("0", "0"), ("-0", "0"), ("1.50", "1.5"), ("100", "100"), ("1e3", "1000"), ("1E3", "1000"),
            ("-12.50", "-12.5"), ("0.001", "0.001"),
            ("+7", "7"), (".5", "0.5"), ("5.", "5"), ("1e40", "1e40"), ("12e-50", "12e-50"), ("NaN", "NaN"),
            ("-Infinity", "-inf"),
            ("1.5e-6144", "15e-6145"),
            ("9.999999999999999999999999999999999e6144", "9999999999999999999999999999999999e6111"),
            ("0e99999", "0"),
        ])
    func decimalText(_ text: String, _ expected: String) throws {
        let value = try Decimal128(string: text)
        #expect(value.description == expected)
        #expect(try Decimal128(string: value.description) == value)
    }

    @Test(
        "Decimal128 rejects text that it cannot represent O34",
        arguments: [
            "", ".", "-", "1e", "e5", "1.2.3", "1 ", "0x10", "12345678901234567890123456789012345", "1e6145", "1e-6177",
            "1e999999999999999999999",
            "0." + String(repeating: "0", count: 20_000) + "1", "1\u{301}", "\u{664}",
        ])
    func badDecimals(_ text: String) {
        #expect(throws: InvalidText.self) { try Decimal128(string: text) }
    }

    @Test("Decimal128 is ordered by value O34") func decimalOrder() throws {
        let texts = [
            "-inf", "-1e10", "-10", "-9.5", "-1", "-0.5", "-1e-20", "0", "1e-20", "0.5", "1",
            "1.0000000000000000000000000000000001".dropLast().description, "9.5", "10", "1e10", "inf", "NaN",
        ]
        let values = try texts.map { try Decimal128(string: $0) }
        for (left, right) in zip(values, values.dropFirst()) { #expect(left <= right && !(right < left)) }
    }

    @Test("ObjectId accepts 24 hexadecimal digits only O30") func objectIds() throws {
        let id = try ObjectId(string: "507f1f77bcf86cd799439011")
        #expect(id.stringValue == "507f1f77bcf86cd799439011")
        #expect(id.timestamp == Date(timeIntervalSince1970: 0x507f_1f77))
        for text in [
            "", "507f1f77bcf86cd79943901", "507f1f77bcf86cd7994390111", "+07f1f77bcf86cd799439011",
            "507f1f77bcf86cd7-9943901", "g07f1f77bcf86cd799439011",
        ] {
            #expect(throws: InvalidText.self) { try ObjectId(string: text) }
        }
        #expect(ObjectId.generate() < ObjectId.generate() && Set((0..<1_000).map { _ in ObjectId() }).count == 1_000)
    }
}
