import ConformanceModels
import Foundation
import Martlet
import MartletCombine
import Observation

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// Typical work with a Realm, in rounds. Each round must release everything that it has created.
///
/// A round runs inside the run loop of its thread.
struct EverydayWork {
    /// One error for all rounds. The test library retains each error that is thrown. A new error in each round would
    /// count as a leak.
    private static let refusal: any Error = Refused()

    private struct Refused: Error {}

    let folder: URL

    private func configuration(_ name: String) -> Realm.Configuration {
        Realm.Configuration(
            fileURL: folder.appendingPathComponent(name), objectTypes: [Node.self, Part.self, Screw.self])
    }

    /// Registers observers of every kind, writes, and waits for initial calls and for a call after each write.
    func observe(_ configuration: Realm.Configuration) throws {
        let realm = try Realm(configuration: configuration)
        let node = Node(id: 1, name: "a")
        try realm.write { realm.add(node, update: .all) }
        let calls = Calls()
        var tokens = observers(of: node, in: realm, calls)
        let observation = node.observe(\.name, options: [.old, .new]) { _, _ in calls.add() }
        calls.wait(atLeast: tokens.count - 3)
        for step in 1...3 {
            try realm.write {
                node.name = "\(step)"
                node.amount = Double(step)
                let child = realm.create(Node.self, value: ["id": 10 + step, "next": node])
                node.children.append(child)
                node.peers.insert(child)
                node.named["n\(step)"] = child
            }
            let before = calls.count
            withObservationTracking {
                _ = node.name
            } onChange: {
            }
            calls.wait(atLeast: before + 1)
        }
        realm.refresh()
        tokens.removeLast()
        tokens.forEach { $0.invalidate() }
        observation.invalidate()
        try realm.write { realm.deleteAll() }
    }

    private func observers(of node: Node, in realm: Realm, _ calls: Calls) -> [NotificationToken] {
        let nodes = realm.objects(Node.self)
        return [
            nodes.observe { _ in calls.add() },
            nodes.sorted(byKeyPath: "amount").observe { _ in calls.add() },
            nodes.where { $0.name != "x" && $0.next.name == "1" }.observe { _ in calls.add() },
            nodes.observe(keyPaths: ["next.name"]) { _ in calls.add() },
            nodes.sectioned(by: \.name).observe { _ in calls.add() },
            nodes.projected(NodeProjection.self).observe { _ in calls.add() },
            node.children.observe { _ in calls.add() },
            node.peers.observe { _ in calls.add() },
            node.named.observe { _ in calls.add() },
            node.previous.observe { _ in calls.add() },
            node.observe { _ in calls.add() },
            realm.observe { _, _ in calls.add() },
        ]
    }

