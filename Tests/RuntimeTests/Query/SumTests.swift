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

    @Test("O53 a sum of small numbers fits a larger type, and infinity stays infinite") func fits() throws {
        let test = try TestRealm()
        try scalars(test)
        let all = test.realm.objects(Scalars.self)
        #expect(all.sum(ofProperty: "int8") as Int == 200 && all.average(ofProperty: "int8") as Double? == 100)
        #expect(all.sum(ofProperty: "double") as Double == .infinity)
        #expect(ScalarLists(ints: [.max, 1]).ints.average() == 0x1p62)
        #expect(ScalarLists(int8s: [100, -100, 27]).int8s.sum() == 27)
    }

    @Test("O50 O53 a condition on a sum holds for sums of any size") func conditions() throws {
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

    @Test("O53 a sum that does not fit traps and says what to ask for") func tooLarge() async {
        let small = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            try SumTests().scalars(test)
            _ = test.realm.objects(Scalars.self).sum { $0.int8 }
        }
        expectMessage(small, "the sum does not fit 'Int8'. Ask for a larger type")
        let large = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            try SumTests().scalars(test)
            _ = test.realm.objects(Scalars.self).sum { $0.int }
        }
        expectMessage(large, "the sum does not fit 'Int'")
        let list = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = ScalarLists(ints: [.max, 1]).ints.sum()
        }
        expectMessage(list, "the sum does not fit 'Int'")
    }
}
