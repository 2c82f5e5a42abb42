import Foundation
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

/// A remote commit is a commit of another Realm of the same file. In these tests, that Realm is on another thread.
@Suite("when observers are called")
struct DeliveryTests {
    @Test("a local commit calls Realm observers immediately, and other observers at the next delivery N25")
    func local() throws {
        let test = try TestRealm()
        let dog = try test.dogs("Rex")[0]
        let logs = [Log(test.realm), Log(test.allDogs), Log(object: dog)]
        test.deliverAll()
        _ = logs.map { $0.take() }
        try test.realm.write { dog.name = "Max" }
        #expect(logs.map { $0.take() } == [["didChange"], [], []])
        test.realm.refresh()
        #expect(logs.map { $0.take() } == [[], ["[] [] [0]"], ["name: Rex → Max"]])
        try test.realm.write { dog.name = "Bo" }
        test.deliverAll()
        #expect(logs.map { $0.take() } == [["didChange"], ["[] [] [0]"], ["name: Max → Bo"]])
        try test.realm.write { dog.name = "Ida" }
        try test.realm.beginWrite()
        #expect(logs.map { $0.take() } == [["didChange"], ["[] [] [0]"], ["name: Bo → Ida"]])
        test.realm.cancelWrite()
    }

    @Test("a write without changes calls the observers of its Realm, and no other observers N26")
    func empty() throws {
        let test = try TestRealm()
        let logs = [Log(test.realm), Log(test.allDogs)]
        test.deliverAll()
        _ = logs.map { $0.take() }
        try test.realm.write {}
        test.deliverAll()
        #expect(logs.map { $0.take() } == [["didChange"], []])
        try test.onNewThread { try $0.write {} }
        test.deliverAll()
        #expect(logs.map { $0.take() } == [[], []])
        try test.realm.write { test.realm.add(Dog(name: "Rex")) }
        test.deliverAll()
        #expect(logs.map { $0.take() } == [["didChange"], ["[] [0] []"]])
    }

    @Test("a write without changes calls the observers that were added in the write, except silenced ones N26")
    func emptySilent() throws {
        let test = try TestRealm()
        let (first, second) = (Log(test.realm), Log(test.realm))
        try test.realm.beginWrite()
        let third = Log(test.realm)
        try test.realm.commitWrite(withoutNotifying: first.tokens)
        #expect([first, second, third].map { $0.take() } == [[], ["didChange"], ["didChange"]])
        try test.realm.write {}
        #expect([first, second, third].map { $0.take() } == [["didChange"], ["didChange"], ["didChange"]])
        // The next silent write with a change begins at the same version.
        let dogs = Log(test.allDogs)
        test.deliverAll()
        _ = dogs.take()
        try test.realm.write(withoutNotifying: dogs.tokens) {}
        try test.realm.write(withoutNotifying: dogs.tokens) { test.realm.add(Dog(name: "Rex")) }
        try test.realm.write(withoutNotifying: dogs.tokens) {}
        test.deliverAll()
        #expect(dogs.take() == [])
        try test.realm.write { test.realm.add(Dog(name: "Bo")) }
        test.deliverAll()
        #expect(dogs.take() == ["[] [1] []"])
    }

    @Test("with autorefresh, a remote commit advances the Realm, and calls Realm observers before other observers N27")
    func remote() throws {
        let test = try TestRealm()
        let order = Log()
        let dogs = test.allDogs
        order.tokens.append(
            test.realm.observe { note, realm in order.lines.append("\(note) \(realm.objects(Dog.self).count)") })
        order.tokens.append(dogs.observe { order.lines.append(text($0)) })
        test.deliverAll()
        _ = order.take()
        try test.onNewThread { realm in try realm.write { realm.add(Dog(name: "Rex")) } }
        #expect(dogs.count == 0)
        test.deliverAll()
        #expect(order.take() == ["didChange 1", "[] [0] []"])
    }

    @Test("a Realm without observers advances automatically too N27")
    func unobserved() throws {
        let test = try TestRealm()
        try test.onNewThread { realm in try realm.write { realm.add(Dog(name: "Rex")) } }
        #expect(test.allDogs.count == 0)
        #expect(test.scheduler.waitForWork())
        test.scheduler.run()
        #expect(test.allDogs.count == 1)
    }

