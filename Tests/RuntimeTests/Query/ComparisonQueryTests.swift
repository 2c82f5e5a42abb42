import ConformanceModels
import Foundation
import Martlet
import MartletTestSupport
import Testing

/// Adds the objects with the ids 0, 1, 2 and so on, and returns the ids of the objects that satisfy the condition.
private func ids<Condition: QueryConvertible<OptionalScalars>>(
    _ objects: [OptionalScalars], _ condition: (OptionalScalars.RootFields) -> Condition
) throws -> [Int] {
    let test = try TestRealm()
    try test.realm.write {
        for (id, object) in objects.enumerated() { test.realm.add(OptionalScalars(value: object.with(id: id))) }
    }
    return test.realm.objects(OptionalScalars.self).where(condition).map(\.id)
}

extension OptionalScalars {
    fileprivate func with(id: Int) -> OptionalScalars {
        self.id = id
        return self
    }
}

@Suite struct ComparisonQueryTests {
    private let numbers = [nil, 1, 5, 5, 9].map { OptionalScalars(int: $0) }

    @Test("comparisons of integers do not match nil, except != and negations O50 O54") func integers() throws {
        #expect(try ids(numbers) { $0.int == 5 } == [2, 3])
        #expect(try ids(numbers) { $0.int != 5 } == [0, 1, 4])
        #expect(try ids(numbers) { $0.int < 5 } == [1])
        #expect(try ids(numbers) { $0.int <= 5 } == [1, 2, 3])
        #expect(try ids(numbers) { $0.int > 5 } == [4])
        #expect(try ids(numbers) { $0.int >= 5 } == [2, 3, 4])
        #expect(try ids(numbers) { $0.int == nil } == [0])
        #expect(try ids(numbers) { $0.int != nil } == [1, 2, 3, 4])
        #expect(try ids(numbers) { $0.int < nil } == [])
        #expect(try ids(numbers) { !($0.int > 5) } == [0, 1, 2, 3])
        #expect(try ids(numbers) { !($0.int == nil) } == [1, 2, 3, 4])
    }

    @Test("in(_:) and contains(_:) compare with sets and ranges O50 O54") func sets() throws {
        #expect(try ids(numbers) { $0.int.in([1, 9, 77]) } == [1, 4])
        #expect(try ids(numbers) { $0.int.in([nil, 9]) } == [0, 4])
        #expect(try ids(numbers) { $0.int.in([]) } == [])
        #expect(try ids(numbers) { !$0.int.in([1]) } == [0, 2, 3, 4])
        #expect(try ids(numbers) { $0.int.contains(1..<9) } == [1, 2, 3])
        #expect(try ids(numbers) { $0.int.contains(5...9) } == [2, 3, 4])
        #expect(try ids(numbers) { $0.id.contains(1...2) } == [1, 2])
    }

    @Test("in(_:) accepts many thousands of numbers, strings or data values O50") func largeSets() throws {
        let test = try TestRealm()
        try test.realm.write {
            for id in 0..<50 {
                test.realm.add(
                    OptionalScalars(
                        id: id, int: id, double: Double(id) / 3, string: "s\0\(id)", data: Data([UInt8(id)])))
            }
        }
        let all = test.realm.objects(OptionalScalars.self)
        #expect(all.where { $0.int.in(stride(from: 10, to: 400_000, by: 2).map { $0 }) }.count == 20)
        #expect(all.where { $0.string.in((0..<100_000).map { "s\0\($0 * 10)" }) }.map(\.id) == [0, 10, 20, 30, 40])
        #expect(all.where { $0.data.in((0..<1_000).map { Data([UInt8(truncatingIfNeeded: $0 | 1)]) }) }.count == 25)
        #expect(all.where { $0.double.in((0..<40_000).map { Double($0) / 6 } + [.infinity, .nan, -0.0]) }.count == 50)
        #expect(all.filter("double IN %@", (0..<40_000).map { Double($0 * 2) / 3 }).count == 25)
        #expect(all.filter("int IN %@", (0..<40_000).map { Double($0) * 2 }).count == 25)
        #expect(all.filter("int IN %@", (0..<1_000).map { Decimal128($0 * 2) }).count == 25)
        #expect(all.where { $0.int.in((0..<1_000).map { $0 == 3 ? nil : $0 }) }.count == 49)
    }

