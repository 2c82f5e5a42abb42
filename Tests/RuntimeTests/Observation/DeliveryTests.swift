import Foundation
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("when observers are called")
struct DeliveryTests {
    @Test("N25 a local commit calls Realm observers at once, the others at the next delivery")
    func local() throws {
        let test = try TestRealm()
        let dog = try test.dogs("Rex")[0]
        let logs = [Log(test.realm), Log(test.allDogs), Log(object: dog)]
        test.settle()
        _ = logs.map { $0.take() }
        try test.realm.write { dog.name = "Max" }
        #expect(logs.map { $0.take() } == [["didChange"], [], []])
        test.realm.refresh()
        #expect(logs.map { $0.take() } == [[], ["[] [] [0]"], ["name: Rex → Max"]])
        try test.realm.write { dog.name = "Bo" }
        test.settle()
        #expect(logs.map { $0.take() } == [["didChange"], ["[] [] [0]"], ["name: Max → Bo"]])
        try test.realm.write { dog.name = "Ida" }
        try test.realm.beginWrite()
        #expect(logs.map { $0.take() } == [["didChange"], ["[] [] [0]"], ["name: Bo → Ida"]])
        test.realm.cancelWrite()
    }

    @Test("N26 an empty commit still calls Realm observers, and nobody else")
    func empty() throws {
        let test = try TestRealm()
        let logs = [Log(test.realm), Log(test.allDogs)]
        test.settle()
        _ = logs.map { $0.take() }
        try test.realm.write {}
        test.settle()
        #expect(logs.map { $0.take() } == [["didChange"], []])
        try test.elsewhere { try $0.write {} }
        test.settle()
        #expect(logs.map { $0.take() } == [["didChange"], []])
    }

    @Test("N27 a remote commit with autorefresh on: the Realm advances, then didChange, then the others")
    func remote() throws {
        let test = try TestRealm()
        let order = Log()
        let dogs = test.allDogs
        order.tokens.append(
            test.realm.observe { note, realm in order.lines.append("\(note) \(realm.objects(Dog.self).count)") })
        order.tokens.append(dogs.observe { order.lines.append(text($0)) })
        test.settle()
        _ = order.take()
        try test.elsewhere { realm in try realm.write { realm.add(Dog(name: "Rex")) } }
        #expect(dogs.count == 0)
        test.settle()
        #expect(order.take() == ["didChange 1", "[] [0] []"])
    }

    @Test("N27 without observers the Realm advances at its turn too")
    func unobserved() throws {
        let test = try TestRealm()
        try test.elsewhere { realm in try realm.write { realm.add(Dog(name: "Rex")) } }
        #expect(test.allDogs.count == 0)
        #expect(test.scheduler.waitForTurn())
        test.scheduler.turn()
        #expect(test.allDogs.count == 1)
    }

    @Test(
        "N27 with autorefresh off only refreshRequired comes, and the changes with refresh or beginWrite",
        arguments: [true, false])
    func autorefreshOff(byRefresh: Bool) throws {
        let test = try TestRealm()
        test.realm.autorefresh = false
        let logs = [Log(test.realm), Log(test.allDogs)]
        test.settle()
        _ = logs.map { $0.take() }
        try test.elsewhere { realm in try realm.write { realm.add(Dog(name: "Rex")) } }
        test.settle()
        #expect(logs.map { $0.take() } == [["refreshRequired"], []])
        #expect(test.allDogs.count == 0)
        try test.elsewhere { realm in try realm.write { realm.add(Dog(name: "Max")) } }
        test.settle()
        #expect(logs.map { $0.take() } == [["refreshRequired"], []])
        if byRefresh {
            #expect(test.realm.refresh())
        } else {
            try test.realm.beginWrite()
            test.realm.cancelWrite()
        }
        #expect(logs.map { $0.take() } == [["didChange"], ["[] [0, 1] []"]])
    }

    @Test("N28 local changes are delivered with autorefresh off, remote ones of the meantime are not")
    func localWithoutAutorefresh() throws {
        let test = try TestRealm()
        let dog = try test.dogs("Rex")[0]
        test.realm.autorefresh = false
        let logs = [Log(test.allDogs), Log(object: dog)]
        test.settle()
        _ = logs.map { $0.take() }
        try test.realm.write { dog.name = "Max" }
        try test.elsewhere { realm in try realm.write { realm.add(Dog(name: "Bo")) } }
        test.settle()
        #expect(logs.map { $0.take() } == [["[] [] [0]"], ["name: Rex → Max"]])
        #expect(test.allDogs.count == 1)
        test.realm.refresh()
        #expect(logs.map { $0.take() } == [["[] [1] []"], []])
    }

