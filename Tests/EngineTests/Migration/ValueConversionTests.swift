import MartletSQLite
import MartletValues
import Testing

@testable import MartletEngine

@Suite("value conversions of migrations")
struct ValueConversionTests {
    private static let id = [UInt8](0..<16)

    @Test(
        "a value is converted only if the new type can represent it exactly O70 O35",
        arguments: [
            (.integer(3), .int, .int8, .integer(3)), (.integer(300), .int, .int8, nil),
            (.integer(-129), .int64, .int8, nil), (.integer(40_000), .int32, .int16, nil),
            (.integer(1 << 40), .int64, .int32, nil), (.integer(3), .int8, .int64, .integer(3)),
            (.integer(3), .int, .double, .real(3)), (.integer(1 << 53 + 1), .int, .double, nil),
            (.integer(1 << 24 + 1), .int, .float, nil), (.integer(1 << 24), .int, .float, .real(16_777_216)),
            (.integer(-7), .int, .string, .text("-7")), (.integer(1), .int, .bool, .integer(1)),
            (.integer(2), .int, .bool, nil), (.integer(5), .int, .any, .integer(5)),
            (.integer(5), .any, .int, .integer(5)),
            (.integer(1), .bool, .int, .integer(1)), (.integer(1), .bool, .string, .text("true")),
            (.integer(0), .bool, .double, nil), (.integer(5), .int, .date, nil), (.integer(5), .int, .decimal128, nil),
            (.real(4), .double, .int, .integer(4)), (.real(4.5), .double, .int, nil), (.real(1e19), .double, .int, nil),
            (.real(.nan), .double, .int, nil), (.real(.nan), .double, .float, .real(.nan)),
            (.real(0.1), .double, .float, nil), (.real(0.5), .double, .float, .real(0.5)),
            (.real(0.5), .float, .double, .real(0.5)), (.real(-0.0), .float, .double, .real(-0.0)),
            (.real(0.1), .double, .string, .text("0.1")), (.real(0.5), .double, .any, .real(0.5)),
            (.real(Double(Float(0.1))), .float, .string, .text("0.1")),
            (.real(.nan), .float, .string, .text("nan")), (.real(-0.0), .float, .string, .text("-0.0")),
            (.real(Double(Float(0.1))), .float, .any, AnyValueTag.float.tagged(.real(0.1))),
            (.real(.nan), .float, .any, nil), (.real(.nan), .double, .any, nil), (.real(5), .date, .double, nil),
            (.real(5), .double, .date, nil),
            (.text("12"), .string, .int, .integer(12)), (.text(" 12"), .string, .int, nil),
            (.text("1.5"), .string, .int, nil), (.text("1.5"), .string, .double, .real(1.5)),
            (.text(""), .string, .int, nil), (.text("999"), .string, .int8, nil),
            (.text("true"), .string, .bool, .integer(1)), (.text("1"), .string, .bool, nil),
            (.text("a"), .string, .any, .text("a")), (.text("a"), .any, .string, .text("a")),
            (.text("a"), .string, .data, nil),
            (.text("00010203-0405-0607-0809-0a0b0c0d0e0f"), .string, .uuid, .blob(id)),
            (.text("0001020304050607"), .string, .uuid, nil),
            (.blob(id), .uuid, .string, .text("00010203-0405-0607-0809-0A0B0C0D0E0F")),
            (.text("000102030405060708090a0b"), .string, .objectId, .blob([UInt8](0..<12))),
            (.text("000102030405060708090a0"), .string, .objectId, nil),
            (.blob([UInt8](0..<12)), .objectId, .string, .text("000102030405060708090a0b")),
            (.blob([1]), .data, .string, nil), (.null, .date, .int, .null),
        ] as [(SQLValue, ScalarType, ScalarType, SQLValue?)])
    func scalars(value: SQLValue, old: ScalarType, new: ScalarType, expected: SQLValue?) {
        #expect(ValueConversion.convert(value, from: .scalar(old), to: .scalar(new)) == expected)
    }

    @Test(
        "numbers in AnyRealmValues that are stored with a tag are converted too O70 O32",
        arguments: [
            (float(0.5), .double, .real(0.5)), (float(0.1), .float, .real(Double(Float(0.1)))),
            (float(0.1), .string, .text("0.1")), (float(4), .int, .integer(4)), (float(4.5), .int, nil),
            (float(.nan), .double, .real(.nan)), (double(.nan), .double, .real(.nan)),
            (double(-0.0), .double, .real(-0.0)), (double(.nan), .string, .text("nan")), (double(.nan), .int, nil),
            (AnyValueTag.bool.tagged([1]), .int, nil), (AnyValueTag.date.tagged(.real(5)), .double, nil),
            (AnyValueTag.uuid.tagged(id), .string, nil), (AnyValueTag.float.tagged([1]), .double, nil),
        ] as [(SQLValue, ScalarType, SQLValue?)])
    func taggedNumbers(value: SQLValue, new: ScalarType, expected: SQLValue?) {
        let converted = ValueConversion.convert(value, from: .scalar(.any), to: .scalar(new))
        #expect(converted == expected)
        if case .real(let number)? = converted, case .real(let exact)? = expected {
            #expect(number.bitPattern == exact.bitPattern)
        }
    }

