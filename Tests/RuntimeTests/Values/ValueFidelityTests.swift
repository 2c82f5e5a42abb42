import ConformanceModels
import Foundation
import Martlet
import MartletTestSupport
import Testing

/// Edge cases of values, some of which SQLite itself would not store unchanged.
private enum EdgeCases {
    static let doubles: [Double] = [
        0, -0.0, 0.1, -1.5, .nan, -Double.nan, Double(nan: 0x1234, signaling: false), .infinity, -.infinity,
        .leastNonzeroMagnitude,
        .greatestFiniteMagnitude, 1e300, 5, 9_007_199_254_740_992,
    ]
    static let floats: [Float] = [
        0, -0.0, 0.1, .nan, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 16_777_216,
    ]
    static let strings = [
        "", "a", "a\0b", "\0", "'", "\"", "''; DROP TABLE Scalars; --", "e\u{301}", "\u{e9}", "'\u{301}", "\u{1F985}",
        "%_?*", "\n\r\t",
        "\u{FEFF}x", "\u{FFFF}", String(repeating: "long ", count: 40_000),
    ]
    static let datas = [
        Data(), Data([0]), Data([0, 0, 0, 0, 0, 0, 0, 0]), Data([0, 0, 0, 0, 0, 0, 0, 0x80]),
        Data(repeating: 7, count: 200_000),
    ]
    static let dates = [
        Date(timeIntervalSinceReferenceDate: 0), Date(timeIntervalSinceReferenceDate: -0.0),
        Date(timeIntervalSinceReferenceDate: 0.1),
        Date(timeIntervalSinceReferenceDate: 733_000_000.123_456_7), .distantPast, .distantFuture,
        Date(timeIntervalSinceReferenceDate: .nan), Date(timeIntervalSinceReferenceDate: 1e-300),
        Date(timeIntervalSince1970: 1_700_000_000.000_001),
    ]
    static let decimals = [
        "0", "-0", "1", "-1", "0.1", "1234567890123456789012345678901234", "-9.999999999999999999999999999999999e6144",
        "1e-6176", "NaN", "inf",
        "-inf", "12.50",
    ]
}

private func bits(_ date: Date) -> UInt64 { date.timeIntervalSinceReferenceDate.bitPattern }
private func isSame(_ a: String, _ b: String) -> Bool { a.utf8.elementsEqual(b.utf8) }

/// Reads values from the file with a Realm on another thread.
private func readBack<Element: Object, Value: Sendable>(
    _ test: TestRealm, _ type: Element.Type, _ body: @escaping @Sendable (Element) -> Value
) throws -> [Value] {
    nonisolated(unsafe) var values: [Value] = []
    try test.onNewThread { realm in values = realm.objects(type).map(body) }
    return values
}

@Suite struct ValueFidelityTests {
    @Test("doubles are stored bit for bit, required and optional O34") func doubles() throws {
        let test = try TestRealm()
        try test.realm.write {
            for (id, value) in EdgeCases.doubles.enumerated() {
                test.realm.add(Scalars(id: id, double: value))
                test.realm.add(OptionalScalars(id: id, double: value))
            }
            test.realm.add(OptionalScalars(id: -1))
        }
        let expected = EdgeCases.doubles.map(\.bitPattern)
        #expect(try readBack(test, Scalars.self) { $0.double.bitPattern } == expected)
        #expect(try readBack(test, OptionalScalars.self) { $0.double?.bitPattern } == [nil] + expected)
        #expect(test.realm.objects(Scalars.self).map(\.double.bitPattern) == expected)
    }

