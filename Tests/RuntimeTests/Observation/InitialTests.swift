import Foundation
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("the initial callback")
struct InitialTests {
    @Test(
        "collection observers get one initial callback, asynchronously; object and Realm observers get none N19"
    )
    func once() throws {
        let test = try TestRealm()
        let dog = try test.dogs("Rex")[0]
        try test.realm.write { dog.owner = Person(firstName: "Ada") }
        let person = try #require(dog.owner)
        let logs = [Log(test.allDogs), Log(dog.siblings), Log(person.dogs), Log(object: dog), Log(test.realm)]
        #expect(logs.flatMap { $0.lines }.isEmpty)
        test.deliverAll()
        #expect(logs.map { $0.take() } == [["initial"], ["initial"], ["initial"], [], []])
        try test.realm.write {}
        test.deliverAll()
        #expect(logs.map { $0.take() } == [[], [], [], [], ["didChange"]])
    }

    @Test("the scheduler of the Realm delivers the initial callback N20")
    func byScheduler() throws {
        let test = try TestRealm()
        let log = Log(test.allDogs)
        #expect(test.scheduler.waitForWork())
        #expect(log.lines.isEmpty)
        test.scheduler.run()
        #expect(log.take() == ["initial"])
        test.realm.refresh()
        test.deliverAll()
        #expect(log.take().isEmpty)
    }

    @Test("refresh delivers the initial callback, and the scheduler does not repeat it N20")
    func byRefresh() throws {
        let test = try TestRealm()
        let log = Log(test.allDogs)
        #expect(!test.realm.refresh())
        #expect(log.take() == ["initial"])
        test.deliverAll()
        #expect(log.take().isEmpty)
    }

    @Test("beginWrite delivers the initial callback, and the scheduler does not repeat it N20")
    func byBeginWrite() throws {
        let test = try TestRealm()
        let log = Log(test.allDogs)
        try test.realm.beginWrite()
        #expect(log.take() == ["initial"])
        test.realm.cancelWrite()
        test.deliverAll()
        #expect(log.take().isEmpty)
    }

    @Test(
        "without autorefresh, the initial callback is delivered at the current version N21", arguments: [true, false])
    func autorefreshOff(remote: Bool) throws {
        let test = try TestRealm()
        test.realm.autorefresh = false
        if remote { try test.onNewThread { realm in try realm.write { realm.add(Dog(name: "Rex")) } } }
        var counts: [Int] = []
        let token = test.allDogs.observe { change in
            if case .initial(let dogs) = change { counts.append(dogs.count) }
        }
        test.deliverAll()
        #expect(counts == [0])
        withExtendedLifetime(token) {}
    }

    @Test("the initial callback is delivered after invalidate N21", arguments: [true, false])
    func afterInvalidate(autorefresh: Bool) throws {
        let test = try TestRealm()
        test.realm.autorefresh = autorefresh
        let log = Log(test.allDogs)
        test.realm.invalidate()
        test.deliverAll()
        #expect(log.take() == ["initial"])
        try test.dogs("Rex")
        test.deliverAll()
        #expect(log.take() == ["[] [0] []"])
    }

    @Test("the initial callback of a list is delivered after invalidate N21")
    func listAfterInvalidate() throws {
        let test = try TestRealm()
        let dog = try test.dogs("Rex")[0]
        var counts: [Int] = []
        let token = dog.siblings.observe { change in
            if case .initial(let list) = change { counts.append(list.count) }
        }
        test.realm.invalidate()
        test.deliverAll()
        #expect(counts == [0])
        withExtendedLifetime(token) {}
    }

    @Test("the initial callback includes commits made before its delivery N22", arguments: [true, false])
    func includesEarlierCommits(remote: Bool) throws {
        let test = try TestRealm()
        var lines: [String] = []
        let token = test.allDogs.observe { change in
            if case .initial(let dogs) = change {
                lines.append("initial \(dogs.count)")
            } else {
                lines.append(text(change))
            }
        }
        #expect(test.scheduler.waitForWork())
        if remote {
            try test.onNewThread { realm in try realm.write { realm.add(Dog(name: "Rex")) } }
            test.realm.refresh()
        } else {
            // beginWrite delivers the initial callback, before the commit.
            try test.realm.beginWrite()
            #expect(lines == ["initial 0"])
            lines = []
            test.realm.add(Dog(name: "Rex"))
            try test.realm.commitWrite()
        }
        test.deliverAll()
        #expect(lines == (remote ? ["initial 1"] : ["[] [0] []"]))
        withExtendedLifetime(token) {}
    }

    @Test("the initial callback includes the write in which the observer was registered N22")
    func includesOwnWrite() throws {
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
        test.deliverAll()
        #expect(lines == ["initial 1"])
        withExtendedLifetime(token) {}
    }

    @Test("the initial callback precedes the first update for every kind of collection N23")
    func order() throws {
        let test = try TestRealm()
        let dog = try test.dogs("Rex")[0]
        let person = Person(firstName: "Ada")
        try test.realm.write { dog.owner = person }
        let logs = [
            Log(test.allDogs), Log(dog.siblings), Log(person.dogs), Log(dog.siblings.sorted(byKeyPath: "name")),
        ]
        try test.onNewThread { realm in
            try realm.write {
                let bo = Dog(name: "Bo")
                bo.owner = realm.objects(Person.self).first
                try realm.dog("Rex").siblings.append(bo)
            }
        }
        test.realm.refresh()
        #expect(logs.map { $0.take() } == [["initial"], ["initial"], ["initial"], ["initial"]])
        try test.onNewThread { realm in try realm.write { try realm.dog("Bo").name = "Bob" } }
        test.deliverAll()
        #expect(logs.map { $0.take() } == [["[] [] [0, 1]"], ["[] [] [0]"], ["[] [] [0, 1]"], ["[] [] [0]"]])
    }

    @Test("a second observer gets an initial callback, and the first observer is not called again N24")
    func second() throws {
        let test = try TestRealm()
        let dogs = test.allDogs
        let first = Log(dogs)
        test.deliverAll()
        let second = Log(dogs)
        test.deliverAll()
        #expect(first.take() == ["initial"])
        #expect(second.take() == ["initial"])
        try test.dogs("Rex")
        test.deliverAll()
        #expect(first.take() == ["[] [0] []"])
        #expect(second.take() == ["[] [0] []"])
    }
}
