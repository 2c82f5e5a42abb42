import ConformanceModels
import Foundation
import MartletTestSupport
import Testing

@testable import Martlet

/// The order and equality of `AnyRealmValue` values in collections and queries.
@Suite struct AnyValueCollectionTests {
    private let numbers: [AnyRealmValue] = [
        .double(1.5), .int(2), .decimal128(Decimal128("2.5")), .float(3.5), .double(.nan), .none,
    ]
    private let dates: [AnyRealmValue] = [-5, 10, -1e9, 1e9].map { .date(Date(timeIntervalSinceReferenceDate: $0)) }

    @Test("min and max of 'AnyRealmValue' elements follow the sort order, and ignore none and NaN O53")
    func extremes()
        throws
    {
        let test = try TestRealm()
        let kinds: [AnyRealmValue] = [.string("x"), .int(2), .bool(true), .uuid(UUID())]
        for values in [numbers, dates, kinds, [.float(-2), .float(-3)], [.none], []] {
            let (plain, managed) = (ScalarLists(anyValues: values), ScalarLists(id: 1, anyValues: values))
            let (set, map) = (ScalarSets(id: 1), ScalarMaps(id: 1))
            for (position, value) in values.enumerated() {
                set.anyValues.insert(value)
                map.anyValues["\(position)"] = value
            }
            try test.realm.write {
                test.realm.deleteAll()
                test.realm.add([managed, set, map] as [Object])
            }
            let ordered = plain.anyValues.sorted().filter { $0 != .none && !$0.isNaN }
            for (least, greatest) in [
                (plain.anyValues.min(), plain.anyValues.max()), (managed.anyValues.min(), managed.anyValues.max()),
                (set.anyValues.min(), set.anyValues.max()), (map.anyValues.min(), map.anyValues.max()),
            ] {
                #expect(least == ordered.first && greatest == ordered.last, "\(values)")
            }
        }
    }

    @Test("min and max of an 'AnyRealmValue' property follow the order of its values O53")
    func extremesOfObjects() throws {
        let test = try TestRealm()
        let node = Node(id: 5)
        try test.realm.write {
            test.realm.add(
                (numbers + dates + [.object(node)]).enumerated().map { Scalars(id: $0.offset, anyValue: $0.element) })
        }
        let all = test.realm.objects(Scalars.self)
        #expect(all.min(of: { $0.anyValue }) == .double(1.5) && all.max(of: { $0.anyValue }) == .object(node))
        #expect(all.where { $0.id < 6 }.max(of: { $0.anyValue }) == .float(3.5))
        #expect(all.limit(2).max(ofProperty: "anyValue") as AnyRealmValue? == .int(2))
        #expect(all.where { $0.id > 20 }.min(of: { $0.anyValue }) == nil)
    }

    @Test("index(of:) and key(of:) find -0 when they search for 0, and find any NaN of the same type, at any depth O40")
    func zerosAndNaNs() throws {
        let date = { AnyRealmValue.date(Date(timeIntervalSinceReferenceDate: $0)) }
        let kinds: [(Double) -> AnyRealmValue] = [{ .double($0) }, { .float(Float($0)) }, date]
        let nested: [(AnyRealmValue) -> AnyRealmValue] = [
            { $0 }, { .list([.int(1), $0]) }, { .map(["k": .list([$0])]) },
        ]
        let otherNaN = Double(bitPattern: 0xFFF8_0000_0000_0123)
        let test = try TestRealm()
        for kind in kinds {
            for nest in nested {
                let values = [.int(7), nest(kind(-0.0)), nest(kind(otherNaN)), .double(7)]
                let (plain, managed) = (ScalarLists(anyValues: values), ScalarLists(id: 1, anyValues: values))
                let (plainMap, map) = (ScalarMaps(), ScalarMaps(id: 1))
                for target in [plainMap, map] {
                    for (position, value) in values.enumerated() { target.anyValues["\(position)"] = value }
                }
                try test.realm.write {
                    test.realm.deleteAll()
                    test.realm.add([managed, map] as [Object])
                }
                for list in [plain.anyValues, managed.anyValues, managed.freeze().anyValues] {
                    #expect([0, -0.0, .nan, otherNaN, 3].map { list.index(of: nest(kind($0))) } == [1, 1, 2, 2, nil])
                    #expect(list.index(of: .int(7)) == 0 && list.index(of: .double(7)) == 3)
                }
                for map in [plainMap.anyValues, map.anyValues, map.freeze().anyValues] {
                    let keys = [0, -0.0, .nan, otherNaN, 3].map { map.key(of: nest(kind($0))) }
                    #expect(keys == ["1", "1", "2", "2", nil] && map.key(of: .double(7)) == "3")
                }
            }
        }
        #expect(ScalarLists(anyValues: [.none, .double(0)]).anyValues.index(of: .float(0)) == nil)
    }