    @Test("an update of one property keeps NaN and -0.0 in the other properties O34") func updatedSpecials() throws {
        let test = try TestRealm()
        let object = OptionalScalars(id: 1, float: .nan, double: -0.0, date: Date(timeIntervalSinceReferenceDate: -0.0))
        try test.realm.write { test.realm.add(object) }
        try test.realm.write { object.double = 1 }
        #expect(
            try readBack(test, OptionalScalars.self) {
                "\($0.float?.isNaN ?? false) \($0.double ?? 0) \(bits($0.date ?? Date()))"
            }
                == ["true 1.0 \((-0.0).bitPattern)"])
        try test.realm.write { object.float = nil }
        #expect(try readBack(test, OptionalScalars.self) { $0.float } == [nil])
        try test.realm.write { object.double = .nan }
        #expect(try readBack(test, OptionalScalars.self) { $0.double?.isNaN } == [true])
        try test.realm.write { object.double = nil }
        #expect(try readBack(test, OptionalScalars.self) { $0.double } == [nil])
    }

    @Test("floats are stored bit for bit O34") func floats() throws {
        let test = try TestRealm()
        try test.realm.write {
            for (id, value) in EdgeCases.floats.enumerated() { test.realm.add(Scalars(id: id, float: value)) }
        }
        #expect(try readBack(test, Scalars.self) { $0.float.bitPattern } == EdgeCases.floats.map(\.bitPattern))
    }

    @Test("strings are stored as given: empty, with NUL, quotes and combining marks O34") func strings() throws {
        let test = try TestRealm()
        try test.realm.write {
            for (id, value) in EdgeCases.strings.enumerated() {
                test.realm.add(Scalars(id: id, string: value))
                test.realm.add(OptionalScalars(id: id, string: value))
            }
            test.realm.add(OptionalScalars(id: -1))
        }
        let required = try readBack(test, Scalars.self) { $0.string }
        let optional = try readBack(test, OptionalScalars.self) { $0.string }
        #expect(zip(required, EdgeCases.strings).allSatisfy(isSame) && required.count == EdgeCases.strings.count)
        #expect(optional.first == .some(nil))
        #expect(zip(optional.dropFirst().compactMap { $0 }, EdgeCases.strings).allSatisfy(isSame))
    }

    @Test("empty data is not nil O34") func datas() throws {
        let test = try TestRealm()
        try test.realm.write {
            for (id, value) in EdgeCases.datas.enumerated() { test.realm.add(OptionalScalars(id: id, data: value)) }
            test.realm.add(OptionalScalars(id: -1, data: nil))
        }
        #expect(try readBack(test, OptionalScalars.self) { $0.data } == [nil] + EdgeCases.datas)
    }

    @Test("dates keep their full precision O34") func dates() throws {
        let test = try TestRealm()
        try test.realm.write {
            for (id, value) in EdgeCases.dates.enumerated() { test.realm.add(Scalars(id: id, date: value)) }
        }
        #expect(try readBack(test, Scalars.self) { bits($0.date) } == EdgeCases.dates.map(bits))
    }

    @Test("Decimal128 keeps 34 digits and sorts by value O34") func decimals() throws {
        let test = try TestRealm()
        let values = try EdgeCases.decimals.map { try Decimal128(string: $0) }
        try test.realm.write {
            for (id, value) in values.enumerated() { test.realm.add(Scalars(id: id, decimal128: value)) }
        }
        #expect(try readBack(test, Scalars.self) { $0.decimal128 } == values)
        let sorted = test.realm.objects(Scalars.self).sorted(byKeyPath: "decimal128").map(\.decimal128)
        #expect(sorted == [.nan] + values.sorted().filter { $0 != .nan })
        #expect(sorted[1].description == "-inf" && sorted.last?.description == "inf")
    }

    @Test("integers keep their whole range O30") func integers() throws {
        let test = try TestRealm()
        try test.realm.write {
            test.realm.add(Scalars(id: .min, int: .min, int8: .min, int16: .min, int32: .min, int64: .min))
            test.realm.add(Scalars(id: .max, bool: true, int: .max, int8: .max, int16: .max, int32: .max, int64: .max))
        }
        let ends = try readBack(test, Scalars.self) {
            [Int64($0.id), Int64($0.int), Int64($0.int8), Int64($0.int16), Int64($0.int32), $0.int64]
        }
        #expect(
            ends == [
                [.min, .min, -128, -32_768, Int64(Int32.min), .min], [.max, .max, 127, 32_767, Int64(Int32.max), .max],
            ])
    }

    @Test("object ids, UUIDs and optional values of every type are stored O30") func identifiers() throws {
        let test = try TestRealm()
        let (uuid, id) = (UUID(), ObjectId.generate())
        try test.realm.write {
            test.realm.add(Scalars(id: 1, uuid: uuid, objectId: id))
            test.realm.add(
                OptionalScalars(
                    id: 1, bool: true, int: 1, int8: 2, int16: 3, int32: 4, int64: 5, float: 6, double: 7, string: "8",
                    data: Data([9]),
                    date: Date(timeIntervalSinceReferenceDate: 10), uuid: uuid, objectId: id, decimal128: 11))
            test.realm.add(OptionalScalars(id: 2))
        }
        #expect(try readBack(test, Scalars.self) { "\($0.uuid) \($0.objectId)" } == ["\(uuid) \(id)"])
        let all = try readBack(test, OptionalScalars.self) { object -> [String] in
            object.objectSchema.properties.map { "\($0.name) \(object.value(forKey: $0.name) ?? "nil")" }
        }
        #expect(all[0].filter { $0.hasSuffix("nil") }.isEmpty)
        #expect(all[1].filter { !$0.hasSuffix("nil") } == ["id 2"])
    }

    @Test("collections keep values bit for bit O34") func collections() throws {
        let test = try TestRealm()
        try test.realm.write {
            let lists = ScalarLists(id: 1)
            lists.doubles.append(objectsIn: EdgeCases.doubles)
            lists.strings.append(objectsIn: EdgeCases.strings)
            lists.datas.append(objectsIn: EdgeCases.datas)
            lists.dates.append(objectsIn: EdgeCases.dates)
            test.realm.add(lists)
            let optional = OptionalLists(id: 1)
            test.realm.add(optional)
            optional.doubles.append(objectsIn: [nil, .nan, -0.0])
            optional.datas.append(objectsIn: [nil, Data()])
        }
        #expect(
            try readBack(test, ScalarLists.self) { $0.doubles.map(\.bitPattern) } == [
                EdgeCases.doubles.map(\.bitPattern)
            ]
        )
        let strings = try readBack(test, ScalarLists.self) { Array($0.strings) }
        #expect(zip(strings[0], EdgeCases.strings).allSatisfy(isSame))
        #expect(try readBack(test, ScalarLists.self) { Array($0.datas) } == [EdgeCases.datas])
        #expect(try readBack(test, ScalarLists.self) { $0.dates.map(bits) } == [EdgeCases.dates.map(bits)])
        #expect(
            try readBack(test, OptionalLists.self) { $0.doubles.map { $0?.bitPattern } }
                == [[nil, Double.nan.bitPattern, (-0.0).bitPattern]])
        #expect(try readBack(test, OptionalLists.self) { Array($0.datas) } == [[nil, Data()]])
    }
}
