import Foundation
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("tokens and registration")
struct TokenTests {
    @Test("releasing the token ends the observation N1")
    func release() throws {
        let test = try TestRealm()
        let log = Log(test.allDogs)
        test.realm.refresh()
        log.end()
        try test.dogs("Rex")
        test.realm.refresh()
        test.deliverAll()
        #expect(log.take() == ["initial"])
    }

    @Test("invalidating a token releases the closure of its observer N1")
    func releasesBlock() throws {
        final class Held {}
        let test = try TestRealm()
        weak var weakHeld: Held?
        do {
            let held = Held()
            weakHeld = held
            let token = test.allDogs.observe { _ in _ = held }
            let other = test.realm.observe { _, _ in _ = held }
            test.deliverAll()
            token.invalidate()
            other.invalidate()
        }
        #expect(weakHeld == nil)
    }

    @Test("an observer whose token is invalidated before the delivery is not called N2")
    func endsBeforeDelivery() throws {
        let test = try TestRealm()
        let log = Log(test.allDogs)
        #expect(test.scheduler.waitForWork())
        log.tokens.first?.invalidate()
        test.deliverAll()
        #expect(log.take().isEmpty)
    }

    @Test("invalidate can be called on any thread N3")
    func anyThread() throws {
        let test = try TestRealm()
        let log = Log(test.allDogs)
        let token = try #require(log.tokens.first)
        try test.onNewThread { _ in token.invalidate() }
        test.deliverAll()
        #expect(log.take().isEmpty)
    }

    @Test("invalidate returns true the first time only N4")
    func firstTime() throws {
        let test = try TestRealm()
        let token = test.allDogs.observe { _ in }
        #expect(token.invalidate())
        #expect(!token.invalidate())
    }

    @Test("a token retains its collection, and every call passes the same instance N5")
    func sameInstance() throws {
        let test = try TestRealm()
        let dog = try test.dogs("Rex")[0]
        weak var list: List<Dog>?
        var passed: [ObjectIdentifier] = []
        let token: NotificationToken
        do {
            let siblings = dog.siblings
            list = siblings
            token = siblings.observe { change in
                switch change {
                case .initial(let list), .update(let list, _, _, _): passed.append(ObjectIdentifier(list))
                case .error: break
                }
            }
        }
        test.realm.refresh()
        try test.realm.write { dog.siblings.append(Dog(name: "Bo")) }
        test.realm.refresh()
        #expect(list != nil)
        #expect(passed == [list, list].compactMap { $0.map { ObjectIdentifier($0) } })
        withExtendedLifetime(token) {}
    }

    @Test("a token keeps its Realm alive N5")
    func keepsRealm() throws {
        let test = try TestRealm()
        let done = DispatchSemaphore(value: 0)
        let path = test.url
        Thread.detachNewThread {
            nonisolated(unsafe) var count = 0
            let scheduler = ManualScheduler()
            var configuration = Realm.Configuration(fileURL: path)
            configuration.scheduler = scheduler
            configuration.durability = .off
            weak var context: RealmContext?
            // Only the token refers to the Realm after this closure.
            let token: NotificationToken? = {
                guard let realm = try? Realm(configuration: configuration) else { return nil }
                context = realm.context
                return realm.objects(Dog.self).observe { _ in count += 1 }
            }()
            _ = scheduler.waitForWork()
            scheduler.run()
            #expect(count == 1 && context != nil)
            token?.invalidate()
            done.signal()
        }
        done.wait()
    }

    @Test("registering inside a write is allowed before the first change of the write N10")
    func insideWrite() throws {
        let test = try TestRealm()
        let log = Log()
        try test.realm.write {
            log.tokens.append(test.allDogs.observe { log.lines.append(text($0)) })
            test.realm.add(Dog(name: "Rex"))
        }
        test.realm.refresh()
        #expect(log.take() == ["initial"])
    }

