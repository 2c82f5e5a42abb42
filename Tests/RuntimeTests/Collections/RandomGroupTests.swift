import ConformanceModels
import Foundation
import MartletEngine
import MartletTestSupport
import ModelTesting
import Testing

@testable import Martlet

/// Compares sections and distinct members, which the runtime computes from stored values, with those that a slower
/// method computes.
@Suite struct RandomGroupTests {
    private static func test(columns: Bool) throws -> TestRealm {
        try TestRealm {
            guard columns else { return }
            $0.columns.budget = ColumnBudget(byteLimit: 1 << 30)
            $0.columns.leastRows = 0
            $0.columns.queriesBeforeReading = 1
            $0.columns.onDifference = { Issue.record("\($0)") }
        }
    }

    private static let reals: [Double] = [0, -0.0, 1, 2.5, .nan, -.nan, .infinity, -.infinity, 0x1p53]
    private static let texts = ["", "a", "A", "\u{e9}", "e\u{301}", "a\0b", "12345678", "123456789", "1234567", "b"]

    private static let decimals: [Decimal128] = [
        .zero, .nan, 1, Decimal128("1.00"), Decimal128("-0"),
    ]
    private static let data: [Data] = [Data(), Data([0]), Data([0, 0]), Data([1])]
    private static let seconds: [Double] = [0, 0.1, 1e9, -1e9]
    private static let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

    private static func fill(_ row: OptionalScalars, _ nodes: [Node], _ random: inout SeededRandom) {
        func some<T>(_ values: [T]) -> T? { values.randomElement(using: &random) }
        let isSet = { (random: inout SeededRandom) in Int.random(in: 0..<4, using: &random) > 0 }
        row.bool = isSet(&random) ? some([true, false]) : nil
        row.int = isSet(&random) ? some([0, 1, -1, 256, .min, .max, 1 << 53]) : nil
        row.int8 = isSet(&random) ? some([0, 5, -5]) : nil
        row.int16 = isSet(&random) ? some([0, 500, -5]) : nil
        row.float = isSet(&random) ? some(reals).map { Float($0) } : nil
        row.double = isSet(&random) ? some(reals) : nil
        row.string = isSet(&random) ? some(texts) : nil
        row.data = isSet(&random) ? some(data) : nil
        row.date = isSet(&random) ? some(seconds).map { Date(timeIntervalSince1970: $0) } : nil
        row.uuid = isSet(&random) ? uuid : nil
        row.objectId = isSet(&random) ? .zero : nil
        row.decimal128 = isSet(&random) ? some(decimals) : nil
    }

    private static func fill(_ row: Scalars, _ nodes: [Node], _ random: inout SeededRandom) {
        func some<T>(_ values: [T]) -> T { values.randomElement(using: &random)! }
        row.float = Float(some(reals))
        row.double = some(reals)
        row.string = some(texts)
        row.int = some([0, 1, 2])
        row.decimal128 = some(decimals)
        let values: [AnyRealmValue] = [
            .none, .int(1), .double(1), .float(1), .double(.nan), .float(.nan), .decimal128(1), .decimal128(.nan),
            .bool(true), .string("a"), .string("\u{e9}"), .string("e\u{301}"), .data(Data([1])), .double(-0.0), .int(0),
            .object(nodes[0]), .object(nodes[1]),
        ]
        row.anyValue = some(values)
    }

    private static func fill(_ node: Node, _ nodes: [Node], _ random: inout SeededRandom) {
        node.name = texts.randomElement(using: &random) ?? ""
        node.amount = reals.randomElement(using: &random) ?? 0
        node.next = Int.random(in: 0..<4, using: &random) == 0 ? nil : nodes.randomElement(using: &random)
    }

    private static func fill(_ row: EnumHolder, _ random: inout SeededRandom) {
        row.grade = [.poor, .good, .best].randomElement(using: &random) ?? .poor
        row.level = [.low, .middle].randomElement(using: &random) ?? .low
        row.optionalState = [.open, .closed, nil].randomElement(using: &random) ?? nil
        row.optionalLevel = [.low, .high, nil].randomElement(using: &random) ?? nil
    }

