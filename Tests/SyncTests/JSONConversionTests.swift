import MartletEngine
import MartletPostgres
import MartletSyncProtocol
import MartletValues
import ModelTesting
import Testing

@testable import MartletSyncService

/// A schema for conversions. Its embedded type `Home` has properties of all types.
enum JSONSample {
    static let facts = """
        object Dog
        primaryKey id
        sync both
        property id Int
        property home embedded:Home?
        property any AnyRealmValue

        object Tag
        primaryKey name
        sync both
        property name String

        object Chip
        primaryKey id
        sync both
        property id UUID

        embedded Home
        property flag Bool
        property small Int8
        property number Int
        property size enum:Int
        property float Float
        property double Double
        property text String
        property kind enum:String
        property data Data
        property date Date
        property code ObjectId
        property token UUID
        property price Decimal128
        property maybe String?
        property dog link:Dog?
        property tag link:Tag?
        property chip link:Chip?
        property any AnyRealmValue
        property inner embedded:Home?
        property list List<Double>
        property names Set<String>
        property map Map<Int?>
        property dogs List<link:Dog>
        property homes List<embedded:Home>
        property rooms Map<embedded:Home?>
        """

    static let schema = Result { try SyncSchema(facts: facts) }

    static func property(_ name: String, of type: String = "Home") throws -> PropertySchema {
        let schema = try schema.get()
        return try #require(schema.number(of: type).flatMap { schema.types[$0][name] })
    }
}

