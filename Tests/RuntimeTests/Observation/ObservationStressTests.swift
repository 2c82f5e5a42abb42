import Foundation
import KennelModels
import MartletEngine
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("observation with many threads")
struct ObservationStressTests {
    @Test("concurrent writers, observers on queues and invalidated tokens do not interfere N2 N3 N16 N34")
    func concurrentUse() throws {
        let test = try TestRealm { $0.environment.commitPollMilliseconds = 1 }
        try test.dogs("A", "B", "C")
        nonisolated(unsafe) let dogs = test.allDogs
        let queues = (0..<3).map { DispatchQueue(label: "observer \($0)") }
        let box = TokenBox()
        for queue in queues { box.observe(dogs, queue) }
        let log = Log(dogs)
        let finished = DispatchGroup()
        var configuration = test.configuration
        configuration.scheduler = nil
        let settings = configuration
        for number in 0..<3 {
            finished.enter()
            Thread.detachNewThread {
                defer { finished.leave() }
                for round in 0..<60 {
                    do {
                        let realm = try Realm(configuration: settings)
                        try realm.write {
                            realm.add(Dog(name: "\(number)-\(round)"))
                            realm.objects(Dog.self).first?.age = round
                            if round % 3 == 0, let last = realm.objects(Dog.self).last { realm.delete(last) }
                        }
                    } catch {
                        box.fail("the writer \(number) in round \(round): \(error)")
                    }
                    if round % 7 == number { box.endOne() }
                }
            }
        }
        var rounds = 0
        while finished.wait(timeout: .now()) != .success {
            rounds += 1
            switch rounds % 3 {
            case 0: test.realm.refresh()
            case 1: test.scheduler.run()
            default: box.observe(dogs, queues[rounds % queues.count])
            }
            if rounds % 5 == 0 { try test.realm.write { test.realm.add(Dog(name: "here")) } }
            if box.count > 20 { box.endOne() }
        }
        test.realm.refresh()
        box.check(count: dogs.count)
        for queue in queues { queue.sync {} }
        box.endAll()
        for queue in queues { queue.sync {} }
        #expect(box.failures.isEmpty)
        #expect(log.lines.first == "initial")
    }

    /// Tokens of observers, each of which counts the elements of the results from its change sets. Many threads use the
    /// box.
    // Sendable: the lock guards the tokens and the failures. Each count is used only on the queue of its observer.
    private final class TokenBox: @unchecked Sendable {
        private let lock = NSLock()
        private var tokens: [NotificationToken] = []
        private(set) var failures: [String] = []

        func observe(_ dogs: Results<Dog>, _ queue: DispatchQueue) {
            var count = -1
            let token = dogs.observe(on: queue) { [self] change in
                switch change {
                case .initial(let dogs):
                    if count >= 0 { fail("two initial calls") }
                    count = dogs.count
                case .update(let dogs, let deletions, let insertions, _):
                    count += insertions.count - deletions.count
                    if count != dogs.count { fail("\(count) is not \(dogs.count)") }
                case .error(let error): fail("\(error)")
                }
            }
            lock.lock()
            tokens.append(token)
            lock.unlock()
        }

        func fail(_ message: String) {
            lock.lock()
            failures.append(message)
            lock.unlock()
        }

        var count: Int {
            lock.lock()
            defer { lock.unlock() }
            return tokens.count
        }

        func endOne() {
            lock.lock()
            let token = tokens.isEmpty ? nil : tokens.removeFirst()
            lock.unlock()
            token?.invalidate()
        }

        func endAll() {
            lock.lock()
            let ended = tokens
            tokens = []
            lock.unlock()
            withExtendedLifetime(ended) {}
        }

        func check(count: Int) { if count < 1 { fail("there are no dogs") } }
    }
}
