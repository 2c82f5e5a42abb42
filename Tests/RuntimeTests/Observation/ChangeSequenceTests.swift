import ConformanceModels
import Dispatch
import Foundation
import MartletTestSupport
import Testing

@testable import Martlet

/// An executor that runs an actor on a serial queue. A Realm can be opened on this queue.
// Sendable: the only property is a queue, which is Sendable.
private final class QueueExecutor: SerialExecutor, @unchecked Sendable {
    let queue = DispatchQueue(label: "reader")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}

/// An actor that opens a Realm and iterates over changes. The test waits for the lines that the actor adds to `lines`.
private actor RealmReader {
    private let executor = QueueExecutor()
    private let configuration: Realm.Configuration
    nonisolated let lines = Lines()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ configuration: Realm.Configuration) {
        var configuration = configuration
        configuration.scheduler = nil
        self.configuration = configuration
    }

    /// Runs `body` in a task that starts on the queue of the actor. A task of the shared thread pool might not start,
    /// because tests that wait may block all threads of the pool.
    @discardableResult
    nonisolated func loop(
        _ body: @escaping @Sendable (isolated RealmReader, Realm) async throws -> Void
    ) -> Task<Void, any Error> {
        executor.queue.sync { assumeIsolated { $0.begin(body) } }
    }

    private func begin(
        _ body: @escaping @Sendable (isolated RealmReader, Realm) async throws -> Void
    ) -> Task<Void, any Error> {
        Task { try await self.run(body) }
    }

    private func run(_ body: @Sendable (isolated RealmReader, Realm) async throws -> Void) async throws {
        let realm = try Realm(configuration: configuration, queue: executor.queue)
        realm.refresh()
        try await body(self, realm)
        await lines.append("end")
    }

    /// Runs `body` with the Realm of the queue, between two jobs of the queue.
    nonisolated func withRealm<R>(_ body: (Realm) throws -> R) throws -> R {
        try executor.queue.sync { try body(Realm(configuration: configuration, queue: executor.queue)) }
    }
}

/// Lines that a loop adds and a test waits for. After `pauseLoop()`, `append` waits until the test calls
/// `resumeLoop()`.
// Sendable: the lock guards all mutable properties.
private final class Lines: @unchecked Sendable {
    private let lock = NSLock()
    private var lines: [String] = []
    private var isPaused = false
    private var pausedContinuation: CheckedContinuation<Void, Never>?
    private var waiting: (count: Int, continuation: CheckedContinuation<Void, Never>)?

    /// Adds a line. Returns immediately, or after `resumeLoop()` if the test has called `pauseLoop()`.
    func append(_ line: String, isolation: isolated (any Actor)? = #isolation) async {
        let (ready, waits) = lock.withLock {
            lines.append(line)
            let ready = waiting.flatMap { $0.count <= lines.count ? $0.continuation : nil }
            if ready != nil { waiting = nil }
            return (ready, isPaused)
        }
        ready?.resume()
        guard waits else { return }
        await withCheckedContinuation { continuation in
            let isFree = lock.withLock {
                if isPaused { pausedContinuation = continuation }
                return !isPaused
            }
            if isFree { continuation.resume() }
        }
    }

    func pauseLoop() { lock.withLock { isPaused = true } }

    func resumeLoop() {
        let waiting = lock.withLock {
            isPaused = false
            defer { pausedContinuation = nil }
            return pausedContinuation
        }
        waiting?.resume()
    }

    /// Waits until there are at least `count` lines, and returns all lines.
    func wait(forCount count: Int) async -> [String] {
        await withCheckedContinuation { continuation in
            let isComplete = lock.withLock {
                if lines.count < count { waiting = (count, continuation) }
                return lines.count >= count
            }
            if isComplete { continuation.resume() }
        }
        return lock.withLock { lines }
    }
}

/// Writes through a Realm on a queue of its own, so that a test can use the writer on any thread.
private struct Writer {
    let queue = DispatchQueue(label: "writer")
    let configuration: Realm.Configuration

    func write(_ body: (Realm) throws -> Void) throws {
        try queue.sync {
            let realm = try Realm(configuration: configuration, queue: queue)
            try realm.write { try body(realm) }
        }
    }

