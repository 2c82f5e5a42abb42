import MartletEngine
import MartletSyncProtocol
import MartletValues
import ModelTesting

/// The schema of the tests of queries. The type `Sample` has properties of every type.
enum SampleSchema {
    static let facts = [
        """
        object Sample
        primaryKey id
        property id Int
        property flag Bool
        property maybeFlag Bool?
        property small Int8?
        property number Int
        property maybeNumber Int?
        property ratio Double
        property maybeRatio Double?
        property single Float?
        property name String
        property maybeName String?
        property bytes Data?
        property token UUID?
        property object ObjectId?
        property moment Date?
        property price Decimal128?
        property extra AnyRealmValue
        property color enum:String?
        property level enum:Int?
        property home embedded:Place?
        property origin link:Airport?
        property destination link:Airport?
        property tags List<String>
        property scores Set<Double?>
        property marks List<Int?>
        property stops List<link:Airport>
        property named Map<link:Airport?>
        property prices List<Decimal128>
        property extras List<AnyRealmValue>
        property places List<embedded:Place>
        property words String fullText
        property otherPrice Decimal128
        """,
        """
        embedded Place
        property city String?
        property zip Int?
        property latitude Double
        property spot embedded:Spot?
        property rooms List<Int>
        """,
        """
        embedded Spot
        property row Int?
        property height Float
        """,
        """
        object Airport
        primaryKey iata
        property iata String
        property name String
        property hub link:Airport?
        property visitors LinkingObjects<Sample.origin>
        """,
        """
        object Note
        property text String
        property sample link:Note?
        """,
    ]

    static let types: [ObjectTypeSchema] = facts.compactMap(SchemaFactsParser.storedType)
    static let agreed = AgreedSchema(types)
    static let database = DatabaseSchema(types.enumerated().map { ($0 + 1, $1) })
    static let sample = types[0]
    static let airports = ["JFK", "EWR", "LGA", "é", "", "JFKX"]

    /// The path to a property of `Sample`, or to a property inside its embedded objects.
    static func path(_ names: String...) -> ValuePath {
        var numbers: [Int] = []
        var type = sample
        for name in names {
            guard let property = type[name] else { return ValuePath([999]) }
            numbers.append(property.index)
            if let target = property.element.target, let next = agreed.type(named: target) { type = next }
        }
        return ValuePath(numbers)
    }
}

/// Random values of all types, including extreme values.
enum SampleValues {
    static let integers: [Int64] = [
        0, 1, -1, 2, 3, 7, 127, -128, .min, .max, .min + 1, .max - 1, 1 << 53, 1 << 53 + 1, -(1 << 53) - 1,
    ]
    static let reals: [Double] = [
        0, -0.0, 1, 2, 2.5, -1, 0.1, 0.2, .nan, .infinity, -.infinity, 0x1p53, 0x1p53 + 2, 0x1p62, -0x1p63, 0x1p63,
        1e23,
        .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, 7, 127,
    ]
    static let floats: [Float] = [
        0, -0.0, 1, 0.1, 2.5, .nan, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 16_777_216,
    ]
    static let texts = [
        "", "a", "ab", "b", "B", "\u{e9}", "e\u{301}", "zz", "JFK", "ab\u{10FFFF}", "\u{D7FF}", "\u{E000}", "a*b", "a?",
        "\\",
        "\u{FFFF}", "\u{10000}", "100%", "a_b", "red", "green",
    ]
    static let blobs: [[UInt8]] = [
        [], [0], [0, 1], [255], [255, 255], [97], [97, 98], [0x3F], [0x2A, 0x5C], [0, 255],
    ]
    static let decimals = [
        "0", "1", "-1", "0.1", "0.10000000000000000555", "2.5", "1e23", "1e-6176", "9e6144", "-9e6144", "NaN", "inf",
        "-inf",
        "9223372036854775807", "9223372036854775808", "9007199254740993", "-9223372036854775809", "100", "7",
        "1.000000000000000000000000000000001",
    ]
    // PostgreSQL stores dates of whole microseconds exactly, and rounds the other dates.
    static let dates: [Double] = [
        0, -0.0, 1, -1, 0.000001, 1.5, 86_400, 700_000_000.123456, 700_000_000.1234567, -63_000_000_000, 1e11, 9e12,
        .nan, .infinity, -.infinity, -2e11, 8_000_000_000.000001,
    ]