    @Test(
        "without autorefresh, a remote commit delivers refreshRequired; refresh or beginWrite delivers changes N27",
        arguments: [true, false])
    func autorefreshOff(byRefresh: Bool) throws {
        let test = try TestRealm()
        test.realm.autorefresh = false
        let logs = [Log(test.realm), Log(test.allDogs)]
        test.deliverAll()
        _ = logs.map { $0.take() }
        try test.onNewThread { realm in try realm.write { realm.add(Dog(name: "Rex")) } }
        test.deliverAll()
        #expect(logs.map { $0.take() } == [["refreshRequired"], []])
        #expect(test.allDogs.count == 0)
        try test.onNewThread { realm in try realm.write { realm.add(Dog(name: "Max")) } }
        test.deliverAll()
        #expect(logs.map { $0.take() } == [["refreshRequired"], []])
        if byRefresh {
            #expect(test.realm.refresh())
        } else {
            try test.realm.beginWrite()
            test.realm.cancelWrite()
        }
        #expect(logs.map { $0.take() } == [["didChange"], ["[] [0, 1] []"]])
    }

    @Test("without autorefresh, local changes are delivered, but later remote changes only by refresh N28")
    func localWithoutAutorefresh() throws {
        let test = try TestRealm()
        let dog = try test.dogs("Rex")[0]
        test.realm.autorefresh = false
        let logs = [Log(test.allDogs), Log(object: dog)]
        test.deliverAll()
        _ = logs.map { $0.take() }
        try test.realm.write { dog.name = "Max" }
        try test.onNewThread { realm in try realm.write { realm.add(Dog(name: "Bo")) } }
        test.deliverAll()
        #expect(logs.map { $0.take() } == [["[] [] [0]"], ["name: Rex → Max"]])
        #expect(test.allDogs.count == 1)
        test.realm.refresh()
        #expect(logs.map { $0.take() } == [["[] [1] []"], []])
    }

    @Test(
        "refresh advances to the newest version and delivers changes; it returns false if there is no newer version N29"
    )
    func refresh() throws {
        let test = try TestRealm()
        let log = Log(test.allDogs)
        test.deliverAll()
        _ = log.take()
        #expect(!test.realm.refresh())
        try test.onNewThread { realm in try realm.write { realm.add(Dog(name: "Rex")) } }
        #expect(test.realm.refresh())
        #expect(log.take() == ["[] [0] []"])
        #expect(test.allDogs.count == 1)
        try test.dogs("Max")
        #expect(!test.realm.refresh())
        #expect(log.take() == ["[] [1] []"])
        test.deliverAll()
        #expect(log.take().isEmpty)
    }

    @Test("beginWrite first delivers all pending changes, local and remote N30")
    func beginWrite() throws {
        let test = try TestRealm()
        let logs = [Log(test.realm), Log(test.allDogs)]
        test.deliverAll()
        try test.dogs("Rex")
        _ = logs.map { $0.take() }
        try test.onNewThread { realm in try realm.write { realm.add(Dog(name: "Max")) } }
        try test.realm.beginWrite()
        #expect(logs.map { $0.take() } == [["didChange"], ["[] [0, 1] []"]])
        test.realm.cancelWrite()
        test.deliverAll()
        #expect(logs.map { $0.take() } == [[], []])
    }

    @Test("inside a callback, refresh does nothing and returns false N31")
    func refreshInside() throws {
        let test = try TestRealm()
        var results: [Bool] = []
        var counts: [Int] = []
        let tokens = [
            test.allDogs.observe { _ in
                try? test.onNewThread { realm in try realm.write { realm.add(Dog(name: "Rex")) } }
                results.append(test.realm.refresh())
                counts.append(test.allDogs.count)
            },
            test.realm.observe { _, realm in results.append(realm.refresh()) },
        ]
        test.realm.refresh()
        #expect(results == [false])
        #expect(counts == [0])
        tokens[0].invalidate()
        test.deliverAll()
        #expect(results == [false, false])
        #expect(test.allDogs.count == 1)
    }