    /// Compares sections with sections that are computed from all elements in their order.
    private func check<Key, Element>(_ sections: SectionedResults<Key, Element>, _ name: String) {
        let storage = sections.storage
        let (found, expected) = (storage.sections, storage.sectionsOfElements())
        #expect(found.members == expected.members, "\(name)")
        // The description distinguishes -0.0 from 0.0, and the bytes distinguish equivalent texts.
        #expect(
            found.keys.map { Array("\($0)".utf8) } == expected.keys.map { Array("\($0)".utf8) },
            "\(name): \(found.keys) instead of \(expected.keys)")
        #expect(expected.keys.indices.allSatisfy { found.positions[expected.keys[$0]] == $0 }, "\(name)")
    }

    private func check<Key, Element: ObjectBase>(
        _ members: Results<Element>, _ name: String, _ keyPath: KeyPath<Element, Key>, _ ascending: Bool
    ) where Key: Hashable {
        let sort = [SortDescriptor(keyPath: "id", ascending: ascending)]
        check(members.sectioned(by: keyPath, ascending: ascending), "\(name) of a key path")
        check(members.sorted(by: sort).sectioned(by: keyPath, ascending: ascending), "\(name) of a sorted key path")
        check(members.sectioned(by: keyPath, sortDescriptors: sort), "\(name) after a sort")
        check(members.sectioned(by: { $0[keyPath: keyPath] }, sortDescriptors: sort), "\(name) of a closure")
    }

    private func check<Element: ModelObject, F: ValueField<Element>>(
        _ members: Results<Element>, _ field: (Element.RootFields) -> F, _ ascending: Bool
    ) where F.Value: OrderedValue, F.Value._NonOptional: Hashable {
        let name = field(Element.fields).keyPath
        check(members.sectioned(by: field, ascending: ascending), name)
        let down = members.sorted(byKeyPath: "id", ascending: false)
        check(down.sectioned(by: field, ascending: ascending), "\(name) of a sorted result")
        check(members.freeze().sectioned(by: field, ascending: ascending), "\(name) of a frozen result")
        for path in [[name], [name, "id"], ["id", name]] { checkDistinct(members, path) }
        checkDistinct(down, [name])
        checkDistinct(members.sorted(byKeyPath: name, ascending: ascending), ["id"])
    }

    /// Compares the results of `distinct` with the distinct members that SQLite computes. SQLite computes them if a
    /// condition follows `distinct`.
    private func checkDistinct<Element: ObjectBase>(_ members: Results<Element>, _ paths: [String]) {
        let found = members.distinct(by: paths)
        let expected = found.filter("TRUEPREDICATE").storage.keys
        #expect(found.first?._key == expected.first { _ in true }, "\(paths)")
        #expect(members.distinct(by: paths).count == expected.count, "\(paths)")
        #expect(members.distinct(by: paths).storage.keys == expected, "\(paths)")
        #expect(members.distinct(by: paths).map(\._key) == Array(expected), "\(paths)")
        for limit in [0, 1, 3] {
            let limited = members.distinct(by: paths).limit(limit, offset: 1)
            let keys = limited.storage.keys
            #expect(Array(keys) == Array(expected).dropFirst().prefix(limit).map(\.self), "\(paths), limit \(limit)")
            #expect(limited.count == keys.count && limited.first?._key == keys.first { _ in true }, "\(paths)")
            let again = limited.distinct(by: ["id"])
            #expect(again.storage.keys == keys, "\(paths)")
        }
    }

    private func checkAll(_ realm: Realm, _ random: inout SeededRandom) {
        let ascending = Bool.random(using: &random)
        let least = Int.random(in: 0..<20, using: &random)
        let optional = [
            realm.objects(OptionalScalars.self), realm.objects(OptionalScalars.self).where { $0.id >= least },
        ]
        for members in optional {
            check(members, { $0.bool }, ascending)
            check(members, { $0.int }, ascending)
            check(members, { $0.int8 }, ascending)
            check(members, { $0.float }, ascending)
            check(members, { $0.double }, ascending)
            check(members, { $0.string }, ascending)
            check(members, { $0.data }, ascending)
            check(members, { $0.date }, ascending)
            check(members, { $0.uuid }, ascending)
            check(members, { $0.objectId }, ascending)
            check(members, { $0.decimal128 }, ascending)
            check(members, "int", \.int, ascending)
            check(members, "double", \.double, ascending)
            check(members, "string", \.string, ascending)
            check(members, "date", \.date, ascending)
            check(members, "decimal128", \.decimal128, ascending)
        }
        let scalars = realm.objects(Scalars.self)
        check(scalars, { $0.double }, ascending)
        check(scalars, { $0.float }, ascending)
        check(scalars, { $0.string }, ascending)
        check(scalars, { $0.decimal128 }, ascending)
        check(scalars, { $0.anyValue }, ascending)
        check(scalars, "double", \.double, ascending)
        check(scalars, "anyValue", \.anyValue, ascending)
        check(scalars, "sign", \.signOfDouble, ascending)
        check(scalars, "condition", \.textIfOne, ascending)
        let nodes = realm.objects(Node.self)
        check(nodes, { $0.next.name }, ascending)
        check(nodes, { $0.next.amount }, ascending)
        check(nodes, { $0.next.next.id }, ascending)
        check(nodes, "next.name", \.next?.name, ascending)
        checkDistinct(nodes, ["next"])
        let enums = realm.objects(EnumHolder.self)
        check(enums, { $0.grade }, ascending)
        check(enums, { $0.level }, ascending)
        check(enums, { $0.optionalState }, ascending)
        check(enums, "level", \.level, ascending)
        check(enums, "optionalState", \.optionalState, ascending)
    }

    @Test("sections and distinct members of random values equal the slowly computed ones O46 O52", arguments: 0..<2)
    func random(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let test = try Self.test(columns: seed % 2 == 1)
        let nodes = (0..<40).map { Node(id: $0) }
        try test.realm.write {
            test.realm.add(nodes)
            for node in nodes { Self.fill(node, nodes, &random) }
            for id in 0..<60 {
                let (scalars, optional, enums) = (Scalars(id: id), OptionalScalars(id: id), EnumHolder(id: id))
                Self.fill(scalars, nodes, &random)
                Self.fill(optional, nodes, &random)
                Self.fill(enums, &random)
                test.realm.add(scalars)
                test.realm.add(optional)
                test.realm.add(enums)
            }
        }
        checkAll(test.realm, &random)
        try test.realm.write {
            for row in test.realm.objects(Scalars.self) where row.id % 3 == 0 { Self.fill(row, nodes, &random) }
            for row in test.realm.objects(OptionalScalars.self) where row.id % 3 == 0 { Self.fill(row, nodes, &random) }
            test.realm.delete(test.realm.objects(OptionalScalars.self).where { $0.id == 7 })
            test.realm.delete(nodes[3])
            checkAll(test.realm, &random)
        }
        checkAll(test.realm.freeze(), &random)
        checkAll(test.realm, &random)
    }

    @Test("sections and distinct members of elements and linking objects keep repeated members O46 O52")
    func sources() throws {
        let test = try TestRealm()
        let nodes = (0..<8).map { Node(id: $0, name: ["a", "b", "c"][$0 % 3], amount: Double($0 % 2)) }
        try test.realm.write {
            test.realm.add(nodes)
            nodes[0].children.append(objectsIn: [5, 3, 5, 1, 2, 5, 3, 0].map { nodes[$0] })
            for node in nodes { node.next = nodes[2] }
        }
        for members in [nodes[0].children.sorted(by: []), nodes[2].previous.sorted(by: [])] {
            check(members, { $0.name }, true)
            check(members, "name", \.name, false)
            check(members, { $0.amount }, false)
        }
    }

    @Test("sections by a computed property are correct if some objects need more properties than others O46")
    func computed() throws {
        let test = try TestRealm()
        try test.realm.write {
            for id in 0..<40 { test.realm.add(Scalars(id: id, int: id % 2, string: "\(id % 5)")) }
        }
        let kept = test.realm.objects(Scalars.self).map(\.self)
        let sections = test.realm.objects(Scalars.self).sectioned(by: \.textIfOne)
        #expect(sections.allKeys.count == 6 && sections.map(\.count).reduce(0, +) == kept.count)
        check(sections, "kept objects")
    }

    @Test("an object whose raw value has no case is in the section of the value that the program reads O46 O31")
    func unknownCases() throws {
        let test = try TestRealm()
        try test.realm.write {
            for id in 0..<9 { test.realm.add(EnumHolder(id: id)) }
        }
        try alter(
            test.url.path,
            """
            UPDATE EnumHolder SET flavor = id % 5, state = 'x' || (id % 2), optionalState = 'y' WHERE id > 3;
            UPDATE martlet_meta SET version = version + 1
            """)
        try test.onNewThread { realm in
            let all = realm.objects(EnumHolder.self)
            check(all, { $0.flavor }, true)
            check(all, { $0.state }, true)
            check(all, { $0.optionalState }, false)
            check(all, "flavor", \.flavor, false)
            check(all, "state", \.state, true)
        }
    }

    @Test("the values of an index are found in files with many and with few values O52", arguments: [1, 3, 400])
    func indexes(values: Int) throws {
        let test = try TestRealm()
        try test.realm.write {
            for id in 0..<600 {
                let row = Indexed(
                    id: id, name: "\(id * 11 % values)", count: id % values == 1 ? nil : id * 3 % values,
                    code: "\(id)")
                row.day = Date(timeIntervalSince1970: Double(id % values))
                test.realm.add(row)
            }
        }
        let all = test.realm.objects(Indexed.self)
        let group = IndexedGroup(id: 1)
        try test.realm.write {
            test.realm.add(group)
            for id in stride(from: 599, to: 0, by: -7) {
                let row = test.realm.object(ofType: Indexed.self, forPrimaryKey: id % 13 == 0 ? 5 : id)
                guard let row else { continue }
                group.list.append(row)
                group.set.insert(row)
                group.map["\(id * 31 % 97)"] = row
            }
        }
        let queries = [
            all, all.where { $0.count > 5 }, group.list.sorted(by: []), group.set.sorted(by: []),
            group.map.filter("TRUEPREDICATE"), group.list.where { $0.count > 5 },
        ]
        for members in queries {
            for path in ["name", "count", "day", "grade"] { checkDistinct(members, [path]) }
            check(members, { $0.name }, false)
            check(members, { $0.count }, true)
            check(members, { $0.count }, false)
            check(members, { $0.day }, true)
            check(members, "name", \.name, true)
        }
        #expect(all.distinct(by: ["name"]).count == values)
    }
}

extension Scalars {
    /// 0.0 and -0.0 are equal, but this property differs.
    fileprivate var signOfDouble: Double { 1 / double }
    fileprivate var textIfOne: String { int == 1 ? string : "-" }
}
