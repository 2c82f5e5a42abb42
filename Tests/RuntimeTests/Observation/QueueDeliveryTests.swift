import Foundation
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("observers on queues and run loops")
struct QueueDeliveryTests {
    @Test("N16 observe(on: queue) registers there and hands out what belongs to the queue")
    func onQueue() throws {
        let test = try TestRealm()
        let dog = try test.dogs("Rex")[0]
        let queue = DispatchQueue(label: "observers")
        let told = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var lines: [String] = []
        let tokens = [
            test.allDogs.observe(on: queue) { change in
                dispatchPrecondition(condition: .onQueue(queue))
                if case .update(let dogs, _, _, _) = change {
                    lines.append(dogs.map(\.name).joined())
                } else {
                    lines.append(text(change))
                }
                told.signal()
            },
            dog.siblings.observe(on: queue) { change in
                lines.append("list \(text(change))")
                told.signal()
            },
            dog.observe(on: queue) { change in
                if case .change(let dog, _) = change { lines.append("object \(dog.name)") }
                told.signal()
            },
        ]
        told.wait()
        told.wait()
        queue.sync { #expect(lines.sorted() == ["initial", "list initial"]) }
        try test.realm.write { dog.name = "Max" }
        told.wait()
        told.wait()
        queue.sync { #expect(lines.dropFirst(2).sorted() == ["Max", "object Max"]) }
        tokens.forEach { $0.invalidate() }
    }

    @Test("N16 what is newer than the Realm of the queue is observed all the same")
    func newerThanQueue() throws {
        let test = try TestRealm()
        let queue = DispatchQueue(label: "observers")
        var settings = test.configuration
        settings.scheduler = nil
        nonisolated(unsafe) var there: Realm?
        let configuration = settings
        try queue.sync {
            there = try Realm(configuration: configuration, queue: queue)
            there?.autorefresh = false
        }
        let dog = try test.dogs("Rex")[0]
        nonisolated(unsafe) var lines: [String] = []
        let tokens = [
            dog.observe(on: queue) { lines.append(text($0)) },
            dog.siblings.observe(on: queue) { lines.append(text($0)) },
        ]
        queue.sync { _ = there?.refresh() }
        queue.sync { #expect(lines == ["initial"]) }
        try test.realm.write { dog.name = "Max" }
        queue.sync { _ = there?.refresh() }
        queue.sync { #expect(lines == ["initial", "name: Rex → Max"]) }
        tokens.forEach { $0.invalidate() }
        queue.sync { there = nil }
    }

    @Test("N16 a token invalidated before the registration is never called")
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

    @Test("a Realm on a serial queue takes its turns there")
    func queueRealm() throws {
        let test = try TestRealm()
        let queue = DispatchQueue(label: "realm")
        let told = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var lines: [String] = []
        nonisolated(unsafe) var kept: [NotificationToken] = []
        var configuration = test.configuration
        configuration.scheduler = nil
        let settings = configuration
        try queue.sync {
            let realm = try Realm(configuration: settings, queue: queue)
            kept.append(
                realm.objects(Dog.self).observe { change in
                    dispatchPrecondition(condition: .onQueue(queue))
                    lines.append(text(change))
                    told.signal()
                })
        }
        told.wait()
        try test.dogs("Rex")
        told.wait()
        queue.sync {
            #expect(lines == ["initial", "[] [0] []"])
            kept = []
        }
    }

    @Test("a Realm on a run loop takes its turns there, woken up by commits of others")
    func runLoop() throws {
        let test = try TestRealm()
        var configuration = test.configuration
        configuration.scheduler = nil
        let settings = configuration
        let told = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var lines: [String] = []
        nonisolated(unsafe) var isOver = false
        Thread.detachNewThread {
            nonisolated(unsafe) var token: NotificationToken?
            // Opened before the loop runs, observed inside of it.
            nonisolated(unsafe) let realm = try? Realm(configuration: settings)
            let start = Timer(timeInterval: 0, repeats: false) { _ in
                token = realm?.objects(Dog.self).observe { change in
                    lines.append(text(change))
                    told.signal()
                    if lines.count == 3 { isOver = true }
                }
            }
            RunLoop.current.add(start, forMode: .default)
            while !isOver, RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 60)) {}
            withExtendedLifetime(token) {}
        }
        #expect(told.wait(timeout: .now() + 30) == .success)
        try test.dogs("Rex")
        #expect(told.wait(timeout: .now() + 30) == .success)
        try test.dogs("Max")
        #expect(told.wait(timeout: .now() + 30) == .success)
        #expect(lines == ["initial", "[] [0] []", "[] [1] []"])
    }
}

/// Counts from any thread.
final class Counter: @unchecked Sendable {
    // Sendable: used under the lock.
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