    /// Freezes and thaws objects, passes objects to another thread, and refreshes after that thread has written.
    func passToAnotherThread(_ configuration: Realm.Configuration) throws {
        let realm = try Realm(configuration: configuration)
        let node = Node(id: 1, name: "a")
        try realm.write { realm.add(node, update: .all) }
        nonisolated(unsafe) let frozen = node.freeze()
        nonisolated(unsafe) let results = realm.objects(Node.self).freeze()
        let reference = ThreadSafeReference(to: node)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            _ = (frozen.name, results.count, results.first?.name)
            if let realm = try? Realm(configuration: configuration), let node = realm.resolve(reference) {
                try? realm.write { node.name = "b" }
            }
            done.signal()
        }
        done.wait()
        realm.refresh()
        _ = (frozen.thaw()?.name, node.name)
        try realm.write { realm.deleteAll() }
    }

    /// Cancels a write, throws inside a write, and queues asynchronous writes.
    func write(_ configuration: Realm.Configuration) throws {
        let realm = try Realm(configuration: configuration)
        try realm.beginWrite()
        realm.add(Node(id: 2))
        realm.cancelWrite()
        do {
            try realm.write {
                realm.add(Node(id: 3))
                throw Self.refusal
            }
        } catch is Refused {}
        let calls = Calls()
        for id in 4...6 {
            realm.writeAsync {
                realm.add(Node(id: id))
            } onComplete: { _ in
                calls.add()
            }
        }
        let unwanted = realm.writeAsync { realm.add(Node(id: 7)) }
        try realm.cancelAsyncWrite(unwanted)
        calls.wait(atLeast: 3)
        try realm.write { realm.deleteAll() }
    }

    /// Observes on a queue and on an actor.
    func observeOnQueueAndActor(_ configuration: Realm.Configuration) throws {
        let calls = Calls()
        let queue = DispatchQueue(label: "everyday")
        let realm = try Realm(configuration: configuration)
        let token = realm.objects(Node.self).observe(on: queue) { _ in calls.add() }
        calls.wait(atLeast: 1)
        try realm.write { realm.add(Node(id: 7)) }
        calls.wait(atLeast: 2)
        token.invalidate()
        let done = Calls()
        Task.detached {
            try? await Listener().listen(configuration)
            done.add()
        }
        done.wait(atLeast: 1)
        try realm.write { realm.deleteAll() }
    }

    /// Observes with publishers.
    func publish(_ configuration: Realm.Configuration) throws {
        let realm = try Realm(configuration: configuration)
        let node = Node(id: 1, name: "a")
        try realm.write { realm.add(node, update: .all) }
        let calls = Calls()
        var kept: Set<AnyCancellable> = []
        realm.objects(Node.self).collectionPublisher.sink { _ in
        } receiveValue: { _ in
            calls.add()
        }.store(in: &kept)
        node.children.changesetPublisher.freeze().sink { _ in calls.add() }.store(in: &kept)
        realm.objects(Node.self).collectionPublisher.threadSafeReference()
            .receive(on: DispatchQueue(label: "publishers"))
            .sink { _ in
            } receiveValue: { _ in
                calls.add()
            }.store(in: &kept)
        calls.wait(atLeast: 3)
        try realm.write {
            node.name = "b"
            node.children.append(node)
        }
        calls.wait(atLeast: 6)
        kept = []
        try realm.write { realm.deleteAll() }
    }

    /// Creates a file with one type, migrates it to two types, copies it, and deletes both files.
    func migrate(_ round: Int) throws {
        var settings = Realm.Configuration(
            fileURL: folder.appendingPathComponent("migrated.realm"), objectTypes: [IntKey.self])
        do {
            let realm = try Realm(configuration: settings)
            try realm.write { realm.add(IntKey(id: round)) }
        }
        settings.schemaVersion = 1
        settings.objectTypes = [IntKey.self, StringKey.self]
        settings.migrationBlock = { migration, _ in
            migration.enumerateObjects(ofType: "IntKey") { _, new in new?["content"] = "new" }
        }
        var copy = settings
        copy.fileURL = folder.appendingPathComponent("copy.realm")
        do {
            let migrated = try Realm(configuration: settings)
            if let url = copy.fileURL { try migrated.writeCopy(toFile: url) }
        }
        _ = try Realm.deleteFiles(for: settings)
        _ = try Realm.deleteFiles(for: copy)
    }

    /// Runs one round of all kinds of work.
    func round(_ number: Int) throws {
        var tracking = configuration("tracking.realm")
        tracking.tracksReads = true
        let file = configuration("everyday.realm")
        let memory = Realm.Configuration(
            inMemoryIdentifier: "everyday", objectTypes: [Node.self, Part.self, Screw.self])
        for configuration in [file, tracking, memory] {
            try observe(configuration)
            try passToAnotherThread(configuration)
            try write(configuration)
            try observeOnQueueAndActor(configuration)
            try publish(configuration)
        }
        try migrate(number)
    }
}

/// An actor that observes and writes.
private actor Listener {
    private var calls = 0

    func listen(_ configuration: Realm.Configuration) async throws {
        let realm = try await Realm(configuration: configuration, actor: self)
        let token = await realm.objects(Node.self).observe(on: self) { listener, _ in listener.calls += 1 }
        try await realm.asyncWrite { realm.add(Node(id: 8)) }
        _ = await realm.asyncRefresh()
        token.invalidate()
        for await _ in realm.objects(Node.self).changes() { break }
        for await _ in realm.objects(Node.self).where({ $0.id == 8 }).changes() {
            try await realm.asyncWrite { realm.deleteAll() }
            break
        }
    }
}

/// Counts calls of observers, from any thread.
// Sendable: `number` is used under the lock.
final class Calls: @unchecked Sendable {
    private let lock = NSLock()
    private var number = 0

    func add() { lock.withLock { number += 1 } }

    var count: Int { lock.withLock { number } }

    /// Runs the run loop of this thread until the expected number of calls have been made. Traps if they are not made
    /// within the given time.
    func wait(atLeast expected: Int, seconds: TimeInterval = 60) {
        let deadline = Date(timeIntervalSinceNow: seconds)
        while count < expected, Date() < deadline {
            _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.0005))
        }
        precondition(count >= expected, "\(count) of \(expected) calls were made within \(seconds) s")
    }
}

/// Runs `body` inside the run loop of a new thread, and waits until `body` returns.
func onRunLoopThread(_ body: @escaping () throws -> Void) throws {
    nonisolated(unsafe) var failure: (any Error)?
    nonisolated(unsafe) let body = body
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
        RunLoop.current.perform {
            do { try body() } catch { failure = error }
        }
        _ = RunLoop.current.run(mode: .default, before: Date())
        done.signal()
    }
    done.wait()
    if let failure { throw failure }
}
