import Foundation
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("the initial callback")
struct InitialTests {
    @Test("N19 collections get exactly one, asynchronously; objects and Realms get none")
    func once() throws {
        let test = try TestRealm()
        let dog = try test.dogs("Rex")[0]
        try test.realm.write { dog.owner = Person(firstName: "Ada") }
        let person = try #require(dog.owner)
        let logs = [Log(test.allDogs), Log(dog.siblings), Log(person.dogs), Log(object: dog), Log(test.realm)]
        #expect(logs.flatMap { $0.lines }.isEmpty)
        test.settle()
        #expect(logs.map { $0.take() } == [["initial"], ["initial"], ["initial"], [], []])
        try test.realm.write {}
        test.settle()
        #expect(logs.map { $0.take() } == [[], [], [], [], ["didChange"]])
    }

    @Test("N20 the scheduler's turn delivers it")
    func byTurn() throws {
        let test = try TestRealm()
        let log = Log(test.allDogs)
        #expect(test.scheduler.waitForTurn())
        #expect(log.lines.isEmpty)
        test.scheduler.turn()
        #expect(log.take() == ["initial"])
        test.realm.refresh()
        test.settle()
        #expect(log.take().isEmpty)
    }

    @Test("N20 refresh delivers it, and no turn again")
    func byRefresh() throws {
        let test = try TestRealm()
        let log = Log(test.allDogs)
        #expect(!test.realm.refresh())
        #expect(log.take() == ["initial"])
        test.settle()
        #expect(log.take().isEmpty)
    }

    @Test("N20 beginWrite delivers it, and no turn again")
    func byBeginWrite() throws {
        let test = try TestRealm()
        let log = Log(test.allDogs)
        try test.realm.beginWrite()
        #expect(log.take() == ["initial"])
        test.realm.cancelWrite()
        test.settle()
        #expect(log.take().isEmpty)
    }

    @Test("N21 it arrives with autorefresh off, at the version shown", arguments: [true, false])
    func autorefreshOff(remote: Bool) throws {
        let test = try TestRealm()
        test.realm.autorefresh = false
        if remote { try test.elsewhere { realm in try realm.write { realm.add(Dog(name: "Rex")) } } }
        var counts: [Int] = []
        let token = test.allDogs.observe { change in
            if case .initial(let dogs) = change { counts.append(dogs.count) }
        }
        test.settle()
        #expect(counts == [0])
        withExtendedLifetime(token) {}
    }

    @Test("N21 it arrives after invalidate", arguments: [true, false])
    func afterInvalidate(autorefresh: Bool) throws {
        let test = try TestRealm()
        test.realm.autorefresh = autorefresh
        let log = Log(test.allDogs)
        test.realm.invalidate()
        test.settle()
        #expect(log.take() == ["initial"])
        try test.dogs("Rex")
        test.settle()
        #expect(log.take() == ["[] [0] []"])
    }

    @Test("N21 of a list too, whose owner is shown again")
    func listAfterInvalidate() throws {
        let test = try TestRealm()
        let dog = try test.dogs("Rex")[0]
        var counts: [Int] = []
        let token = dog.siblings.observe { change in
            if case .initial(let list) = change { counts.append(list.count) }
        }
        test.realm.invalidate()
        test.settle()
        #expect(counts == [0])
        withExtendedLifetime(token) {}
    }

    @Test("N22 commits before its delivery are folded into it", arguments: [true, false])
    func folded(remote: Bool) throws {
        let test = try TestRealm()
        var lines: [String] = []
        let token = test.allDogs.observe { change in
            if case .initial(let dogs) = change {
                lines.append("initial \(dogs.count)")
            } else {
                lines.append(text(change))
            }
        }
        #expect(test.scheduler.waitForTurn())
        if remote {
            try test.elsewhere { realm in try realm.write { realm.add(Dog(name: "Rex")) } }
            test.realm.refresh()
        } else {
            // Both commits come before the first delivery: the second write begins inside the first callback's round.
            try test.realm.beginWrite()
            #expect(lines == ["initial 0"])
            lines = []
            test.realm.add(Dog(name: "Rex"))
            try test.realm.commitWrite()
        }
        test.settle()
        #expect(lines == (remote ? ["initial 1"] : ["[] [0] []"]))
        withExtendedLifetime(token) {}
    }

    @Test("N22 a local commit made inside the registering write is folded in")
    func foldedLocal() throws {
        let test = try TestRealm()
        var lines: [String] = []
        var token: NotificationToken?
        try test.realm.write {
            token = test.allDogs.observe { change in
                if case .initial(let dogs) = change {
                    lines.append("initial \(dogs.count)")
                } else {
                    lines.append(text(change))
                }
            }
            test.realm.add(Dog(name: "Rex"))
        }
        test.settle()
        #expect(lines == ["initial 1"])
        withExtendedLifetime(token) {}
    }

    @Test("N23 it comes before the first update for every kind of collection")
    func order() throws {
        let test = try TestRealm()
        let dog = try test.dogs("Rex")[0]
        let person = Person(firstName: "Ada")
        try test.realm.write { dog.owner = person }
        let logs = [
            Log(test.allDogs), Log(dog.siblings), Log(person.dogs), Log(dog.siblings.sorted(byKeyPath: "name")),
        ]
        try test.elsewhere { realm in
            try realm.write {
                let bo = Dog(name: "Bo")
                bo.owner = realm.objects(Person.self).first
                try realm.dog("Rex").siblings.append(bo)
            }
        }
        test.realm.refresh()
        #expect(logs.map { $0.take() } == [["initial"], ["initial"], ["initial"], ["initial"]])
        try test.elsewhere { realm in try realm.write { try realm.dog("Bo").name = "Bob" } }
        test.settle()
        #expect(logs.map { $0.take() } == [["[] [] [0, 1]"], ["[] [] [0]"], ["[] [] [0, 1]"], ["[] [] [0]"]])
    }

    @Test("N24 a second observer gets its own and disturbs no one")
    func second() throws {
        let test = try TestRealm()
        let dogs = test.allDogs
        let first = Log(dogs)
        test.settle()
        let second = Log(dogs)
        test.settle()
        #expect(first.take() == ["initial"])
        #expect(second.take() == ["initial"])
        try test.dogs("Rex")
        test.settle()
        #expect(first.take() == ["[] [0] []"])
        #expect(second.take() == ["[] [0] []"])
    }
}
