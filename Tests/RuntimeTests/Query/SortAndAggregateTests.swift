import ConformanceModels
import Foundation
import KennelModels
import Martlet
import MartletTestSupport
import Testing

@Suite struct SortAndAggregateTests {
    @Test("results sort stably by several properties and through links O52") func sorts() throws {
        let test = try TestRealm()
        let people = ["b", "a"].map { Person(firstName: $0) }
        try test.realm.write {
            test.realm.add(Dog(name: "x", age: 2, owner: people[0]))
            test.realm.add(Dog(name: "y", age: 1, owner: people[1]))
            test.realm.add(Dog(name: "z", age: 2, owner: people[1]))
            test.realm.add(Dog(name: "w", age: nil))
        }
        let dogs = test.realm.objects(Dog.self)
        func names(_ results: Results<Dog>) -> String { results.map(\.name).joined() }
        #expect(
            names(dogs.sorted(byKeyPath: "name")) == "wxyz"
                && names(dogs.sorted(by: { $0.name }, ascending: false)) == "zyxw")
        #expect(names(dogs.sorted(by: { $0.age })) == "wyxz")
        #expect(names(dogs.sorted(byKeyPath: "owner.firstName")) == "yzxw")
        #expect(
            names(dogs.sorted(by: [.init(keyPath: "age", ascending: false), .init(keyPath: "name", ascending: false)]))
                == "zxyw")
        #expect(names(dogs.sorted(by: { $0.name }, ascending: false).sorted(by: { $0.age })) == "wyzx")
        #expect(names(dogs.where { $0.age != nil }.sorted(by: { $0.owner.firstName })) == "yzx")
        let sorted = dogs.sorted(by: { $0.name })
        #expect(
            sorted.index(of: sorted[2]) == 2 && sorted.index(matching: { $0.age == 1 }) == 2
                && sorted.index(matching: { $0.age == 9 }) == nil)
        #expect(
            names(sorted) == "wxyz" && sorted.last?.name == "z"
                && sorted.objects(at: [3, 0]).map(\.name) == ["z", "w"])
    }

    @Test("without elements, min, max and average are nil, and the sum is zero O53") func empty() throws {
        let test = try TestRealm()
        let dogs = test.realm.objects(Dog.self)
        #expect(dogs.min { $0.age } == nil && dogs.max(ofProperty: "name") as String? == nil)
        #expect(dogs.sum { $0.age } == 0 && dogs.average { $0.age } == nil)
        #expect(dogs.sum(ofProperty: "age") as Double == 0)
    }

    @Test("aggregates skip nil O53") func aggregates() throws {
        let test = try TestRealm()
        try test.realm.write {
            for (name, age) in [("a", 1), ("b", nil), ("c", 6), ("d", 2)] as [(String, Int?)] {
                test.realm.add(Dog(name: name, age: age))
            }
        }
        let dogs = test.realm.objects(Dog.self)
        #expect(
            dogs.min { $0.age } == 1 && dogs.max { $0.age } == 6 && dogs.sum { $0.age } == 9
                && dogs.average { $0.age } == 3)
        #expect(dogs.max { $0.name } == "d" && dogs.where { $0.age < 6 }.sum { $0.age } == 3)
        #expect(dogs.min(ofProperty: "age") as Int? == 1 && dogs.average(ofProperty: "age") as Float? == 3)
    }

    @Test("all numeric types and dates have aggregates O53") func kinds() throws {
        let test = try TestRealm()
        let day = Date(timeIntervalSinceReferenceDate: 100.125)
        try test.realm.write {
            test.realm.add(Scalars(id: 1, int: .max, int8: 100, float: 1.5, double: 0.1, date: day, decimal128: 5))
            test.realm.add(
                Scalars(
                    id: 2, int: .min, int8: 100, float: 2.5, double: 0.2, date: day.addingTimeInterval(-1),
                    decimal128: -7))
        }
        let all = test.realm.objects(Scalars.self)
        #expect(all.sum { $0.int } == -1 && all.sum(ofProperty: "int8") as Int == 200 && all.sum { $0.float } == 4)
        #expect(all.sum { $0.double } == 0.1 + 0.2 && all.average { $0.float } == 2)
        #expect(all.min { $0.date } == day.addingTimeInterval(-1) && all.max { $0.date } == day)
        #expect(all.min { $0.decimal128 } == -7 && all.max { $0.int } == .max && all.min { $0.int } == .min)
    }

    @Test("aggregates include changes of the open write O53") func pending() throws {
        let test = try TestRealm()
        let dog = Dog(name: "a", age: 1)
        try test.realm.write { test.realm.add(dog) }
        let dogs = test.realm.objects(Dog.self)
        try test.realm.write {
            dog.age = 5
            #expect(dogs.sum { $0.age } == 5 && dogs.where { $0.age == 5 }.count == 1)
            test.realm.add(Dog(name: "b", age: 2))
            #expect(dogs.sum { $0.age } == 7 && dogs.count == 2)
        }
    }

    @Test("sorting by an unknown property or one without an order traps, and so does a sum of strings O52 O53")
    func mistakes() async {
        let link = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestRealm().realm.objects(Dog.self).sorted(byKeyPath: "owner")
        }
        expectMessage(link, "results cannot be sorted by 'owner'")
        let name = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestRealm().realm.objects(Dog.self).sorted(byKeyPath: "owner.name")
        }
        expectMessage(name, "'owner.name' is not a key path of 'Dog': 'Person' has no property 'name'")
        let many = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestRealm().realm.objects(Dog.self).sorted(byKeyPath: "siblings.name")
        }
        expectMessage(many, "results cannot be sorted by 'siblings.name'")
        let sum = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let _: Int = try TestRealm().realm.objects(Dog.self).sum(ofProperty: "name")
        }
        expectMessage(sum, "'name' is 'String', which has no sum or average")
        let empty = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestRealm().realm.objects(Dog.self).sorted(byKeyPath: "")
        }
        expectMessage(empty, "'' is not a key path of 'Dog'")
    }
}