    @Test("distinct by an 'AnyRealmValue' property compares numbers of all types by value O52") func distinct() throws {
        let test = try TestRealm()
        let values: [AnyRealmValue] = [
            .int(1), .double(1), .decimal128(1), .float(1), .int(2), .string("1"), .none, .list([.int(1)]),
            .list([.double(1)]), .bool(true),
        ]
        try test.realm.write {
            test.realm.add(values.enumerated().map { Scalars(id: $0.offset, anyValue: $0.element) })
        }
        #expect(test.realm.objects(Scalars.self).distinct(by: ["anyValue"]).map(\.id) == [0, 4, 5, 6, 7, 9])
        let lists = ScalarLists(anyValues: values)
        #expect(lists.anyValues.distinct() == [0, 4, 5, 6, 7, 9].map { values[$0] })
    }

    @Test("a set of 'AnyRealmValue' contains equal numbers of different types only once O43", arguments: [false, true])
    func sets(_ isManaged: Bool) throws {
        let test = try TestRealm()
        let sets = ScalarSets(id: 1)
        if isManaged { try test.realm.write { test.realm.add(sets) } }
        func change(_ body: () -> Void) throws { if isManaged { try test.realm.write(body) } else { body() } }
        try change {
            for value in [.int(1), .double(1), .float(1), .decimal128(1), .double(1.5), .string("1")] as [AnyRealmValue]
            {
                sets.anyValues.insert(value)
            }
        }
        #expect(Array(sets.anyValues) == [.int(1), .double(1.5), .string("1")])
        #expect(sets.anyValues.contains(.double(1)) && sets.anyValues.contains(.decimal128(Decimal128("1.5"))))
        #expect(!sets.anyValues.contains(.bool(true)) && sets.anyValues.index(of: .float(1.5)) == 1)
        try change { sets.anyValues.remove(.double(1)) }
        #expect(Array(sets.anyValues) == [.double(1.5), .string("1")])
    }

    @Test("sorts, distinct, sets and queries agree on which numbers are equal, and NaN sorts after 'none' O43 O52 O80")
    func bigNumbers() throws {
        let test = try TestRealm()
        let big = 4_611_686_018_427_387_904
        let values: [AnyRealmValue] = [
            .bool(false), .int(big), .double(.nan), .double(0x1p62), .none, .decimal128(Decimal128(big)), .int(big + 1),
            .int(big - 1), .date(Date(timeIntervalSinceReferenceDate: .nan)), .decimal128(.nan), .double(1e23),
            .decimal128(Decimal128("1e23" as StaticString)), .date(.distantPast),
        ]
        let lists = ScalarLists(id: 1), sets = ScalarSets(id: 1)
        try test.realm.write {
            for (id, value) in values.enumerated() { test.realm.add(Scalars(id: id, anyValue: value)) }
            test.realm.add(lists)
            test.realm.add(sets)
            lists.anyValues.append(objectsIn: values)
            sets.anyValues.insert(objectsIn: values)
        }
        let all = test.realm.objects(Scalars.self)
        #expect(all.sorted(byKeyPath: "anyValue").map(\.id) == [4, 2, 9, 8, 0, 7, 1, 3, 5, 6, 10, 11, 12])
        #expect(lists.anyValues.sorted().map(\.kind) == all.sorted(byKeyPath: "anyValue").map(\.anyValue.kind))
        #expect(all.distinct(by: ["anyValue"]).map(\.id) == [0, 1, 2, 4, 6, 7, 8, 10, 12])
        #expect(lists.anyValues.distinct().count == 9 && sets.anyValues.count == 9)
        #expect(all.where { $0.anyValue == .double(0x1p62) }.map(\.id) == [1, 3, 5])
        #expect(all.where { $0.anyValue == .decimal128(Decimal128(big)) }.map(\.id) == [1, 3, 5])
        #expect(all.filter("anyValue == 4611686018427387904.0").map(\.id) == [1, 3, 5])
        #expect(all.filter("anyValue == 1e23").map(\.id) == [10, 11])
        #expect(all.min(of: { $0.anyValue }) == .bool(false) && lists.anyValues.min() == .bool(false))
    }