    @Test("NaN equals nothing and is not nil; both zeros are equal O54") func floating() throws {
        let objects = [nil, -0.0, 0, 1, .nan, .infinity].map { OptionalScalars(double: $0) }
        #expect(try ids(objects) { $0.double == nil } == [0])
        #expect(try ids(objects) { $0.double != nil } == [1, 2, 3, 4, 5])
        #expect(try ids(objects) { $0.double == 0 } == [1, 2])
        #expect(try ids(objects) { $0.double == -0.0 } == [1, 2])
        #expect(try ids(objects) { $0.double == .nan } == [])
        #expect(try ids(objects) { $0.double != .nan } == [0, 1, 2, 3, 4, 5])
        #expect(try ids(objects) { $0.double != 1 } == [0, 1, 2, 4, 5])
        #expect(try ids(objects) { $0.double < 1 } == [1, 2])
        #expect(try ids(objects) { $0.double >= 1 } == [3, 5])
        #expect(try ids(objects) { $0.double < .nan } == [])
        #expect(try ids(objects) { $0.double.in([.nan, -0.0, nil]) } == [0, 1, 2])
        #expect(try ids(objects) { $0.double.contains(-1...1) } == [1, 2, 3])
        #expect(try ids(objects) { !($0.double < 1) } == [0, 3, 4, 5])
    }

