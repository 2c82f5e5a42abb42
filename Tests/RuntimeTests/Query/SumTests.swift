import ConformanceModels
import Martlet
import MartletTestSupport
import Testing

@Suite struct SumTests {
    private func scalars(_ test: TestRealm) throws {
        let (first, second) = (Scalars(), Scalars())
        first.id = 1
        (first.int8, second.int8) = (100, 100)
        (first.int, second.int) = (.max, 1)
        (first.double, second.double) = (.infinity, 1)
        try test.realm.write { test.realm.add([first, second]) }
    }

    @Test("the type of a sum can be larger than the type of the elements, and a sum with infinity is infinite O53")
    func fits() throws {
        let test = try TestRealm()
        try scalars(test)
        let all = test.realm.objects(Scalars.self)
        #expect(all.sum(ofProperty: "int8") as Int == 200 && all.average(ofProperty: "int8") as Double? == 100)
        #expect(all.sum(ofProperty: "double") as Double == .infinity)
        #expect(ScalarLists(ints: [.max, 1]).ints.average() == 0x1p62)
        #expect(ScalarLists(int8s: [100, -100, 27]).int8s.sum() == 27)
    }

    @Test("a sum that fits its type is exact, even if a partial sum overflows O53") func partialSums() throws {
        let test = try TestRealm()
        let values: [Int] = [.max, .max, 5, .min, .min, 2]
        try test.realm.write {
            test.realm.add(values.enumerated().map { Scalars(value: ["id": $0.offset, "int": $0.element]) })
            test.realm.add(ScalarLists(id: 1, ints: values))
        }
        let all = test.realm.objects(Scalars.self)
        #expect(all.sum { $0.int } == 5 && all.filter("id < 2").sum(ofProperty: "int") as Double == 0x1p64)
        #expect(try #require(test.realm.objects(ScalarLists.self).first).ints.sum() == 5)
        #expect(ScalarLists(ints: values).ints.sum() == 5)
    }

    @Test("aggregates of collections of objects check the property and its type, like aggregates of results O53")
    func checkedProperties() async throws {
        let boolean = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let scalars: List<Scalars> = [Scalars(bool: true)]
            let _: Int = scalars.sum(ofProperty: "bool")
        }
        expectMessage(boolean, "'bool' is 'Bool', which has no sum or average")
        let date = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let _: Double? = List<Scalars>().average(ofProperty: "date")
        }
        expectMessage(date, "'date' is 'Date', which has no sum or average")
        let type = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let _: Int? = Node(children: [Node(name: "a")]).children.max(ofProperty: "name")
        }
        expectMessage(type, "'name' has values that are not of type 'Int'")
        let unknown = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let _: Int = Node().named.sum(ofProperty: "next.nme")
        }
        expectMessage(unknown, "'nme'")
        let managed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm(holding: Node(id: 1))
            let _: Int? = test.realm.objects(Node.self)[0].peers.min(ofProperty: "next.nme")
        }
        expectMessage(managed, "'nme'")
        let link = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let _: String? = Node().children.min(ofProperty: "next")
        }
        expectMessage(link, "which has no order")
    }

    @Test("aggregates of optional fields ignore nil O53") func optionalFields() throws {
        let test = try TestRealm()
        let values: [Int?] = [3, nil, 4]
        let objects = values.enumerated().map { OptionalScalars(value: ["id": $0.offset, "int": $0.element as Any]) }
        try test.realm.write { test.realm.add(objects) }
        let all = test.realm.objects(OptionalScalars.self)
        #expect(all.sum { $0.int } == 7 && all.average { $0.int } == 3.5)
        #expect(all.min { $0.int } == 3 && all.max { $0.int } == 4)
        let none = all.where { $0.int == nil }
        #expect(none.sum { $0.int } == 0 && none.average { $0.int } == nil && none.max { $0.int } == nil)
    }

    @Test("conditions compare sums of any size exactly O50 O53") func conditions() throws {
        let test = try TestRealm()
        let lists: [[Int]] = [
            [1 << 62, 1 << 62], [.max, 1, -1], [.min, -1], [-1], [], [1 << 53, 1], [.max, .max, .min, .min, 5],
        ]
        try test.realm.write {
            for (id, list) in lists.enumerated() { test.realm.add(ScalarLists(id: id, ints: list)) }
            test.realm.add(OptionalLists(id: 1, ints: [nil, .max, nil, .max]))
            test.realm.add(OptionalLists(id: 2, ints: [nil]))
        }
        let all = test.realm.objects(ScalarLists.self)
        #expect(all.where { $0.ints.sum > 5 }.map(\.id) == [0, 1, 5])
        #expect(all.where { $0.ints.sum == .max }.map(\.id) == [1] && all.where { $0.ints.sum == -1 }.map(\.id) == [3])
        #expect(all.filter("ints.@sum > 9223372036854775807").map(\.id) == [0])
        #expect(all.filter("ints.@sum <= -9223372036854775808").map(\.id) == [2])
        #expect(all.where { $0.ints.sum == 0 }.map(\.id) == [4])
        #expect(all.where { $0.ints.sum == (1 << 53) + 1 }.map(\.id) == [5])
        #expect(all.where { $0.ints.sum == 3 }.map(\.id) == [6])
        let optional = test.realm.objects(OptionalLists.self)
        #expect(
            optional.where { $0.ints.sum > 0 }.map(\.id) == [1] && optional.where { $0.ints.sum == 0 }.map(\.id) == [2])
    }

    @Test("a sum that does not fit its type traps, and the message advises a larger type O53") func tooLarge() async {
        let small = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            try SumTests().scalars(test)
            _ = test.realm.objects(Scalars.self).sum { $0.int8 }
        }
        expectMessage(small, "the sum does not fit 'Int8'. Use a larger type")
        let large = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            try SumTests().scalars(test)
            _ = test.realm.objects(Scalars.self).sum { $0.int }
        }
        expectMessage(large, "the sum does not fit 'Int'")
        let floating = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            try test.realm.write { test.realm.add(Scalars(id: 1, double: 1e19)) }
            let _: Int = test.realm.objects(Scalars.self).sum(ofProperty: "double")
        }
        expectMessage(floating, "the sum does not fit 'Int'")
        let list = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = ScalarLists(ints: [.max, 1]).ints.sum()
        }
        expectMessage(list, "the sum does not fit 'Int'")
    }
}