    @Test("the sum of infinity and minus infinity is NaN, and averages are computed from exact sums O53")
    func sums() throws {
        let test = try TestRealm()
        let infinities: [Double] = [.infinity, -.infinity]
        let whole = [Int.max, .min, 1, 1]
        let lists = ScalarLists(id: 1, ints: whole, doubles: infinities)
        try test.realm.write {
            test.realm.add(whole.enumerated().map { Scalars(id: $0.offset, int: $0.element) })
            test.realm.add(infinities.enumerated().map { Node(id: $0.offset, amount: $0.element) })
            test.realm.add(Node(id: 2, children: Array(test.realm.objects(Node.self))))
            test.realm.add(lists)
        }
        let nodes = test.realm.objects(Node.self)
        let infinite = nodes.where { $0.id < 2 }
        #expect((infinite.sum { $0.amount }).isNaN && (infinite.average { $0.amount })?.isNaN == true)
        #expect(infinite.limit(1).sum { $0.amount } == .infinity && nodes.where { $0.id > 5 }.sum { $0.amount } == 0)
        #expect(nodes.where { $0.id > 5 }.average { $0.amount } == nil && lists.doubles.sum().isNaN)
        #expect(
            nodes.filter("children.@sum.amount > 0 OR children.@sum.amount < 0 OR children.@sum.amount == 0").count == 2
        )
        let all = test.realm.objects(Scalars.self)
        #expect(all.average { $0.int } == 0.25 && all.where { $0.id < 3 }.average { $0.int } == 0)
        #expect(lists.ints.average() == 0.25)
        let holders = test.realm.objects(ScalarLists.self)
        #expect(holders.filter("ints.@avg == 0.25").count == 1 && holders.filter("ints.@avg > 0.3").isEmpty)
    }

    @Test("sorted() of a list returns nil first, then NaN, then all other values O52") func sortedValues() {
        let lists = OptionalLists(id: 1, doubles: [2, .nan, nil, -1], decimal128s: [2, .nan, nil, -1])
        #expect("\(lists.doubles.sorted().map { $0.map { "\($0)" } ?? "nil" })" == #"["nil", "nan", "-1.0", "2.0"]"#)
        #expect(lists.decimal128s.sorted() == [nil, .nan, -1, 2])
        #expect(lists.decimal128s.sorted(ascending: false) == [2, -1, .nan, nil] && lists.decimal128s.max() == 2)
    }

    @Test("a subscript of an 'AnyRealmValue' returns nil for a missing key, and '.none' for a missing index O47")
    func subscripts() {
        let value = AnyRealmValue.map(["a": .int(1), "l": .list([.int(5)])])
        #expect(value["a"]?["b"] == nil && value["a"]?[0] == AnyRealmValue.none && value["l"]?[0] == .int(5))
        #expect(value["l"]?["k"] == nil && value[3] == AnyRealmValue.none && value["nothing"] == nil)
    }

    @Test("a range of a list can be replaced by any number of elements O42 O47", arguments: [false, true])
    func ranges(_ isManaged: Bool) throws {
        let test = try TestRealm()
        let (lists, other) = (ScalarLists(id: 1, ints: [0, 1, 2, 3, 4]), ScalarLists(id: 2, ints: [7, 8, 9]))
        func change(_ body: () -> Void) throws { if isManaged { try test.realm.write(body) } else { body() } }
        if isManaged { try test.realm.write { test.realm.add([lists, other]) } }
        let ints = lists.ints
        try change { lists.ints[1..<4] = other.ints[0..<2] }
        #expect(Array(ints) == [0, 7, 8, 4])
        try change { lists.ints[0..<1] = other.ints[0..<3] }
        #expect(Array(ints) == [7, 8, 9, 7, 8, 4])
        try change { lists.ints[1..<3] = lists.ints[0..<1] }
        #expect(Array(ints) == [7, 7, 7, 8, 4])
        try change { lists.ints[2..<5].sort() }
        #expect(Array(ints) == [7, 7, 4, 7, 8])
        try change { lists.ints[0..<2] = other.ints[0..<0] }
        #expect(Array(ints[0..<2]) == [4, 7] && ints.count == 3 && Array(other.ints) == [7, 8, 9])
    }
}

extension AnyRealmValue {
    fileprivate var isNaN: Bool { if case .double(let number) = self { number.isNaN } else { false } }
}
