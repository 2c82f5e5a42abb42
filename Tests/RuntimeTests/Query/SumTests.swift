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

    @Test("O53 fields that may be nil are aggregated over those that are not") func optionalFields() throws {
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