    static func uuid(_ random: inout SeededRandom) -> SQLValue {
        .blob([UInt8](repeating: [0, 1, 127, 128, 255].randomElement(using: &random) ?? 0, count: 16))
    }

    static func objectId(_ random: inout SeededRandom) -> SQLValue {
        .blob([UInt8](repeating: [0, 1, 127, 128, 255].randomElement(using: &random) ?? 0, count: 12))
    }

    static func decimal(_ random: inout SeededRandom) -> SQLValue {
        .blob(DecimalNumber(decimals.randomElement(using: &random) ?? "0")?.bytes ?? [])
    }

    static func real(_ random: inout SeededRandom) -> SQLValue { .real(reals.randomElement(using: &random) ?? 0) }

    static func integer(_ random: inout SeededRandom) -> SQLValue {
        .integer(integers.randomElement(using: &random) ?? 0)
    }

    static func text(_ random: inout SeededRandom) -> SQLValue { .text(texts.randomElement(using: &random) ?? "") }

    /// A random value of an `AnyRealmValue` property, in the form in which a file stores it.
    static func any(_ random: inout SeededRandom, scalarsOnly: Bool = false) -> SQLValue {
        switch Int.random(in: 0..<(scalarsOnly ? 12 : 15), using: &random) {
        case 0, 1: return integer(&random)
        case 2, 3: return anyReal(reals.randomElement(using: &random) ?? 0)
        case 4: return text(&random)
        case 5: return AnyValueTag.bool.tagged([UInt8.random(in: 0...1, using: &random)])
        case 6:
            let float = floats.randomElement(using: &random) ?? 0
            return AnyValueTag.float.tagged(AnyValueTag.bigEndian(UInt64(float.bitPattern)))
        case 7: return AnyValueTag.data.tagged(blobs.randomElement(using: &random) ?? [])
        case 8:
            let date = dates.randomElement(using: &random) ?? 0
            return AnyValueTag.date.tagged(AnyValueTag.bigEndian(date.bitPattern))
        case 9, 10:
            guard case .blob(let bytes) = decimal(&random) else { return .null }
            return AnyValueTag.decimal128.tagged(bytes)
        case 11:
            guard case .blob(let bytes) = uuid(&random) else { return .null }
            return AnyValueTag.uuid.tagged(bytes)
        case 12: return .null
        case 13: return AnyValueTag.list.tagged(ElementBytes.list([.integer(1)]))
        default:
            guard case .blob(let bytes) = objectId(&random) else { return .null }
            return AnyValueTag.objectId.tagged(bytes)
        }
    }

    // A column of type REAL stores neither NaN nor negative zero.
    private static func anyReal(_ number: Double) -> SQLValue {
        if !number.isNaN, !(number == 0 && number.sign == .minus) { return .real(number) }
        return AnyValueTag.double.tagged(AnyValueTag.bigEndian(number.bitPattern))
    }
}

enum ElementBytes {
    static func list(_ elements: [SQLValue]) -> [UInt8] { ElementCodec.encode(elements) }
}

/// A random row of `Sample`.
struct SampleRow {
    /// The values of the columns, by the number of the property. Nil values are missing.
    var values: [Int: SQLValue] = [:]
    var collections: [Int: [SQLValue]] = [:]
    /// The values of the embedded object `home`; nil if the row has no `home`.
    var home: [Int: SQLValue]?
    /// The values of the embedded object `spot` inside `home`; nil if there is no `spot`.
    var spot: [Int: SQLValue]?

