import ConformanceModels
import Foundation
import MartletEngine
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("observed results sorted by values that SQLite stores in another form")
struct SortedObservationTests {
    /// A property to sort by, and an unusual value of this property: -infinity, a list, or a value that SQLite stores
    /// in another form.
    enum Sort: CaseIterable {
        case nan, negativeZero, infinity, floatNaN, floatNegativeZero, dateNegativeZero, any, anyList, anyNaN, anyFloat
        case anyDecimal, anyDate

        var keyPath: String {
            switch self {
            case .nan, .negativeZero, .infinity: "double"
            case .floatNaN, .floatNegativeZero: "float"
            case .dateNegativeZero: "date"
            case .any, .anyList, .anyNaN, .anyFloat, .anyDecimal, .anyDate: "anyValue"
            }
        }

        /// Assigns an ordinary value to every property that is used for sorting.
        func set(_ object: Scalars, _ number: Int) {
            object.double = Double(number)
            object.float = Float(number)
            object.date = Date(timeIntervalSinceReferenceDate: Double(number))
            object.anyValue = .int(number)
        }

        func setUnusual(_ object: Scalars) {
            switch self {
            case .nan: object.double = .nan
            case .negativeZero: object.double = -0.0
            case .infinity: object.double = -.infinity
            case .floatNaN: object.float = .nan
            case .floatNegativeZero: object.float = -0.0
            case .dateNegativeZero: object.date = Date(timeIntervalSinceReferenceDate: -0.0)
            case .any: object.anyValue = .double(-0.0)
            case .anyList: object.anyValue = .list([.int(1)])
            case .anyNaN: object.anyValue = .double(.nan)
            case .anyFloat: object.anyValue = .float(-.infinity)
            case .anyDecimal: object.anyValue = .decimal128(Decimal128("-0.5"))
            case .anyDate: object.anyValue = .date(Date(timeIntervalSinceReferenceDate: -0.0))
            }
        }
    }

    private static let count = 40

    private func start() throws -> (test: TestRealm, unusual: Scalars) {
        let test = try TestRealm {
            $0.objectTypes = [Scalars.self, Node.self, Part.self, Screw.self, EnumHolder.self]
            // Forces a search for old positions by sort key. By default, only results with many rows use this search.
            $0.environment.keysScannedPerSearch = 0
        }
        let unusual = Scalars(id: 99)
        try test.realm.write {
            for id in 0..<Self.count {
                let object = Scalars(id: id)
                test.realm.add(object)
                Sort.nan.set(object, id + 1)
            }
            test.realm.add(unusual)
        }
        return (test, unusual)
    }

    @Test("a row that changes from an unusual to an ordinary value moves once N48", arguments: Sort.allCases)
    func moves(_ sort: Sort) throws {
        let (test, unusual) = try start()
        try test.realm.write { sort.setUnusual(unusual) }
        let results = test.realm.objects(Scalars.self).sorted(byKeyPath: sort.keyPath)
        let log = Log(results)
        test.realm.refresh()
        let place = try #require(results.firstIndex { $0.id == 99 })
        _ = log.take()
        try test.realm.write { sort.set(unusual, 1_000) }
        test.realm.refresh()
        let isLast = place == Self.count
        #expect(log.take() == [isLast ? "[] [] [\(place)]" : "[\(place)] [\(Self.count)] []"])
        #expect(results.map(\.id) == Array(0..<Self.count) + [99])
        try test.realm.write { sort.setUnusual(unusual) }
        test.realm.refresh()
        #expect(results.count == Self.count + 1)
    }

    @Test("a row that is changed and deleted in one write is reported as deleted N46", arguments: Sort.allCases)
    func leaves(_ sort: Sort) throws {
        let (test, unusual) = try start()
        try test.realm.write { sort.setUnusual(unusual) }
        let results = test.realm.objects(Scalars.self).sorted(byKeyPath: sort.keyPath)
        let log = Log(results)
        test.realm.refresh()
        let place = try #require(results.firstIndex { $0.id == 99 })
        _ = log.take()
        try test.realm.write {
            sort.set(unusual, 7)
            test.realm.delete(unusual)
        }
        test.realm.refresh()
        #expect(log.take() == ["[\(place)] [] []"])
        #expect(results.map(\.id) == Array(0..<Self.count))
    }

    @Test("a deleted row with an unusual value is reported as deleted N46", arguments: Sort.allCases)
    func deleted(_ sort: Sort) throws {
        let (test, unusual) = try start()
        let other = Scalars(id: 98)
        try test.realm.write {
            test.realm.add(other)
            sort.setUnusual(unusual)
            sort.setUnusual(other)
        }
        // With a filter, the runtime must find out whether a deleted row was a member. Without a filter, all rows are
        // members.
        let results = test.realm.objects(Scalars.self).filter("id >= 0").sorted(byKeyPath: sort.keyPath)
        let log = Log(results)
        test.realm.refresh()
        let place = try #require(results.firstIndex { $0.id == 99 })
        _ = log.take()
        try test.realm.write { test.realm.delete(unusual) }
        test.realm.refresh()
        #expect(log.take() == ["[\(place)] [] []"])
        #expect(Set(results.map(\.id)) == Set(0..<Self.count).union([98]))
    }

    @Test("a row whose raw value has no case moves once, in enums with and without an unknown case N48 O31")
    func unknownCase() throws {
        let (test, _) = try start()
        try test.realm.write {
            for id in 0..<9 { test.realm.add(EnumHolder(id: id, state: id < 5 ? .closed : .open)) }
        }
        try alter(
            test.url.path,
            "UPDATE EnumHolder SET state = 'x', optionalGrade = 'x' WHERE id = 4; "
                + "UPDATE martlet_meta SET version = version + 1")
        test.realm.refresh()
        for keyPath in ["state", "optionalGrade"] {
            let results = test.realm.objects(EnumHolder.self).sorted(byKeyPath: keyPath)
            let log = Log(results)
            test.realm.refresh()
            #expect(results.map(\.id).last == 4)
            _ = log.take()
            let holder = try #require(test.realm.object(ofType: EnumHolder.self, forPrimaryKey: 4))
            try test.realm.write {
                holder.state = .closed
                holder.optionalGrade = nil
            }
            test.realm.refresh()
            #expect(log.take() == ["[8] [4] []"])
            #expect(results.count == 9)
            try alter(
                test.url.path,
                "UPDATE EnumHolder SET state = 'x', optionalGrade = 'x' WHERE id = 4; "
                    + "UPDATE martlet_meta SET version = version + 1")
            log.end()
            test.realm.refresh()
        }
    }

    @Test("rows that another program deletes without a change set are reported as deleted at the next change N45")
    func deletedByAnotherProgram() throws {
        let (test, unusual) = try start()
        let results = test.realm.objects(Scalars.self).sorted(byKeyPath: "int")
        let log = Log(results)
        test.realm.refresh()
        _ = log.take()
        // The search for old positions reads some of these rows.
        try alter(test.url.path, "DELETE FROM Scalars WHERE id BETWEEN 10 AND 30")
        try test.realm.write { unusual.int = 1 }
        test.realm.refresh()
        #expect(results.count == Self.count + 1 - 21)
        #expect(log.take() == ["\(Array(10...30)) [] [\(Self.count)]"])
        #expect(results.map(\.id).last == 99)
    }
}