    @Test("an observer registered in a cancelled write gets its initial call N10")
    func insideCancelledWrite() throws {
        let test = try TestRealm()
        try test.realm.beginWrite()
        let log = Log(test.allDogs)
        test.scheduler.run()
        test.realm.cancelWrite()
        test.deliverAll()
        #expect(log.take() == ["initial"])
    }

    @Test("an observer registered inside a callback is first called at the next delivery N11")
    func registerInside() throws {
        let test = try TestRealm()
        let inner = Log()
        let token = test.allDogs.observe { _ in
            if inner.tokens.isEmpty { inner.tokens.append(test.allDogs.observe { inner.lines.append(text($0)) }) }
        }
        test.realm.refresh()
        #expect(inner.take().isEmpty)
        test.realm.refresh()
        #expect(inner.take() == ["initial"])
        withExtendedLifetime(token) {}
    }

    @Test("the scheduler delivers the initial call of an observer registered inside a callback N11")
    func registerInsideDelivery() throws {
        let test = try TestRealm()
        let inner = Log()
        let token = test.allDogs.observe { _ in
            if inner.tokens.isEmpty { inner.tokens.append(test.allDogs.observe { inner.lines.append(text($0)) }) }
        }
        test.deliverAll()
        #expect(inner.take() == ["initial"])
        withExtendedLifetime(token) {}
    }

    @Test("an observer registered in a callback that beginWrite calls is first called at the next delivery N12")
    func registerInsideBeginWrite() throws {
        let test = try TestRealm()
        let inner = Log()
        let token = test.allDogs.observe { _ in
            if inner.tokens.isEmpty { inner.tokens.append(test.allDogs.observe { inner.lines.append(text($0)) }) }
        }
        try test.realm.beginWrite()
        #expect(inner.take().isEmpty)
        try test.realm.commitWrite()
        test.realm.refresh()
        #expect(inner.take() == ["initial"])
        withExtendedLifetime(token) {}
    }

    @Test("commits before the registration are never reported N13")
    func before() throws {
        let test = try TestRealm()
        let dog = try test.dogs("Rex")[0]
        try test.realm.write { dog.name = "Max" }
        let object = Log(object: dog)
        let realm = Log(test.realm)
        let list = Log(dog.siblings)
        test.realm.refresh()
        test.deliverAll()
        #expect(object.take().isEmpty)
        #expect(realm.take().isEmpty)
        #expect(list.take() == ["initial"])
    }

    @Test(
        "a callback can invalidate its own token and tokens of later observers; no other observers are skipped N14"
    )
    func endDuringCall() throws {
        let test = try TestRealm()
        let log = Log()
        var tokens: [NotificationToken] = []
        for number in 0..<4 {
            tokens.append(
                test.allDogs.observe { _ in
                    log.lines.append("\(number)")
                    if number == 0 {
                        tokens[0].invalidate()
                        tokens[2].invalidate()
                    }
                })
        }
        test.realm.refresh()
        #expect(log.take() == ["0", "1", "3"])
        try test.dogs("Rex")
        test.realm.refresh()
        #expect(log.take() == ["1", "3"])
    }

    @Test("invalidating many tokens takes linear time N1", .timeLimit(.minutes(1)))
    func endingMany() throws {
        let test = try TestRealm()
        let dog = try test.dogs("Rex")[0]
        let count = 3_000
        var tokens = (0..<count).map { _ in dog.observe { _ in } }
        tokens += (0..<count).map { _ in test.realm.observe { _, _ in } }
        let clock = ContinuousClock()
        // The reverse order is the worst case for a linear search, which would first compare all other tokens.
        let time = clock.measure { for token in tokens.reversed() { token.invalidate() } }
        #expect(test.realm.context.hub.observerCount == 0)
        #expect(time < .seconds(1))
    }

    @Test("a callback can release its own token N14")
    func releaseSelf() throws {
        let test = try TestRealm()
        var token: NotificationToken?
        var calls = 0
        token = test.allDogs.observe { _ in
            calls += 1
            token = nil
        }
        test.realm.refresh()
        try test.dogs("Rex")
        test.realm.refresh()
        #expect(calls == 1)
        #expect(token == nil)
    }
}