    func change(_ id: Int, _ body: (Node, Realm) -> Void) throws {
        try write { realm in body(try #require(realm.object(ofType: Node.self, forPrimaryKey: id)), realm) }
    }
}

@Suite("changes as sequences", .timeLimit(.minutes(2)))
struct ChangeSequenceTests {
    private func start() throws -> (writer: Writer, reader: RealmReader, lines: Lines, test: TestRealm) {
        let test = try TestRealm()
        var configuration = test.configuration
        configuration.scheduler = nil
        let writer = Writer(configuration: configuration)
        try writer.write { realm in for id in 0..<4 { realm.add(Node(id: id, name: "\(id)")) } }
        let reader = RealmReader(configuration)
        return (writer, reader, reader.lines, test)
    }

    /// Waits until `count` observers have received their initial call.
    private func waitForInitialCalls(_ reader: RealmReader, _ count: Int) async throws {
        while try reader.withRealm({ $0.context.hub.observerCount < count || !$0.context.hub.isIdle }) {
            await Task.yield()
        }
    }

    @Test("a loop gets the collection, then its changes; changes made while its body runs are merged N152 N19 N40")
    func collection() async throws {
        let (writer, reader, lines, test) = try start()
        defer { withExtendedLifetime(test) {} }
        let task = reader.loop { _, realm in
            for await change in realm.objects(Node.self).sorted(byKeyPath: "name").changes(keyPaths: ["name"]) {
                switch change {
                case .initial(let nodes): await lines.append("initial \(nodes.count)")
                case .update(let nodes, let change):
                    let old = change.deletedElements.map {
                        "\($0.position) \($0.primaryKey ?? "") \($0.lastValues["name"] ?? "")"
                    }
                    await lines.append(
                        "\(nodes.map(\.name)) \(change.deletions) \(change.insertions) \(change.modifications) \(old)")
                case .error(let error): await lines.append("\(error)")
                }
            }
        }
        #expect(await lines.wait(forCount: 1) == ["initial 4"])
        lines.pauseLoop()
        try writer.change(1) { node, _ in node.name = "1x" }
        #expect(await lines.wait(forCount: 2).last == #"["0", "1x", "2", "3"] [] [] [1] []"#)
        // Commits three times while the body of the loop waits, and then waits until the Realm shows the last commit.
        try writer.change(1) { node, _ in node.name = "gone" }
        try writer.change(1) { node, realm in realm.delete(node) }
        try writer.write { $0.add(Node(id: 9, name: "9")) }
        while try reader.withRealm({ $0.objects(Node.self).last?.id != 9 }) { await Task.yield() }
        lines.resumeLoop()
        #expect(await lines.wait(forCount: 3).last == #"["0", "2", "3", "9"] [1] [3] [] ["1 1 1x"]"#)
        task.cancel()
        #expect(await lines.wait(forCount: 4).last == "end")
        #expect(try reader.withRealm { $0.context.hub.observerCount } == 0)
    }

    @Test("a loop over the changes of an object ends when the object is deleted N152 N75") func object() async throws {
        let (writer, reader, lines, test) = try start()
        defer { withExtendedLifetime(test) {} }
        reader.loop { _, realm in
            guard let node = realm.object(ofType: Node.self, forPrimaryKey: 2) else { return }
            for await change in node.changes(keyPaths: [\.name, \.next]) { await lines.append(text(change)) }
        }
        try await waitForInitialCalls(reader, 1)
        try writer.change(2) { node, _ in node.amount = 3 }
        try writer.change(2) { node, _ in node.name = "x" }
        #expect(await lines.wait(forCount: 1) == ["name: 2 → x"])
        try writer.change(2) { node, realm in realm.delete(node) }
        #expect(await lines.wait(forCount: 3) == ["name: 2 → x", "deleted", "end"])
    }

    @Test("a loop over a collection ends when its owner is deleted, even if the collection is empty N152 N59")
    func collectionOfObject() async throws {
        let (writer, reader, lines, test) = try start()
        defer { withExtendedLifetime(test) {} }
        try writer.change(2) { node, _ in node.children.append(node) }
        reader.loop { _, realm in
            guard let node = realm.object(ofType: Node.self, forPrimaryKey: 2) else { return }
            for await change in node.children.changes() {
                if case .update(_, let change) = change { await lines.append("list \(change.deletions)") }
            }
        }
        reader.loop { _, realm in
            guard let node = realm.object(ofType: Node.self, forPrimaryKey: 2) else { return }
            for await change in node.named.changes() {
                if case .update = change { await lines.append("map") }
            }
        }
        reader.loop { _, realm in
            guard let node = realm.object(ofType: Node.self, forPrimaryKey: 2) else { return }
            for await change in node.parents.sorted(byKeyPath: "id").changes() {
                if case .update(_, let change) = change { await lines.append("parents \(change.deletions)") }
            }
        }
        try await waitForInitialCalls(reader, 3)
        try writer.change(2) { node, realm in realm.delete(node) }
        #expect(await lines.wait(forCount: 5).sorted() == ["end", "end", "end", "list [0]", "parents [0]"])
    }

    @Test("after several commits during one iteration, a loop over a Realm gets one notification of each kind N152 N26")
    func realm() async throws {
        let (writer, reader, lines, test) = try start()
        defer { withExtendedLifetime(test) {} }
        let task = reader.loop { _, realm in
            // The loop registers its observer and then suspends, which frees the queue.
            for await notification in realm.changes() { await lines.append("\(notification)") }
        }
        while try reader.withRealm({ !$0.context.hub.isObserved }) { await Task.yield() }
        lines.pauseLoop()
        try writer.write { $0.add(Node(id: 50)) }
        #expect(await lines.wait(forCount: 1) == ["didChange"])
        for _ in 0..<3 { try reader.withRealm { try $0.write {} } }
        lines.resumeLoop()
        #expect(await lines.wait(forCount: 2) == ["didChange", "didChange"])
        task.cancel()
        #expect(await lines.wait(forCount: 3) == ["didChange", "didChange", "end"])
    }

    @Test("loops can observe maps, sections and projections; cancelling the task ends the observation N152 N1 N60 N64")
    func kinds() async throws {
        let (writer, reader, lines, test) = try start()
        defer { withExtendedLifetime(test) {} }
        let tasks = [
            reader.loop { _, realm in
                guard let node = realm.object(ofType: Node.self, forPrimaryKey: 0) else { return }
                for await change in node.named.changes() {
                    if case .update(_, _, let insertions, _) = change { await lines.append("map \(insertions)") }
                }
            },
            reader.loop { _, realm in
                for await change in realm.objects(Node.self).sectioned(by: \.name).changes(keyPaths: ["name"]) {
                    if case .update(_, _, _, _, let inserted, let deleted) = change {
                        await lines.append("sections \(Array(inserted)) \(Array(deleted))")
                    }
                }
            },
            reader.loop { _, realm in
                guard let node = realm.object(ofType: Node.self, forPrimaryKey: 0) else { return }
                for await change in NodeProjection(projecting: node).changes(keyPaths: ["name"]) {
                    await lines.append("projection \(text(change))")
                }
            },
        ]
        try await waitForInitialCalls(reader, 3)
        try writer.change(0) { node, _ in
            node.named["a"] = node
            node.name = "z"
        }
        #expect(
            await lines.wait(forCount: 3).sorted() == [#"map ["a"]"#, "projection name: 0 → z", "sections [3] [0]"])
        for task in tasks { task.cancel() }
        #expect(await lines.wait(forCount: 6).suffix(3) == ["end", "end", "end"])
        #expect(try reader.withRealm { $0.context.hub.observerCount } == 0)
    }

    @Test("deletedElements contains the last values of objects that left results, and values removed from lists N47")
    func deletedElements() throws {
        let test = try TestRealm()
        let nodes = (0..<4).map { Node(id: $0, name: "\($0)", amount: Double($0)) }
        let lists = ScalarLists()
        try test.realm.write {
            test.realm.add(nodes)
            test.realm.add([lists])
            lists.ints.append(objectsIn: [5, 6, 7])
        }
        var lines: [String] = []
        let record = { (change: CollectionChangeSet) in
            lines += change.deletedElements.map {
                "\($0.position) \($0.primaryKey ?? "-") \($0.lastValues.keys.sorted()) "
                    + "\($0.lastValues["amount"] ?? "-") \($0.value ?? "-")"
            }
        }
        let tokens = [
            test.realm.objects(Node.self).where { $0.amount < 3 }.observeChanges {
                if case .update(_, let change) = $0 { record(change) }
            },
            lists.ints.observeChanges { if case .update(_, let change) = $0 { record(change) } },
        ]
        test.realm.refresh()
        try test.realm.write {
            nodes[0].amount = 9
            nodes[1].amount = 2.5
            nodes[1].name = "x"
            lists.ints.remove(at: 1)
            test.realm.delete(nodes[1])
        }
        test.realm.refresh()
        #expect(
            lines == [
                #"0 0 ["amount", "id", "name"] 0.0 -"#, #"1 1 ["amount", "id", "name"] 1.0 -"#, "1 - [] - 6",
            ])
        withExtendedLifetime(tokens) {}
    }
}
