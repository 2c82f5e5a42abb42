import ConformanceModels
import Foundation
import Martlet
import MartletTestSupport
import Testing

/// Comparisons of every type with every operator, in typed conditions and query texts, give the same results as in
/// Swift.
@Suite struct QueryKindTests {
    /// Stores each value and nil in one object, and in two lists. Then compares the objects and the lists with each
    /// value and nil, and checks the results with `precedes` and `isEqual`.
    private func check<V: OrderedValue & Equatable>(
        _ name: String, _ values: [V], set: (OptionalScalars, V?) -> Void,
        _ field: Field<OptionalScalars, V?>, _ list: String, append: (OptionalLists, [V?]) -> Void,
        _ elements: CollectionField<OptionalLists, V?>, _ precedes: @escaping (V, V) -> Bool,
        isEqual: @escaping (V, V) -> Bool = { $0 == $1 }
    ) throws {
        let test = try TestRealm()
        let stored: [V?] = values + [nil]
        try test.realm.write {
            for (id, value) in stored.enumerated() {
                let scalars = OptionalScalars(id: id)
                set(scalars, value)
                test.realm.add(scalars)
                let lists = OptionalLists(id: id)
                append(lists, [value, stored[(id + 1) % stored.count]])
                test.realm.add(lists)
            }
        }
        let scalars = test.realm.objects(OptionalScalars.self)
        let lists = test.realm.objects(OptionalLists.self)
        func equal(_ a: V?, _ b: V?) -> Bool {
            guard let a, let b else { return a == nil && b == nil }
            return isEqual(a, b)
        }
        func ordered(_ a: V?, _ b: V?, _ holds: (V, V) -> Bool) -> Bool {
            guard let a, let b else { return false }
            return holds(a, b)
        }
        for value in stored {
            let cases: [(Query<OptionalScalars>, String, (V?) -> Bool)] = [
                (field == value, "==", { equal($0, value) }), (field != value, "!=", { !equal($0, value) }),
                (field < value, "<", { ordered($0, value, precedes) }),
                (field > value, ">", { ordered(value, $0, precedes) }),
                (field <= value, "<=", { ordered($0, value) { precedes($0, $1) || isEqual($0, $1) } }),
                (field >= value, ">=", { ordered(value, $0) { precedes($0, $1) || isEqual($0, $1) } }),
            ]
            for (query, sign, holds) in cases {
                let expected = stored.indices.filter { holds(stored[$0]) }
                let what = "\(name) \(sign) \(value.map { "\($0)" } ?? "nil")"
                #expect(scalars.where { _ in query }.map(\.id) == expected, "\(what)")
                #expect(scalars.filter("\(name) \(sign) %@", value).map(\.id) == expected, "\(what) as text")
                #expect(
                    scalars.where { _ in !query }.map(\.id) == stored.indices.filter { !holds(stored[$0]) },
                    "not \(what)")
                let any = stored.indices.filter { holds(stored[$0]) || holds(stored[($0 + 1) % stored.count]) }
                #expect(lists.filter("ANY \(list) \(sign) %@", value).map(\.id) == any, "any of \(what)")
                let all = stored.indices.filter { holds(stored[$0]) && holds(stored[($0 + 1) % stored.count]) }
                #expect(lists.filter("ALL \(list) \(sign) %@", value).map(\.id) == all, "all of \(what)")
            }
            let contains = stored.indices.filter {
                equal(stored[$0], value) || equal(stored[($0 + 1) % stored.count], value)
            }
            #expect(lists.where { _ in elements.contains(value) }.map(\.id) == contains, "\(list) contains")
            #expect(lists.filter("%@ IN \(list)", value).map(\.id) == contains)
            #expect(
                scalars.where { _ in field.in([value]) }.map(\.id) == stored.indices.filter { equal(stored[$0], value) }
            )
        }
        let present = values.filter { isEqual($0, $0) }
        let least = present.min(by: precedes), greatest = present.max(by: precedes)
        #expect(scalars.filter("\(name) >= %@ AND \(name) <= %@", least, greatest).count == present.count)
        #expect(scalars.filter("\(name) == nil").map(\.id) == [values.count])
    }

    private func bytesPrecede(_ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) -> Bool {
        left.lexicographicallyPrecedes(right)
    }

    @Test("integers compare as in Swift O80 O50 O51 O54") func integers() throws {
        let (s, l) = (OptionalScalars.fields, OptionalLists.fields)
        try check(
            "int", [.min, -1, 0, 1, .max], set: { $0.int = $1 }, s.int, "ints",
            append: { $0.ints.append(objectsIn: $1) },
            l.ints, <)
        try check(
            "int8", [.min, -1, 0, 1, .max], set: { $0.int8 = $1 }, s.int8, "int8s",
            append: { $0.int8s.append(objectsIn: $1) }, l.int8s, <)
        try check(
            "int16", [.min, -1, 0, .max], set: { $0.int16 = $1 }, s.int16, "int16s",
            append: { $0.int16s.append(objectsIn: $1) }, l.int16s, <)
        try check(
            "int32", [.min, -1, 0, .max], set: { $0.int32 = $1 }, s.int32, "int32s",
            append: { $0.int32s.append(objectsIn: $1) }, l.int32s, <)
        try check(
            "int64", [.min, -1, 0, .max], set: { $0.int64 = $1 }, s.int64, "int64s",
            append: { $0.int64s.append(objectsIn: $1) }, l.int64s, <)
    }

    @Test("floating-point numbers compare as in Swift: NaN equals nothing, and both zeros are equal O80 O50 O51 O54")
    func floating() throws {
        let (s, l) = (OptionalScalars.fields, OptionalLists.fields)
        try check(
            "double", [-.infinity, -1.5, -0.0, 0, Double.leastNonzeroMagnitude, 0.1, .infinity, .nan],
            set: { $0.double = $1 }, s.double, "doubles",
            append: { $0.doubles.append(objectsIn: $1) }, l.doubles, <)
        try check(
            "float", [-.infinity, -0.0, 0, 0.1, 16_777_216, .nan], set: { $0.float = $1 }, s.float, "floats",
            append: { $0.floats.append(objectsIn: $1) }, l.floats, <)
    }

    @Test("strings and data compare by their bytes O80 O50 O51") func texts() throws {
        let (s, l) = (OptionalScalars.fields, OptionalLists.fields)
        try check(
            "string", ["", "a", "A", "a\0", "\u{e9}", "e\u{301}", "zz", "\u{1F985}", "\u{FFFD}"],
            set: { $0.string = $1 },
            s.string, "strings", append: { $0.strings.append(objectsIn: $1) }, l.strings,
            { bytesPrecede($0.utf8, $1.utf8) }, isEqual: { Array($0.utf8) == Array($1.utf8) })
        try check(
            "data", [Data(), Data([0]), Data([0, 0]), Data([0, 0, 0, 0, 0, 0, 0, 0x80]), Data([255])],
            set: { $0.data = $1 }, s.data, "datas", append: { $0.datas.append(objectsIn: $1) }, l.datas,
            { bytesPrecede($0, $1) })
    }

    @Test("dates, decimals, identifiers and booleans compare as in Swift O80 O50 O51") func others() throws {
        let (s, l) = (OptionalScalars.fields, OptionalLists.fields)
        try check(
            "date",
            [.distantPast, Date(timeIntervalSinceReferenceDate: 0), Date(timeIntervalSince1970: 0.1), .distantFuture],
            set: { $0.date = $1 }, s.date, "dates", append: { $0.dates.append(objectsIn: $1) }, l.dates, <)
        let decimals = try [
            "-1e6144", "-1.5", "0", "1e-6176", "0.1", "9.999999999999999999999999999999999", "inf", "nan",
        ]
        .map { try Decimal128(string: $0) }
        try check(
            "decimal128", decimals, set: { $0.decimal128 = $1 }, s.decimal128, "decimal128s",
            append: { $0.decimal128s.append(objectsIn: $1) }, l.decimal128s, { $0 != .nan && $1 != .nan && $0 < $1 },
            isEqual: { $0 == $1 && $0 != .nan })
        let uuids = [UUID(), UUID(), UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))]
        try check(
            "uuid", uuids, set: { $0.uuid = $1 }, s.uuid, "uuids", append: { $0.uuids.append(objectsIn: $1) }, l.uuids,
            { left, right in
                withUnsafeBytes(of: left.uuid) { a in withUnsafeBytes(of: right.uuid) { bytesPrecede(a, $0) } }
            })
        try check(
            "objectId", [.zero, try ObjectId(string: "ffffffffffffffffffffffff")], set: { $0.objectId = $1 },
            s.objectId,
            "objectIds", append: { $0.objectIds.append(objectsIn: $1) }, l.objectIds,
            { $0.description < $1.description })
        try check(
            "bool", [false, true], set: { $0.bool = $1 }, s.bool, "bools", append: { $0.bools.append(objectsIn: $1) },
            l.bools,
            { !$0 && $1 })
    }

    @Test("an AnyRealmValue is compared only with values of its kind, and all numbers are one kind O80 O32 O50")
    func any() throws {
        let test = try TestRealm()
        let values: [AnyRealmValue] = [
            .none, .bool(true), .int(5), .float(5), .double(5), .decimal128(5), .double(5.5), .string("5"),
            .data(Data([53])),
            .date(Date(timeIntervalSinceReferenceDate: 5)), .objectId(.zero), .double(.nan), .int(.max),
            .double(9_223_372_036_854_775_808), .bool(false),
        ]
        try test.realm.write {
            for (id, value) in values.enumerated() {
                let scalars = Scalars(id: id)
                scalars.anyValue = value
                scalars.int = 5
                scalars.double = 5.5
                test.realm.add(scalars)
            }
        }
        let all = test.realm.objects(Scalars.self)
        func ids(_ query: Query<Scalars>) -> [Int] { all.where { _ in query }.map(\.id) }
        let field = Scalars.fields.anyValue
        #expect(ids(field == .int(5)) == [2, 3, 4, 5] && ids(field == .decimal128(5)) == [2, 3, 4, 5])
        #expect(ids(field != .double(5)) == [0, 1, 6, 7, 8, 9, 10, 11, 12, 13, 14])
        #expect(
            ids(field > .int(5)) == [6, 12, 13] && ids(field > .int(.max)) == [13] && ids(field < .bool(true)) == [14])
        #expect(ids(field == .none) == [0] && ids(field != .none).count == 14 && ids(field == .double(.nan)) == [])
        #expect(ids(field == .string("5")) == [7] && ids(field == .data(Data([53]))) == [8])
        #expect(all.filter("anyValue == int").map(\.id) == [2, 3, 4, 5])
        #expect(all.filter("anyValue == double").map(\.id) == [6])
        #expect(all.filter("anyValue BEGINSWITH '5'").map(\.id) == [7])
        #expect(all.filter("anyValue IN {5, '5', nil}").map(\.id) == [0, 2, 3, 4, 5, 7])
    }

    @Test("conditions on maps use one key, any key or any value; conditions on sets use aggregates O80 O50")
    func maps() throws {
        let test = try TestRealm()
        try test.realm.write {
            let maps = OptionalMaps(id: 1)
            maps.ints["a"] = 5
            maps.ints["b"] = .some(nil)
            maps.doubles["n"] = .nan
            maps.strings["é"] = "x"
            test.realm.add(maps)
            let sets = ScalarSets(id: 1)
            for int in [1, 2, 3] { sets.ints.insert(int) }
            test.realm.add(sets)
        }
        let maps = test.realm.objects(OptionalMaps.self)
        func holds(_ text: String, _ query: (OptionalMaps.RootFields) -> Query<OptionalMaps>) -> Bool {
            let (typed, read) = (maps.where(query).count, maps.filter(text).count)
            #expect(typed == read, "\(text)")
            return typed == 1
        }
        #expect(holds("ints['a'] == 5") { $0.ints["a"] == 5 } && !holds("ints['a'] == nil") { $0.ints["a"] == nil })
        #expect(holds("ints['b'] == nil") { $0.ints["b"] == nil } && holds("ints['c'] == nil") { $0.ints["c"] == nil })
        #expect(holds("ints.@allKeys BEGINSWITH 'b'") { $0.ints.keys.starts(with: "b") })
        #expect(holds("ints.@allValues > 4") { $0.ints.values > 4 } && !holds("ints > 5") { $0.ints.values > 5 })
        #expect(
            holds("doubles['n'] != nil") { $0.doubles["n"] != nil }
                && !holds("doubles['n'] == 1") { $0.doubles["n"] == 1 })
        #expect(!holds("doubles == nil") { $0.doubles.contains(nil) } && holds("ints == nil") { $0.ints.contains(nil) })
        #expect(!holds("strings.@allKeys == 'e\u{301}'") { $0.strings.keys == "e\u{301}" })
        #expect(holds("ints.@sum == 5 AND ints.@count == 2") { $0.ints.sum == 5 && $0.ints.count == 2 })
        let sets = test.realm.objects(ScalarSets.self)
        #expect(sets.where { $0.ints.sum == 6 && $0.ints.avg == 2 && $0.ints.min == 1 && $0.ints.max == 3 }.count == 1)
        #expect(sets.where { $0.ints.contains(3...9) }.count == 1 && sets.where { $0.ints.contains(4..<9) }.isEmpty)
        #expect(
            sets.where { $0.ints.containsAny(in: [9, 2]) }.count == 1
                && sets.where { $0.ints.containsAny(in: []) }.isEmpty)
        #expect(sets.filter("ints.@sum == 6 AND ints.@avg == 2 AND SUBQUERY(ints, $x, $x > 1).@count == 2").count == 1)
    }
}