    @Test("N29 refresh shows the newest version and delivers; false when there was nothing new")
    func refresh() throws {
        let test = try TestRealm()
        let log = Log(test.allDogs)
        test.settle()
        _ = log.take()
        #expect(!test.realm.refresh())
        try test.elsewhere { realm in try realm.write { realm.add(Dog(name: "Rex")) } }
        #expect(test.realm.refresh())
        #expect(log.take() == ["[] [0] []"])
        #expect(test.allDogs.count == 1)
        try test.dogs("Max")
        #expect(!test.realm.refresh())
        #expect(log.take() == ["[] [1] []"])
        test.settle()
        #expect(log.take().isEmpty)
    }

    @Test("N30 beginWrite first delivers all that is pending, local and remote")
    func beginWrite() throws {
        let test = try TestRealm()
        let logs = [Log(test.realm), Log(test.allDogs)]
        test.settle()
        try test.dogs("Rex")
        _ = logs.map { $0.take() }
        try test.elsewhere { realm in try realm.write { realm.add(Dog(name: "Max")) } }
        try test.realm.beginWrite()
        #expect(logs.map { $0.take() } == [["didChange"], ["[] [0, 1] []"]])
        test.realm.cancelWrite()
        test.settle()
        #expect(logs.map { $0.take() } == [[], []])
    }

    @Test("N31 inside a callback refresh does nothing and returns false")
    func refreshInside() throws {
        let test = try TestRealm()
        var results: [Bool] = []
        var counts: [Int] = []
        let tokens = [
            test.allDogs.observe { _ in
                try? test.elsewhere { realm in try realm.write { realm.add(Dog(name: "Rex")) } }
                results.append(test.realm.refresh())
                counts.append(test.allDogs.count)
            },
            test.realm.observe { _, realm in results.append(realm.refresh()) },
        ]
        test.realm.refresh()
        #expect(results == [false])
        #expect(counts == [0])
        tokens[0].invalidate()
        test.settle()
        #expect(results == [false, false])
        #expect(test.allDogs.count == 1)
    }

    @Test("N31 a refresh inside refreshRequired refreshes, and calls the observers")
    func refreshWhereRequired() throws {
        let test = try TestRealm()
        test.realm.autorefresh = false
        let log = Log(test.allDogs)
        var results: [Bool] = []
        log.tokens += (0..<2).map { number in
            test.realm.observe { notification, realm in
                log.lines.append("\(number) \(notification)")
                if notification == .refreshRequired { results.append(realm.refresh()) }
            }
        }
        test.settle()
        _ = log.take()
        try test.elsewhere { realm in try realm.write { realm.add(Dog(name: "Rex")) } }
        test.settle()
        #expect(results == [true])
        // The second one needs no refresh any more.
        #expect(log.take() == ["0 refreshRequired", "0 didChange", "1 didChange", "[] [0] []"])
        #expect(test.allDogs.count == 1)
    }

    @Test("N27 N21 with autorefresh off a commit of others waits for a refresh after invalidate, too")
    func invalidatedWithoutAutorefresh() throws {
        let test = try TestRealm()
        test.realm.autorefresh = false
        let logs = [Log(test.realm), Log(test.allDogs)]
        test.settle()
        _ = logs.map { $0.take() }
        test.realm.invalidate()
        try test.elsewhere { realm in try realm.write { realm.add(Dog(name: "Rex")) } }
        test.settle()
        #expect(logs.map { $0.take() } == [["refreshRequired"], []])
        #expect(test.realm.refresh())
        #expect(logs.map { $0.take() } == [["didChange"], ["[] [0] []"]])
        let first = Log(test.allDogs)
        test.realm.invalidate()
        try test.elsewhere { realm in try realm.write { realm.add(Dog(name: "Max")) } }
        test.settle()
        #expect(first.take() == ["initial"])
    }

    @Test("N32 inside a callback invalidate does nothing; after an ordinary one later changes are delivered")
    func invalidate() throws {
        let test = try TestRealm()
        let dog = try test.dogs("Rex")[0]
        var handed: [String] = []
        let tokens = [
            test.allDogs.observe { _ in
                test.realm.invalidate()
                handed.append(dog.isInvalidated ? "invalid" : "valid")
            },
            dog.observe { change in
                if case .change(let dog, _) = change { handed.append(dog.name) }
            },
        ]
        test.settle()
        #expect(handed == ["valid"])
        tokens[0].invalidate()
        test.realm.invalidate()
        #expect(dog.isInvalidated)
        try test.elsewhere { realm in try realm.write { try realm.dog("Rex").name = "Max" } }
        test.settle()
        #expect(handed == ["valid", "Max"])
    }

