import Foundation
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("observers on queues and run loops")
struct QueueDeliveryTests {
    @Test("observe(on: queue) calls the observer on the queue, with objects of a Realm of the queue N16")
    func onQueue() throws {
        let test = try TestRealm()
        let dog = try test.dogs("Rex")[0]
        let queue = DispatchQueue(label: "observers")
        let called = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var lines: [String] = []
        let tokens = [
            test.allDogs.observe(on: queue) { change in
                dispatchPrecondition(condition: .onQueue(queue))
                if case .update(let dogs, _, _, _) = change {
                    lines.append(dogs.map(\.name).joined())
                } else {
                    lines.append(text(change))
                }
                called.signal()
            },
            dog.siblings.observe(on: queue) { change in
                lines.append("list \(text(change))")
                called.signal()
            },
            dog.observe(on: queue) { change in
                if case .change(let dog, _) = change { lines.append("object \(dog.name)") }
                called.signal()
            },
        ]
        called.wait()
        called.wait()
        queue.sync { #expect(lines.sorted() == ["initial", "list initial"]) }
        try test.realm.write { dog.name = "Max" }
        called.wait()
        called.wait()
        queue.sync { #expect(lines.dropFirst(2).sorted() == ["Max", "object Max"]) }
        tokens.forEach { $0.invalidate() }
    }

    @Test("an object can be observed on a queue whose Realm shows a version without this object N16")
    func newerThanQueue() throws {
        let test = try TestRealm()
        let queue = DispatchQueue(label: "observers")
        var settings = test.configuration
        settings.scheduler = nil
        nonisolated(unsafe) var queueRealm: Realm?
        let configuration = settings
        try queue.sync {
            queueRealm = try Realm(configuration: configuration, queue: queue)
            queueRealm?.autorefresh = false
        }
        let dog = try test.dogs("Rex")[0]
        nonisolated(unsafe) var lines: [String] = []
        let tokens = [
            dog.observe(on: queue) { lines.append(text($0)) },
            dog.siblings.observe(on: queue) { lines.append(text($0)) },
        ]
        queue.sync { _ = queueRealm?.refresh() }
        queue.sync { #expect(lines == ["initial"]) }
        try test.realm.write { dog.name = "Max" }
        queue.sync { _ = queueRealm?.refresh() }
        queue.sync { #expect(lines == ["initial", "name: Rex → Max"]) }
        tokens.forEach { $0.invalidate() }
        queue.sync { queueRealm = nil }
    }

    @Test("an observer whose token is invalidated before the registration on the queue is never called N16")
    func endedBeforeQueue() throws {
        let test = try TestRealm()
        let queue = DispatchQueue(label: "observers")
        let calls = Counter()
        queue.suspend()
        let token = test.allDogs.observe(on: queue) { _ in calls.add() }
        token.invalidate()
        queue.resume()
        for _ in 0..<3 { queue.sync {} }
        #expect(calls.value == 0)
    }

    @Test("a Realm on a serial queue delivers on that queue")
    func queueRealm() throws {
        let test = try TestRealm()
        let queue = DispatchQueue(label: "realm")
        let called = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var lines: [String] = []
        nonisolated(unsafe) var tokens: [NotificationToken] = []
        var configuration = test.configuration
        configuration.scheduler = nil
        let settings = configuration
        try queue.sync {
            let realm = try Realm(configuration: settings, queue: queue)
            tokens.append(
                realm.objects(Dog.self).observe { change in
                    dispatchPrecondition(condition: .onQueue(queue))
                    lines.append(text(change))
                    called.signal()
                })
        }
        called.wait()
        try test.dogs("Rex")
        called.wait()
        queue.sync {
            #expect(lines == ["initial", "[] [0] []"])
            tokens = []
        }
    }

    @Test("a Realm on a run loop delivers on the run loop, and commits of other threads wake up the run loop")
    func runLoop() throws {
        let test = try TestRealm()
        var configuration = test.configuration
        configuration.scheduler = nil
        let settings = configuration
        let called = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var lines: [String] = []
        nonisolated(unsafe) var isOver = false
        Thread.detachNewThread {
            nonisolated(unsafe) var token: NotificationToken?
            // The thread opens the Realm before the run loop runs. A timer registers the observer while the loop runs.
            nonisolated(unsafe) let realm = try? Realm(configuration: settings)
            let start = Timer(timeInterval: 0, repeats: false) { _ in
                token = realm?.objects(Dog.self).observe { change in
                    lines.append(text(change))
                    called.signal()
                    if lines.count == 3 { isOver = true }
                }
            }
            RunLoop.current.add(start, forMode: .default)
            while !isOver, RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 60)) {}
            withExtendedLifetime(token) {}
        }
        #expect(called.wait(timeout: .now() + 30) == .success)
        try test.dogs("Rex")
        #expect(called.wait(timeout: .now() + 30) == .success)
        try test.dogs("Max")
        #expect(called.wait(timeout: .now() + 30) == .success)
        #expect(lines == ["initial", "[] [0] []", "[] [1] []"])
    }
}

/// A counter that any thread can use.
// Sendable: the lock guards the count.
final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var count = 0

    func add() {
        lock.lock()
        count += 1
        lock.unlock()
    }

    var value: Int {
        lock.lock()
        defer { lock.unlock() }
        return count
    }
}