/// Random values of properties.
struct RandomValues {
    private var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: values.indices, using: &random)]
    }
    private mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in .random(in: 0...255, using: &random) }
    }
    private mutating func integer() -> Int64 { pick([0, -1, .max, .min, .random(in: .min ... .max, using: &random)]) }
    private mutating func text() -> String {
        pick(["", "x", "\u{1}\"\\/\u{7F}", "e\u{301}\u{1F600}", "$oid", "\u{2028}", "NaN", "1"])
    }
    private mutating func double() -> Double {
        pick([
            .nan, .infinity, -.infinity, -0.0, 0, 1, 0.1, .leastNonzeroMagnitude, 1e300, -.greatestFiniteMagnitude,
            9_007_199_254_740_992, 1e15,
            Double(bitPattern: .random(in: 0..<0x7FF0_0000_0000_0000, using: &random)),
        ])
    }
    private mutating func float() -> Float {
        pick([
            .nan, .infinity, -0.0, 0.1, 1e38, .leastNonzeroMagnitude,
            Float(bitPattern: .random(in: 0..<0x7F80_0000, using: &random)),
        ])
    }
    private mutating func date() -> Double {
        pick([
            0, -0.0, .nan, .infinity, 0.5, -0.000_001, 1.0 / 3, 1e11, -63_113_904_000, 252_423_993_599.999,
            Double(Int64.random(in: -4_000_000_000_000_000...4_000_000_000_000_000, using: &random)) / 1_000_000,
        ])
    }
    private mutating func decimal() -> DecimalNumber {
        let text = pick([
            "NaN", "inf", "-inf", "0", "-123.45", "1e6144", "-1e-6176", "1234567890123456789012345678901234",
        ])
        return DecimalNumber(text) ?? .zero
    }

    mutating func value(_ element: ElementType, isOptional: Bool, depth: Int) -> SyncValue {
        if element == .scalar(.any) { return any(depth: depth) }
        if isOptional, Bool.random(using: &random) { return .null }
        switch element {
        case .link("Dog"): return .link(ObjectAddress(type: 1, key: .integer(integer())))
        case .link("Tag"): return .link(ObjectAddress(type: 3, key: .text(text())))
        case .link: return .link(ObjectAddress(type: 0, key: .blob(bytes(16))))
        case .embedded:
            guard depth > 0, let type = try? JSONSample.schema.get().types[2] else { return .null }
            return .embedded(
                type.properties.map {
                    $0.isCollection
                        ? collection($0, depth: depth - 1)
                        : value($0.element, isOptional: $0.isOptional || $0.isLink, depth: depth - 1)
                })
        case .intEnum: return .scalar(.integer(integer()))
        case .stringEnum: return .scalar(.text(text()))
        case .scalar(let scalar): return .scalar(self.scalar(scalar))
        }
    }

    private mutating func collection(_ property: PropertySchema, depth: Int) -> SyncValue {
        let isOptional = property.accepts(.null)
        let count = property.element.isEmbedded && depth < 1 ? 0 : pick([0, 0, 1, 2])
        let values = (0..<count).map { _ in value(property.element, isOptional: isOptional, depth: depth) }
        guard property.kind == .map else { return .list(values) }
        return .map(MapEntry.sorted(zip(["$oid", "é"], values).map { MapEntry(key: $0, value: $1) }))
    }

    private mutating func scalar(_ scalar: ScalarType) -> SQLValue {
        switch scalar {
        case .bool: .integer(pick([0, 1]))
        case .int8: .integer(Int64(pick([Int8.min, 0, .max])))
        case .int16: .integer(Int64(pick([Int16.min, 0, .max])))
        case .int32: .integer(Int64(pick([Int32.min, 0, .max])))
        case .int, .int64: .integer(integer())
        case .float: .real(Double(float()))
        case .double: .real(double())
        case .date: .real(date())
        case .string, .any: .text(text())
        case .data: .blob(bytes(pick([0, 1, 2, 3, 40])))
        case .uuid: .blob(bytes(16))
        case .objectId: .blob(bytes(12))
        case .decimal128: .blob(decimal().bytes)
        }
    }

    private mutating func any(depth: Int) -> SyncValue {
        switch Int.random(in: 0..<(depth > 0 ? 14 : 11), using: &random) {
        case 0: return .null
        case 1: return .scalar(.integer(integer()))
        case 2: return .scalar(.text(text()))
        case 3:
            let number = double()
            return .scalar(
                FloatingSpecials.needsBits(number)
                    ? AnyValueTag.double.tagged(AnyValueTag.bigEndian(number.bitPattern)) : .real(number))
        case 4: return .scalar(AnyValueTag.bool.tagged([pick([0, 1])]))
        case 5: return .scalar(AnyValueTag.float.tagged(AnyValueTag.bigEndian(UInt64(float().bitPattern))))
        case 6: return .scalar(AnyValueTag.date.tagged(AnyValueTag.bigEndian(date().bitPattern)))
        case 7: return .scalar(pick([AnyValueTag.data.tagged(bytes(5)), AnyValueTag.objectId.tagged(bytes(12))]))
        case 8: return .scalar(AnyValueTag.uuid.tagged(bytes(16)))
        case 9: return .scalar(AnyValueTag.decimal128.tagged(decimal().bytes))
        case 10: return .link(ObjectAddress(type: 3, key: .text(text())))
        case 11: return .list((0..<Int.random(in: 0...3, using: &random)).map { _ in any(depth: depth - 1) })
        case 12:
            return .map([MapEntry(key: pick(["$oid", "$x", "$map"]), value: any(depth: depth - 1))])
        default:
            return .map(
                MapEntry.sorted([
                    MapEntry(key: "é", value: any(depth: depth - 1)), MapEntry(key: "e\u{301}", value: any(depth: 0)),
                    MapEntry(key: "$link", value: any(depth: 0)),
                ]))
        }
    }
}

@Suite("values in JSON")
struct JSONConversionTests {
    @Test("random embedded objects and AnyRealmValues are converted to JSON and back exactly")
    func roundTrip() throws {
        let conversion = JSONConversion(try JSONSample.schema.get())
        let properties = [try JSONSample.property("home", of: "Dog"), try JSONSample.property("any", of: "Dog")]
        for seed in 1...600 as ClosedRange<UInt64> {
            var values = RandomValues(seed: seed)
            for property in properties {
                let value = values.value(property.element, isOptional: true, depth: 3)
                let text = try conversion.text(value, property)
                let decoded = text.map { conversion.value($0, property) } ?? JSONConversion.Decoded(value: .null)
                #expect(decoded.value == value && decoded.problems.isEmpty, "seed \(seed): \(text ?? "nil")")
            }
        }
    }

