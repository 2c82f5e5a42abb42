import Foundation
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("tokens and registration")
struct TokenTests {
    @Test("N1 releasing the token ends the observation")
    func release() throws {
        let test = try TestRealm()
        let log = Log(test.allDogs)
        test.realm.refresh()
        log.end()
        try test.dogs("Rex")
        test.realm.refresh()
        test.settle()
        #expect(log.take() == ["initial"])
    }

    @Test("N1 what an observer holds is released with its token")
    func releasesBlock() throws {
        final class Held {}
        let test = try TestRealm()
        weak var weakHeld: Held?
        do {
            let held = Held()
            weakHeld = held
            let token = test.allDogs.observe { _ in _ = held }
            let other = test.realm.observe { _, _ in _ = held }
            test.settle()
            token.invalidate()
            other.invalidate()
        }
        #expect(weakHeld == nil)
    }

    @Test("N2 a token that ends before the turn is not called, although its change set was computed")
    func endsBeforeTurn() throws {
        let test = try TestRealm()
        let log = Log(test.allDogs)
        #expect(test.scheduler.waitForTurn())
        log.tokens.first?.invalidate()
        test.settle()
        #expect(log.take().isEmpty)
    }

    @Test("N3 invalidate may be called from any thread")
    func anyThread() throws {
        let test = try TestRealm()
        let log = Log(test.allDogs)
        let token = try #require(log.tokens.first)
        try test.elsewhere { _ in token.invalidate() }
        test.settle()
        #expect(log.take().isEmpty)
    }

    @Test("N4 invalidate returns true the first time only")
    func firstTime() throws {
        let test = try TestRealm()
        let token = test.allDogs.observe { _ in }
        #expect(token.invalidate())
        #expect(!token.invalidate())
    }

    @Test("N5 a token keeps its collection alive, and every call hands back that instance")
    func sameInstance() throws {
        let test = try TestRealm()
        let dog = try test.dogs("Rex")[0]
        weak var list: List<Dog>?
        var handed: [ObjectIdentifier] = []
        let token: NotificationToken
        do {
            let siblings = dog.siblings
            list = siblings
            token = siblings.observe { change in
                switch change {
                case .initial(let list), .update(let list, _, _, _): handed.append(ObjectIdentifier(list))
                case .error: break
                }
            }
        }
        test.realm.refresh()
        try test.realm.write { dog.siblings.append(Dog(name: "Bo")) }
        test.realm.refresh()
        #expect(list != nil)
        #expect(handed == [list, list].compactMap { $0.map { ObjectIdentifier($0) } })
        withExtendedLifetime(token) {}
    }

    @Test("N5 a token keeps the Realm observed")
    func keepsRealm() throws {
        let test = try TestRealm()
        var calls = 0
        var token: NotificationToken?
        let done = DispatchSemaphore(value: 0)
        let path = test.url
        Thread.detachNewThread {
            nonisolated(unsafe) var count = 0
            let scheduler = ManualScheduler()
            var configuration = Realm.Configuration(fileURL: path)
            configuration.scheduler = scheduler
            configuration.durability = .off
            let token = (try? Realm(configuration: configuration))?.objects(Dog.self).observe { _ in count += 1 }
            _ = scheduler.waitForTurn()
            scheduler.turn()
            #expect(count == 1)
            token?.invalidate()
            done.signal()
        }
        done.wait()
        token = test.realm.observe { _, _ in calls += 1 }
        try test.realm.write {}
        #expect(calls == 1)
        token?.invalidate()
    }

    @Test("N10 registering inside a write is allowed before its first change")
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

    @Test("N10 an observer registered in a write that is cancelled gets its first call")
    func insideCancelledWrite() throws {
        let test = try TestRealm()
        try test.realm.beginWrite()
        let log = Log(test.allDogs)
        test.scheduler.turn()
        test.realm.cancelWrite()
        test.settle()
        #expect(log.take() == ["initial"])
    }

    @Test("N11 a callback registered inside a callback is first called on the next delivery")
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

    @Test("N11 and the scheduler takes that turn by itself")
    func registerInsideTurn() throws {
        let test = try TestRealm()
        let inner = Log()
        let token = test.allDogs.observe { _ in
            if inner.tokens.isEmpty { inner.tokens.append(test.allDogs.observe { inner.lines.append(text($0)) }) }
        }
        test.settle()
        #expect(inner.take() == ["initial"])
        withExtendedLifetime(token) {}
    }

    @Test("N12 the same holds inside callbacks that beginWrite delivers")
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

    @Test("N13 commits before a registration are never reported to it")
    func before() throws {
        let test = try TestRealm()
        let dog = try test.dogs("Rex")[0]
        try test.realm.write { dog.name = "Max" }
        let object = Log(object: dog)
        let realm = Log(test.realm)
        let list = Log(dog.siblings)
        test.realm.refresh()
        test.settle()
        #expect(object.take().isEmpty)
        #expect(realm.take().isEmpty)
        #expect(list.take() == ["initial"])
    }

    @Test("N14 a token ended by an earlier callback of the round is not called; ending oneself skips nobody")
    func endInside() throws {
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

    @Test("N1 the cost of ending observers grows with their number, and no faster", .timeLimit(.minutes(1)))
    func endingMany() throws {
        let test = try TestRealm()
        let dog = try test.dogs("Rex")[0]
        let count = 3_000
        var tokens = (0..<count).map { _ in dog.observe { _ in } }
        tokens += (0..<count).map { _ in test.realm.observe { _, _ in } }
        let clock = ContinuousClock()
        // From the last to the first: a search from the start passes over all others.
        let time = clock.measure { for token in tokens.reversed() { token.invalidate() } }
        #expect(test.realm.context.hub.observerCount == 0)
        #expect(time < .seconds(1))
    }

    @Test("N14 a callback may release its own token")
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