    @Test("refresh inside a refreshRequired callback advances the Realm and calls the observers N31")
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
        test.deliverAll()
        _ = log.take()
        try test.onNewThread { realm in try realm.write { realm.add(Dog(name: "Rex")) } }
        test.deliverAll()
        #expect(results == [true])
        // The second observer does not get refreshRequired, because the first observer has refreshed the Realm.
        #expect(log.take() == ["0 refreshRequired", "0 didChange", "1 didChange", "[] [0] []"])
        #expect(test.allDogs.count == 1)
    }

    @Test("after a write in a refreshRequired callback, Realm observers are notified of the remote commit only N35 N31")
    func writeWhereRequired() throws {
        let test = try TestRealm()
        test.realm.autorefresh = false
        var calls: [String] = []
        let tokens = (0..<2).map { number in
            test.realm.observe { notification, realm in
                calls.append("\(number) \(notification)")
                guard notification == .refreshRequired else { return }
                try? realm.write { realm.add(Dog(name: "own")) }
            }
        }
        try test.onNewThread { realm in try realm.write { realm.add(Dog(name: "remote")) } }
        test.deliverAll()
        #expect(calls == ["0 refreshRequired", "0 didChange", "1 didChange"])
        #expect(test.allDogs.map(\.name) == ["remote", "own"])
        withExtendedLifetime(tokens) {}
    }

    @Test(
        "a Realm observer that refreshes is called for a write that another observer makes meanwhile N35 N31 N25"
    )
    func writeOfOtherObserverWhileRefreshing() throws {
        let test = try TestRealm()
        test.realm.autorefresh = false
        var calls: [String] = []
        let tokens = [
            test.realm.observe { notification, realm in
                calls.append("\(notification) \(realm.objects(Dog.self).count)")
                if notification == .refreshRequired { realm.refresh() }
            },
            test.allDogs.observe { change in
                guard case .update = change, calls.count == 2 else { return }
                try? test.realm.write { test.realm.add(Dog(name: "own")) }
            },
        ]
        test.deliverAll()
        try test.onNewThread { realm in try realm.write { realm.add(Dog(name: "remote")) } }
        test.deliverAll()
        #expect(calls == ["refreshRequired 0", "didChange 1", "didChange 2"])
        withExtendedLifetime(tokens) {}
    }

    @Test("without autorefresh, a remote commit after invalidate is delivered at the next refresh N27 N21")
    func invalidatedWithoutAutorefresh() throws {
        let test = try TestRealm()
        test.realm.autorefresh = false
        let logs = [Log(test.realm), Log(test.allDogs)]
        test.deliverAll()
        _ = logs.map { $0.take() }
        test.realm.invalidate()
        try test.onNewThread { realm in try realm.write { realm.add(Dog(name: "Rex")) } }
        test.deliverAll()
        #expect(logs.map { $0.take() } == [["refreshRequired"], []])
        #expect(test.realm.refresh())
        #expect(logs.map { $0.take() } == [["didChange"], ["[] [0] []"]])
        let first = Log(test.allDogs)
        test.realm.invalidate()
        try test.onNewThread { realm in try realm.write { realm.add(Dog(name: "Max")) } }
        test.deliverAll()
        #expect(first.take() == ["initial"])
    }

    @Test("invalidate does nothing inside a callback; outside, it does not stop the delivery of later changes N32")
    func invalidate() throws {
        let test = try TestRealm()
        let dog = try test.dogs("Rex")[0]
        var states: [String] = []
        let tokens = [
            test.allDogs.observe { _ in
                test.realm.invalidate()
                states.append(dog.isInvalidated ? "invalid" : "valid")
            },
            dog.observe { change in
                if case .change(let dog, _) = change { states.append(dog.name) }
            },
        ]
        test.deliverAll()
        #expect(states == ["valid"])
        tokens[0].invalidate()
        test.realm.invalidate()
        #expect(dog.isInvalidated)
        try test.onNewThread { realm in try realm.write { try realm.dog("Rex").name = "Max" } }
        test.deliverAll()
        #expect(states == ["valid", "Max"])
    }

    @Test("a delivery advances to the newest version with computed change sets; the next one advances further N33")
    func newestComputedVersion() throws {
        let test = try TestRealm()
        var counts: [Int] = []
        let token = test.allDogs.observe { change in
            if case .update(let dogs, _, _, _) = change { counts.append(dogs.count) }
        }
        test.deliverAll()
        for number in 1...20 { try test.onNewThread { realm in try realm.write { realm.add(Dog(name: "\(number)")) } } }
        test.deliverAll()
        #expect(counts.last == 20)
        #expect(zip(counts, counts.dropFirst()).allSatisfy { $0 < $1 })
        withExtendedLifetime(token) {}
    }

    @Test("a change set that was computed before a local commit is not delivered after this commit N33")
    func overtaken() throws {
        let test = try TestRealm()
        let log = Log(test.allDogs)
        test.deliverAll()
        _ = log.take()
        try test.onNewThread { realm in try realm.write { realm.add(Dog(name: "Rex")) } }
        #expect(test.scheduler.waitForWork())
        try test.dogs("Max")
        #expect(log.take() == ["[] [0] []"])
        test.scheduler.run()
        test.deliverAll()
        #expect(log.take() == ["[] [1] []"])
    }

    @Test("a blocked queue does not delay other observers N34")
    func blocked() throws {
        let test = try TestRealm()
        let log = Log(test.allDogs)
        let blocked = DispatchSemaphore(value: 0)
        let queue = DispatchQueue(label: "blocked")
        let token = test.allDogs.observe(on: queue) { _ in blocked.wait() }
        test.deliverAll()
        for name in ["Rex", "Max"] { try test.onNewThread { realm in try realm.write { realm.add(Dog(name: name)) } } }
        test.realm.refresh()
        #expect(log.take() == ["initial", "[] [0, 1] []"])
        token.invalidate()
        blocked.signal()
    }

    @Test("Realm observers are not called from within their own callbacks N35")
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
        test.deliverAll()
        _ = log.take()
        try test.realm.write {}
        #expect(deepest == 1)
        test.deliverAll()
        #expect(log.take() == ["[] [0] []"])
        withExtendedLifetime(token) {}
    }

    @Test("a write that is cancelled or throws calls no observer N37")
    func cancelled() throws {
        struct Stop: Error {}
        let test = try TestRealm()
        let dog = try test.dogs("Rex")[0]
        let logs = [Log(test.realm), Log(test.allDogs), Log(object: dog), Log(dog.siblings)]
        test.deliverAll()
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
        test.deliverAll()
        #expect(logs.allSatisfy { $0.take().isEmpty })
    }

    @Test(
        "in a callback, a collection shows the version of the change set; elsewhere, the last delivered version N38"
    )
    func stateShown() throws {
        let test = try TestRealm()
        let dogs = test.allDogs.sorted(byKeyPath: "name")
        var shown: [[String]] = []
        let token = dogs.observe { change in
            if case .update(let dogs, _, _, _) = change { shown.append(dogs.map(\.name)) }
        }
        test.deliverAll()
        try test.onNewThread { realm in try realm.write { realm.add([Dog(name: "Rex"), Dog(name: "Bo")]) } }
        #expect(dogs.isEmpty)
        test.deliverAll()
        #expect(shown == [["Bo", "Rex"]])
        #expect(dogs.map(\.name) == ["Bo", "Rex"])
        withExtendedLifetime(token) {}
    }

    @Test("until a remote commit is delivered, only local changes are visible N39")
    func localOnly() throws {
        let test = try TestRealm()
        try test.dogs("Rex")
        test.deliverAll()
        try test.onNewThread { realm in try realm.write { realm.add(Dog(name: "Max")) } }
        #expect(test.allDogs.count == 1)
        #expect(test.scheduler.waitForWork())
        #expect(test.allDogs.count == 1)
        test.deliverAll()
        #expect(test.allDogs.count == 2)
        // A local commit is visible at once, before observers are notified. The remote commit that precedes it is
        // visible too.
        try test.onNewThread { realm in try realm.write { realm.add(Dog(name: "Bo")) } }
        #expect(test.allDogs.count == 2)
        try test.dogs("Kim")
        #expect(test.allDogs.count == 4)
    }
}