    @Test("required doubles, floats and dates compare NaN and zeros like optional doubles O54") func required() throws {
        let test = try TestRealm()
        try test.realm.write {
            test.realm.add(Scalars(id: 1, float: .nan, double: .nan, date: Date(timeIntervalSinceReferenceDate: .nan)))
            test.realm.add(Scalars(id: 2, float: -0.0, double: -0.0, date: Date(timeIntervalSinceReferenceDate: -0.0)))
            test.realm.add(Scalars(id: 3, float: 0.1, double: 0.1, date: Date(timeIntervalSinceReferenceDate: 0.1)))
        }
        let all = test.realm.objects(Scalars.self)
        #expect(all.where { $0.double == 0 }.map(\.id) == [2] && all.where { $0.float == 0 }.map(\.id) == [2])
        #expect(all.where { $0.date == Date(timeIntervalSinceReferenceDate: 0) }.map(\.id) == [2])
        #expect(
            all.where { $0.float == 0.1 }.map(\.id) == [3]
                && all.where { $0.date > Date(timeIntervalSinceReferenceDate: 0) }.map(\.id) == [3])
        #expect(all.where { $0.double != 0.1 }.map(\.id) == [1, 2] && all.where { $0.double == .nan }.isEmpty)
    }

    @Test("data is compared by its bytes, even if these are the bytes of NaN or -0.0 O34") func datas() throws {
        let zero = Data([0, 0, 0, 0, 0, 0, 0, 0])
        let negativeZero = Data([0, 0, 0, 0, 0, 0, 0, 0x80])
        let nan = Data([0, 0, 0, 0, 0, 0, 0xF8, 0x7F])
        let objects = [nil, Data(), zero, negativeZero, nan].map { OptionalScalars(data: $0) }
        #expect(try ids(objects) { $0.data == zero } == [2])
        #expect(try ids(objects) { $0.data == negativeZero } == [3])
        #expect(try ids(objects) { $0.data == nan } == [4])
        #expect(try ids(objects) { $0.data == Data() } == [1])
        #expect(try ids(objects) { $0.data == nil } == [0])
        #expect(try ids(objects) { $0.data > zero } == [3, 4])
        #expect(try ids(objects) { $0.data.in([zero, nan]) } == [2, 4])
    }

    @Test("booleans, ids, decimals and strings compare by value O50") func kinds() throws {
        let (uuid, id) = (UUID(), ObjectId.generate())
        let objects = [
            OptionalScalars(), OptionalScalars(bool: true, string: "b", uuid: uuid, objectId: id, decimal128: 2),
            OptionalScalars(bool: false, string: "a", uuid: UUID(), objectId: .zero, decimal128: -10),
        ]
        #expect(try ids(objects) { $0.bool == true } == [1])
        #expect(try ids(objects) { $0.bool != true } == [0, 2])
        #expect(try ids(objects) { $0.uuid == uuid } == [1])
        #expect(try ids(objects) { $0.objectId == id || $0.objectId == .zero } == [1, 2])
        #expect(try ids(objects) { $0.objectId < id } == [2])
        #expect(try ids(objects) { $0.decimal128 < 0 } == [2])
        #expect(try ids(objects) { $0.decimal128 == Decimal128("2.000") } == [1])
        #expect(try ids(objects) { $0.string < "b" } == [2])
    }

    @Test("a Bool property can be used as a condition O50") func bools() throws {
        let test = try TestRealm()
        try test.realm.write { for id in 0..<4 { test.realm.add(Scalars(id: id, bool: id > 1, int: id)) } }
        let all = test.realm.objects(Scalars.self)
        #expect(all.where { $0.bool }.map(\.id) == [2, 3])
        #expect(all.where { !$0.bool }.map(\.id) == [0, 1])
        #expect(all.where { $0.bool && $0.int == 3 || !$0.bool && $0.int == 0 }.map(\.id) == [0, 3])
    }

    @Test("properties compare with each other: two nils are equal, and NaN equals nothing O50 O54")
    func fields() throws {
        let objects = [
            OptionalScalars(int: 1), OptionalScalars(int: 2, int64: 1), OptionalScalars(double: .nan),
            OptionalScalars(),
        ]
        let test = try TestRealm()
        try test.realm.write { for (id, object) in objects.enumerated() { test.realm.add(object.with(id: id)) } }
        let all = test.realm.objects(OptionalScalars.self)
        #expect(all.where { $0.int == $0.int }.map(\.id) == [0, 1, 2, 3])
        #expect(all.where { $0.double == $0.double }.map(\.id) == [0, 1, 3])
        #expect(all.where { $0.double != $0.double }.map(\.id) == [2])
        try test.realm.write {
            for id in 0..<4 { test.realm.add(Scalars(id: id, int: id, int64: 2, double: id == 3 ? .nan : 1)) }
        }
        let scalars = test.realm.objects(Scalars.self)
        #expect(scalars.where { $0.id == $0.int }.count == 4 && scalars.where { $0.id > $0.int }.isEmpty)
        #expect(scalars.where { $0.id >= $0.int && $0.double != $0.double }.map(\.id) == [3])
    }

    @Test("enums compare by case O50") func enums() throws {
        let test = try TestRealm()
        try test.realm.write {
            test.realm.add(EnumHolder(id: 1, grade: .best, level: .high, optionalGrade: .good))
            test.realm.add(EnumHolder(id: 2))
        }
        let all = test.realm.objects(EnumHolder.self)
        #expect(all.where { $0.grade == .best }.map(\.id) == [1] && all.where { $0.level != .high }.map(\.id) == [2])
        #expect(
            all.where { $0.optionalGrade == nil }.map(\.id) == [2]
                && all.where { $0.optionalGrade == .good }.map(\.id) == [1])
        #expect(all.where { $0.grade.in([.poor, .best]) }.count == 2)
    }

    @Test("chains of hundreds of conditions can be executed O50") func longChains() throws {
        let test = try TestRealm()
        try test.realm.write { for id in 0..<20 { test.realm.add(Scalars(id: id, int: id)) } }
        let all = test.realm.objects(Scalars.self)
        let some = all.where { fields in (0..<600).map { fields.int == $0 * 2 }.reduce(fields.int == -1) { $0 || $1 } }
        #expect(some.count == 10)
        let none = all.where { fields in (0..<600).map { fields.int != $0 }.reduce(fields.int != -1) { $0 && $1 } }
        #expect(none.isEmpty)
    }

    @Test("values are bound as parameters, whatever they contain O56") func binding() throws {
        let texts = ["'", "\"", "'; DELETE FROM OptionalScalars; --", "?1", ":a", "\0", "'\u{301}", "%", "\\"]
        let objects = texts.map { OptionalScalars(string: $0) }
        for (id, text) in texts.enumerated() {
            #expect(try ids(objects) { $0.string == text } == [id])
            #expect(try ids(objects) { $0.string.in([text]) } == [id])
        }
    }
}