    init(id: Int64, _ random: inout SeededRandom) {
        for property in SampleSchema.sample.properties where property.kind == .single && !property.element.isEmbedded {
            let isNil = property.isOptional && Int.random(in: 0..<4, using: &random) == 0
            if !isNil { values[property.index] = Self.value(property.element, property.name, &random) }
        }
        values[0] = .integer(id)
        for property in SampleSchema.sample.properties where property.isCollection && !property.element.isEmbedded {
            collections[property.index] = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                let isNil = property.isOptional && Int.random(in: 0..<4, using: &random) == 0
                return isNil ? .null : Self.value(property.element, property.name, &random)
            }
        }
        if Bool.random(using: &random) {
            home = Self.embedded("Place", &random)
            if Bool.random(using: &random) { spot = Self.embedded("Spot", &random) }
        }
    }

    private static func embedded(_ type: String, _ random: inout SeededRandom) -> [Int: SQLValue] {
        var values: [Int: SQLValue] = [:]
        for property in SampleSchema.agreed.type(named: type)?.properties ?? [] {
            if property.kind != .single || property.element.isEmbedded { continue }
            let isNil = property.isOptional && Int.random(in: 0..<3, using: &random) == 0
            if !isNil { values[property.index] = value(property.element, property.name, &random) }
        }
        return values
    }

    static func value(_ element: ElementType, _ name: String, _ random: inout SeededRandom) -> SQLValue {
        switch element {
        case .intEnum: return .integer(Int64.random(in: 0...3, using: &random))
        case .stringEnum: return .text(["red", "green"].randomElement(using: &random) ?? "")
        case .link: return .text(SampleSchema.airports.randomElement(using: &random) ?? "")
        case .embedded: return .null
        case .scalar(let scalar):
            switch scalar {
            case .bool: return .integer(Int64.random(in: 0...1, using: &random))
            case .int8: return .integer([-128, -1, 0, 1, 7, 127].randomElement(using: &random) ?? 0)
            case .int, .int16, .int32, .int64: return SampleValues.integer(&random)
            case .float: return .real(Double(SampleValues.floats.randomElement(using: &random) ?? 0))
            case .double: return SampleValues.real(&random)
            case .string: return SampleValues.text(&random)
            case .data: return .blob(SampleValues.blobs.randomElement(using: &random) ?? [])
            case .uuid: return SampleValues.uuid(&random)
            case .objectId: return SampleValues.objectId(&random)
            case .date: return .real(SampleValues.dates.randomElement(using: &random) ?? 0)
            case .decimal128: return SampleValues.decimal(&random)
            case .any: return SampleValues.any(&random)
            }
        }
    }

    // MARK: Images for the service

    /// - Parameter nested: true if `home` is one value; false if each value inside `home` has its own path.
    func image(nested: Bool = true) -> RowImage {
        var image = RowImage([:])
        for property in SampleSchema.sample.properties {
            if let value = values[property.index] {
                image.values[ValuePath(property.index)] = Self.synced(value, property.element)
            }
            if let elements = collections[property.index] {
                image.collections[ValuePath(property.index)] = elements.map { Self.synced($0, property.element) }
            }
        }
        addHome(to: &image, nested: nested)
        return image
    }

    private static func synced(_ value: SQLValue, _ element: ElementType) -> SyncValue {
        if case .link = element, value != .null { return .link(ObjectAddress(type: 3, key: value)) }
        return .scalar(value)
    }

    private func addHome(to image: inout RowImage, nested: Bool) {
        guard let home, let type = SampleSchema.agreed.type(named: "Place"), let property = SampleSchema.sample["home"]
        else { return }
        let spot = spot.map { spot in SyncValue.embedded([0, 1].map { .scalar(spot[$0] ?? .null) }) }
        let values = type.properties.map { inner -> SyncValue in
            inner.name == "spot" ? spot ?? .null : .scalar(home[inner.index] ?? .null)
        }
        if nested {
            image.values[ValuePath(property.index)] = .embedded(values)
        } else {
            for (number, value) in values.enumerated() { image.values[ValuePath([property.index, number])] = value }
        }
    }
}