/// Sums and averages of decimals, which must keep all digits.
@Suite struct DecimalSumTests {
    private let large = Decimal128("1234567890123456789012345678901234")

    private func filled() throws -> TestRealm {
        let test = try TestRealm()
        let values: [Decimal128?] = [
            large, Decimal128("0.1"), Decimal128("0.2"), nil, .nan, Decimal128("-1234567890123456789012345678901234"),
        ]
        try test.realm.write {
            for (id, value) in values.enumerated() {
                test.realm.add(OptionalScalars(id: id, decimal128: value))
                test.realm.add(Scalars(id: id, decimal128: value ?? 0))
            }
            test.realm.add(ScalarLists(id: 1, decimal128s: values.compactMap { $0 }))
            test.realm.add(ScalarLists(id: 2))
            test.realm.add(OptionalLists(id: 1, decimal128s: values))
            test.realm.add(ScalarSets(id: 1, decimal128s: [Decimal128("0.1"), Decimal128("0.2")]))
            test.realm.add(ScalarMaps(id: 1, decimal128s: ["a": Decimal128("0.1"), "b": Decimal128("0.2")]))
        }
        return test
    }

    @Test("sums and averages of decimals keep all digits, in results and collections O53") func results() throws {
        let test = try filled()
        let (tenths, average) = (Decimal128("0.3"), Decimal128("0.075"))
        let all = test.realm.objects(OptionalScalars.self)
        #expect(all.sum { $0.decimal128 } == tenths && all.average { $0.decimal128 } == average)
        #expect(all.sum(ofProperty: "decimal128") == tenths && all.average(ofProperty: "decimal128") == average)
        #expect(all.sum(ofProperty: "decimal128") as Double == 0.3)
        #expect(all.filter("FALSEPREDICATE").sum { $0.decimal128 } == .zero)
        #expect(all.filter("FALSEPREDICATE").average { $0.decimal128 } == nil)
        #expect(all.sum(ofProperty: "id") as Decimal128 == 15)
        let lists = test.realm.objects(ScalarLists.self)[0].decimal128s
        #expect(lists.sum() == tenths && lists.average() == average)
        #expect(lists.min() == Decimal128("-1234567890123456789012345678901234") && lists.max() == large)
        let optional = test.realm.objects(OptionalLists.self)[0].decimal128s
        #expect(optional.sum() == tenths && optional.average() == average)
        #expect(test.realm.objects(ScalarSets.self)[0].decimal128s.sum() == tenths)
        #expect(test.realm.objects(ScalarMaps.self)[0].decimal128s.average() == Decimal128("0.15"))
        #expect(ScalarLists(id: 9, decimal128s: [1, 2]).decimal128s.average() == Decimal128("1.5"))
        #expect(ScalarLists(id: 9).decimal128s.sum() == .zero && ScalarLists(id: 9).decimal128s.average() == nil)
    }

    @Test("queries compare sums and averages of decimals with all digits O50 O51 O53") func queries() throws {
        let test = try filled()
        let lists = test.realm.objects(ScalarLists.self)
        #expect(lists.where { $0.decimal128s.sum == Decimal128("0.3") }.map(\.id) == [1])
        #expect(
            lists.where { $0.decimal128s.avg > Decimal128("0.0749999999999999999999999999999999") }.map(\.id) == [1])
        #expect(lists.where { $0.decimal128s.avg > Decimal128("0.075") }.isEmpty)
        #expect(lists.where { $0.decimal128s.sum == 0 }.map(\.id) == [2])
        #expect(lists.filter("decimal128s.@avg == nil").map(\.id) == [2])
        #expect(
            lists.filter("decimal128s.@sum == 0.3 AND decimal128s.@avg == %@", Decimal128("0.075")).map(\.id) == [1])
        #expect(lists.filter("decimal128s.@sum < 0.3").map(\.id) == [2])
        #expect(lists.filter("decimal128s.@sum == id").isEmpty)
        #expect(test.realm.objects(ScalarMaps.self).where { $0.decimal128s.sum == Decimal128("0.3") }.count == 1)
    }
}