    @Test("values are converted to the JSON that the documentation describes, and unsupported values are refused")
    func forms() throws {
        let conversion = JSONConversion(try JSONSample.schema.get())
        func text(_ name: String, _ value: SyncValue) throws -> String {
            try conversion.json(value, JSONSample.property(name)).text
        }
        func any(_ value: SQLValue) throws -> String { try text("any", .scalar(value)) }
        let hex = [UInt8](0..<16)
        #expect(try text("flag", .scalar(.integer(1))) == "true")
        #expect(try text("float", .scalar(.real(Double(0.1 as Float)))) == "0.1")
        #expect(try text("double", .scalar(.real(-.infinity))) == "\"-Infinity\"")
        #expect(try text("double", .scalar(.real(-0.0))) == "\"-0\"")
        #expect(try text("date", .scalar(.real(0.25))) == "\"2001-01-01T00:00:00.25Z\"")
        #expect(try text("date", .scalar(.real(1.0 / 3))) == "0.3333333333333333")
        #expect(try text("token", .scalar(.blob(hex))) == "\"00010203-0405-0607-0809-0a0b0c0d0e0f\"")
        #expect(try text("code", .scalar(.blob([UInt8](4..<16)))) == "\"0405060708090a0b0c0d0e0f\"")
        #expect(try text("data", .scalar(.blob([0, 255]))) == "\"AP8=\"")
        #expect(try text("tag", .link(ObjectAddress(type: 3, key: .text("t")))) == "\"t\"")
        #expect(try any(.real(1e300)) == "{\"$numberDouble\":\"1e+300\"}")
        #expect(try any(.real(0.5)) == "0.5")
        #expect(
            try text("any", .link(ObjectAddress(type: 1, key: .integer(5))))
                == "{\"$link\":{\"type\":\"Dog\",\"key\":5}}")
        #expect(try text("list", .list([.scalar(.real(0.5)), .scalar(.real(.nan))])) == "[0.5,\"NaN\"]")
        #expect(try text("map", .map([MapEntry(key: "k", value: .null)])) == "{\"k\":null}")
        #expect(try text("dogs", .list([.link(ObjectAddress(type: 1, key: .integer(5)))])) == "[5]")
        #expect(throws: UnencodableValue.self) { try text("list", .list([.null])) }
        #expect(throws: UnencodableValue.self) { try text("list", .map([])) }
        #expect(throws: UnencodableValue.self) { try text("homes", .list([.null])) }
        #expect(throws: UnencodableValue.self) { try text("text", .scalar(.text("a\0b"))) }
        #expect(throws: UnencodableValue.self) { try any(.text("\0")) }
        #expect(throws: UnencodableValue.self) { try text("text", .null) }
        #expect(throws: UnencodableValue.self) { try any(AnyLink(1, 1).stored) }
    }

    @Test(
        "a value in JSON that does not fit the schema is reported with its path",
        arguments: [
            ("{\"small\": 200}", "home.small"), ("{\"number\": 1.5}", "home.number"), ("{\"text\": 5}", "home.text"),
            ("{\"date\": \"yesterday\"}", "home.date"), ("{\"date\": \"2023-02-30T00:00:00Z\"}", "home.date"),
            ("{\"inner\": {\"token\": \"x\"}}", "home.inner.token"), ("{\"dog\": \"rex\"}", "home.dog"),
            ("{\"any\": {\"$oid\": 5}}", "home.any"), ("{\"double\": 1e999}", "home.double"), ("[]", "home"),
            ("5", "home"), ("{\"list\": 5}", "home.list"), ("{\"list\": [\"x\"]}", "home.list"),
            ("{\"map\": []}", "home.map"), ("{\"map\": {\"k\": \"x\"}}", "home.map"),
            ("{\"dogs\": [null]}", "home.dogs"),
            ("{\"homes\": [5]}", "home.homes"), ("{\"homes\": [{\"text\": 5}]}", "home.homes.text"),
        ])
    func unfitting(_ text: String, _ path: String) throws {
        let conversion = JSONConversion(try JSONSample.schema.get())
        let decoded = conversion.value(text, try JSONSample.property("home", of: "Dog"))
        #expect(decoded.problems.contains { $0.hasPrefix("'\(path)' ") }, "\(decoded.problems)")
    }

    @Test("JSON that SQL has written is read, even if it spells numbers and dates differently or omits members")
    func otherForms() throws {
        let conversion = JSONConversion(try JSONSample.schema.get())
        func value(_ name: String, _ json: String) throws -> SyncValue {
            let index = try JSONSample.property(name).index
            guard
                case .embedded(let values) = conversion.value(
                    "{\"\(name)\": \(json)}", try JSONSample.property("home", of: "Dog")
                ).value
            else { throw CancellationError() }
            return values[index]
        }
        #expect(try value("number", "5.00") == .scalar(.integer(5)))
        #expect(try value("double", "7") == .scalar(.real(7)))
        #expect(try value("date", "\"2001-01-01T02:00:01.5+02:00\"") == .scalar(.real(1.5)))
        #expect(try value("date", "\"2000-12-31 19:00:00-05\"") == .scalar(.real(0)))
        #expect(try value("price", "12.500") == .scalar(.blob(try #require(DecimalNumber("12.5")).bytes)))
        #expect(try value("any", "1.0") == .scalar(.real(1)))
        #expect(try value("any", "123456789012345678901") == .scalar(.real(123_456_789_012_345_683_968)))
        #expect(try value("maybe", "null") == .null)
        #expect(conversion.value("{}", try JSONSample.property("any", of: "Dog")).value == .map([]))
        for json in ["null", "[]"] { #expect(try value("list", json) == .list([])) }
        #expect(try value("map", "null") == .map([]))
    }

    @Test("an element of a wrong type becomes nil or zero, but an invalid link in a list is omitted")
    func unfittingElements() throws {
        let conversion = JSONConversion(try JSONSample.schema.get())
        func values(_ json: String) throws -> [SyncValue] {
            let decoded = conversion.value(json, try JSONSample.property("homes"))
            guard case .embedded(let values) = decoded.value, !decoded.problems.isEmpty else {
                throw CancellationError()
            }
            return values
        }
        let zero = try values("null")
        #expect(try zero[JSONSample.property("text").index] == .scalar(.text("")))
        for json in ["5", String(repeating: "[", count: 100_000)] { #expect(try values(json) == zero) }
        let found = try values(
            #"{"list": [1, "x"], "map": {"k": "x"}, "dogs": [1, "x", 2], "homes": [5], "rooms": {"k": 5}}"#)
        func member(_ name: String) throws -> SyncValue { found[try JSONSample.property(name).index] }
        #expect(try member("list") == .list([.scalar(.real(1)), .scalar(.real(0))]))
        #expect(try member("map") == .map([MapEntry(key: "k", value: .null)]))
        #expect(try member("dogs") == .list([1, 2].map { .link(ObjectAddress(type: 1, key: .integer($0))) }))
        #expect(try member("homes") == .list([.embedded(zero)]))
        #expect(try member("rooms") == .map([MapEntry(key: "k", value: .null)]))
        #expect(conversion.value("5", try JSONSample.property("rooms")).value == .null)
    }

    @Test(
        "a text that is not JSON, or is nested too deeply, is read as nil and reported once",
        arguments: ["", "{", "[1,]", "nul", "1 2", "\"\\ud800\"", String(repeating: "[", count: 100_000)])
    func malformed(_ text: String) throws {
        let conversion = JSONConversion(try JSONSample.schema.get())
        let decoded = conversion.value(text, try JSONSample.property("any", of: "Dog"))
        #expect(decoded.value == .null && decoded.problems.count == 1)
    }

    @Test("the maximum depth of an AnyRealmValue is the same in files and in JSON")
    func depth() throws {
        let conversion = JSONConversion(try JSONSample.schema.get())
        let property = try JSONSample.property("any", of: "Dog")
        func nested(_ levels: Int) -> SyncValue { (1..<levels).reduce(.list([])) { value, _ in .list([value]) } }
        func brackets(_ levels: Int) -> String {
            String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        let greatest = AnyValue.maximumDepth
        #expect(try conversion.json(nested(greatest), property).text == brackets(greatest))
        #expect(conversion.value(brackets(greatest), property).value == nested(greatest))
        #expect(throws: UnencodableValue.self) { _ = try conversion.json(nested(greatest + 1), property) }
        #expect(conversion.value(brackets(greatest + 1), property).value == .null)
    }
}