    private static func float(_ number: Float) -> SQLValue { AnyValueTag.float.tagged(.real(Double(number))) }

    private static func double(_ number: Double) -> SQLValue {
        AnyValueTag.double.tagged(AnyValueTag.bigEndian(number.bitPattern))
    }

    @Test("messages show the numbers in AnyRealmValues, and the kinds of other values O70 O32") func texts() {
        let any = ElementType.scalar(.any)
        #expect(ValueText.text(Self.float(0.1), any) == "0.1" && ValueText.text(Self.double(.nan), any) == "nan")
        #expect(ValueText.text(AnyValueTag.date.tagged(.real(5)), any) == "a 'date'")
        #expect(ValueText.text(.blob([99, 1]), any) == "2 bytes")
    }

    @Test("an enum is converted like its raw value, and a link only to a link or embedded object of its type O70 O31")
    func others() {
        #expect(ValueConversion.convert(.integer(3), from: .intEnum, to: .scalar(.string)) == .text("3"))
        #expect(ValueConversion.convert(.text("a"), from: .scalar(.string), to: .stringEnum) == .text("a"))
        #expect(ValueConversion.convert(.integer(3), from: .link("Dog"), to: .embedded("Dog")) == .integer(3))
        #expect(ValueConversion.convert(.integer(3), from: .link("Dog"), to: .link("Cat")) == nil)
        #expect(ValueConversion.convert(.integer(3), from: .link("Dog"), to: .scalar(.int)) == nil)
    }

    private func converted(_ old: String, _ new: String, _ elements: [SQLValue]) throws -> [SQLValue]? {
        let types = try [old, new].map { text in
            try #require(SchemaFactsParser.objectType("object Dog\nproperty a \(text)"))
        }
        return PropertyConverter(types[0].properties[0], types[1].properties[0], nil).convert(elements)
    }

    @Test(
        "a single value is converted to a list of one element and back, and lossy conversions are refused O70 O30"
    )
    func kinds() throws {
        #expect(try converted("Int", "List<Int>", [.integer(3)]) == [.integer(3)])
        #expect(try converted("List<String>", "Set<Int>", [.text("1"), .text("+1")]) == nil)
        #expect(try converted("List<String>", "Set<Int>", [.text("1"), .text("2")]) == [.integer(1), .integer(2)])
        let negativeZero = SQLValue.blob([0, 0, 0, 0, 0, 0, 0, 0x80])
        #expect(try converted("List<Double>", "Set<Double>", [.real(0), negativeZero]) == nil)
        let uuids = ["0A000000-0000-0000-0000-000000000000", "0a000000-0000-0000-0000-000000000000"]
        #expect(try converted("Set<String>", "Set<UUID>", uuids.map(SQLValue.text)) == nil)
        #expect(try converted("Int?", "List<Int>", [.null]) == [])
        #expect(try converted("Int", "List<String>", [.integer(3)]) == [.text("3")])
        #expect(try converted("Int?", "Map<Int>", [.null]) == [])
        #expect(try converted("Int", "Map<Int>", [.integer(3)]) == nil)
        #expect(try converted("List<Int>", "Int", []) == [.null])
        #expect(try converted("List<Int>", "String", [.integer(3)]) == [.text("3")])
        #expect(try converted("List<Int>", "Int", [.integer(3), .integer(4)]) == nil)
        #expect(try converted("List<Int>", "Set<Int>", [.integer(3), .integer(4)]) == [.integer(3), .integer(4)])
        #expect(try converted("List<Int>", "Set<Int>", [.integer(3), .integer(3)]) == nil)
        #expect(try converted("Set<Int>", "List<Int8>", [.integer(3), .integer(400)]) == nil)
        #expect(try converted("List<Int?>", "List<Int>", [.integer(3), .null]) == nil)
        #expect(try converted("List<Int>", "List<Int?>", [.integer(3)]) == [.integer(3)])
        #expect(try converted("Map<Int>", "Map<String>", [.text("k"), .integer(3)]) == [.text("k"), .text("3")])
        #expect(try converted("Map<Int?>", "Map<Int>", [.text("k"), .null]) == nil)
        #expect(try converted("Map<Int>", "List<Int>", []) == [])
        #expect(try converted("Map<Int>", "List<Int>", [.text("k"), .integer(3)]) == nil)
    }
}