    @Test("N33 a turn advances to the version already computed and leaves the rest for the next")
    func turn() throws {
        let test = try TestRealm()
        var counts: [Int] = []
        let token = test.allDogs.observe { change in
            if case .update(let dogs, _, _, _) = change { counts.append(dogs.count) }
        }
        test.settle()
        for number in 1...20 { try test.elsewhere { realm in try realm.write { realm.add(Dog(name: "\(number)")) } } }
        test.settle()
        #expect(counts.last == 20)
        #expect(zip(counts, counts.dropFirst()).allSatisfy { $0 < $1 })
        withExtendedLifetime(token) {}
    }

    @Test("N33 a result that was computed before a local commit is not delivered after it")
    func overtaken() throws {
        let test = try TestRealm()
        let log = Log(test.allDogs)
        test.settle()
        _ = log.take()
        try test.elsewhere { realm in try realm.write { realm.add(Dog(name: "Rex")) } }
        #expect(test.scheduler.waitForTurn())
        try test.dogs("Max")
        #expect(log.take() == ["[] [0] []"])
        test.scheduler.turn()
        test.settle()
        #expect(log.take() == ["[] [1] []"])
    }

    @Test("N34 a thread that takes no turns delays nobody else")
    func blocked() throws {
        let test = try TestRealm()
        let log = Log(test.allDogs)
        let blocked = DispatchSemaphore(value: 0)
        let queue = DispatchQueue(label: "blocked")
        let token = test.allDogs.observe(on: queue) { _ in blocked.wait() }
        test.settle()
        for name in ["Rex", "Max"] { try test.elsewhere { realm in try realm.write { realm.add(Dog(name: name)) } } }
        test.realm.refresh()
        #expect(log.take() == ["initial", "[] [0, 1] []"])
        token.invalidate()
        blocked.signal()
    }

    @Test("N35 Realm observers are not re-entered while they are being sent")
    func notReentered() throws {
        let test = try TestRealm()
        var depth = 0
        var deepest = 0
        var calls = 0
        let token = test.realm.observe { _, realm in
            depth += 1
            deepest = max(deepest, depth)
            calls += 1
            if calls < 5 { try? realm.write { realm.add(Dog(name: "\(calls)")) } }
            depth -= 1
        }
        let log = Log(test.allDogs)
        test.settle()
        _ = log.take()
        try test.realm.write {}
        #expect(deepest == 1)
        test.settle()
        #expect(log.take() == ["[] [0] []"])
        withExtendedLifetime(token) {}
    }

    @Test("N37 a cancelled or throwing write notifies no one")
    func cancelled() throws {
        struct Stop: Error {}
        let test = try TestRealm()
        let dog = try test.dogs("Rex")[0]
        let logs = [Log(test.realm), Log(test.allDogs), Log(object: dog), Log(dog.siblings)]
        test.settle()
        _ = logs.map { $0.take() }
        try test.realm.beginWrite()
        dog.name = "Max"
        dog.siblings.append(Dog(name: "Bo"))
        test.realm.cancelWrite()
        #expect(throws: Stop.self) {
            try test.realm.write {
                test.realm.delete(dog)
                throw Stop()
            }
        }
        test.settle()
        #expect(logs.allSatisfy { $0.take().isEmpty })
    }

    @Test("N38 inside a callback the collection shows the state announced, outside that of the last notification")
    func stateShown() throws {
        let test = try TestRealm()
        let dogs = test.allDogs.sorted(byKeyPath: "name")
        var shown: [[String]] = []
        let token = dogs.observe { change in
            if case .update(let dogs, _, _, _) = change { shown.append(dogs.map(\.name)) }
        }
        test.settle()
        try test.elsewhere { realm in try realm.write { realm.add([Dog(name: "Rex"), Dog(name: "Bo")]) } }
        #expect(dogs.isEmpty)
        test.settle()
        #expect(shown == [["Bo", "Rex"]])
        #expect(dogs.map(\.name) == ["Bo", "Rex"])
        withExtendedLifetime(token) {}
    }

    @Test("N39 between a local commit and the delivery only the local changes are visible")
    func localOnly() throws {
        let test = try TestRealm()
        try test.dogs("Rex")
        test.settle()
        try test.elsewhere { realm in try realm.write { realm.add(Dog(name: "Max")) } }
        #expect(test.allDogs.count == 1)
        #expect(test.scheduler.waitForTurn())
        #expect(test.allDogs.count == 1)
    }
}
