import ConformanceModels
import Dispatch
import Foundation
import MartletTestSupport
import Testing

@testable import Martlet

/// Runs what it isolates on a serial queue, where a Realm can belong.
// Sendable: a queue is, and nothing else is kept.
private final class QueueExecutor: SerialExecutor, @unchecked Sendable {
    let queue = DispatchQueue(label: "home")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}

/// Where a Realm lives and is looped over. The test itself stays on its thread, and waits for lines.
private actor Home {
    private let executor = QueueExecutor()
    private let configuration: Realm.Configuration
    nonisolated let lines = Lines()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ configuration: Realm.Configuration) {
        var configuration = configuration
        configuration.scheduler = nil
        self.configuration = configuration
    }

    /// Runs a loop in a task of its own, from its first step on the queue: tests that wait take all other threads.
    @discardableResult
    nonisolated func loop(
        _ body: @escaping @Sendable (isolated Home, Realm) async throws -> Void
    ) -> Task<Void, any Error> {
        executor.queue.sync { assumeIsolated { $0.begin(body) } }
    }

    private func begin(
        _ body: @escaping @Sendable (isolated Home, Realm) async throws -> Void
    ) -> Task<Void, any Error> {
        Task { try await self.run(body) }
    }

    private func run(_ body: @Sendable (isolated Home, Realm) async throws -> Void) async throws {
        let realm = try Realm(configuration: configuration, queue: executor.queue)
        realm.refresh()
        try await body(self, realm)
        await lines.note("end")
    }

    /// Looks at the Realm between two turns.
    nonisolated func look<R>(_ body: (Realm) throws -> R) throws -> R {
        try executor.queue.sync { try body(Realm(configuration: configuration, queue: executor.queue)) }
    }
}

/// Lines that a loop writes and a test waits for. Whoever writes can be held up.
// Sendable: everything is guarded by the lock.
private final class Lines: @unchecked Sendable {
    private let lock = NSLock()
    private var lines: [String] = []
    private var isHeld = false
    private var held: CheckedContinuation<Void, Never>?
    private var waiting: (count: Int, continuation: CheckedContinuation<Void, Never>)?

    /// Adds a line, and comes back when nobody holds it up.
    func note(_ line: String, isolation: isolated (any Actor)? = #isolation) async {
        let (ready, waits) = lock.withLock {
            lines.append(line)
            let ready = waiting.flatMap { $0.count <= lines.count ? $0.continuation : nil }
            if ready != nil { waiting = nil }
            return (ready, isHeld)
        }
        ready?.resume()
        guard waits else { return }
        await withCheckedContinuation { continuation in
            let isFree = lock.withLock {
                if isHeld { held = continuation }
                return !isHeld
            }
            if isFree { continuation.resume() }
        }
    }

    func hold() { lock.withLock { isHeld = true } }

    func release() {
        let waiting = lock.withLock {
            isHeld = false
            defer { held = nil }
            return held
        }
        waiting?.resume()
    }

    /// Waits until there are so many lines, and gives all.
    func first(_ count: Int) async -> [String] {
        await withCheckedContinuation { continuation in
            let isThere = lock.withLock {
                if lines.count < count { waiting = (count, continuation) }
                return lines.count >= count
            }
            if isThere { continuation.resume() }
        }
        return lock.withLock { lines }
    }
}

/// Writes from a queue of its own, so that no thread of tests has to wait.
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
struct ChangesTests {
    private func start() throws -> (writer: Writer, home: Home, lines: Lines, test: TestRealm) {
        let test = try TestRealm()
        var configuration = test.configuration
        configuration.scheduler = nil
        let writer = Writer(configuration: configuration)
        try writer.write { realm in for id in 0..<4 { realm.add(Node(id: id, name: "\(id)")) } }
        let home = Home(configuration)
        return (writer, home, home.lines, test)
    }

    /// Waits until so many observers have had their first call.
    private func settle(_ home: Home, _ count: Int) async throws {
        while try home.look({ $0.context.hub.observerCount < count || !$0.context.hub.isIdle }) { await Task.yield() }
    }

    @Test("N152 N19 N40 a loop gets the collection, then its changes, and what happens while it is busy as one")
    func collection() async throws {
        let (writer, home, lines, test) = try start()
        defer { withExtendedLifetime(test) {} }
        let task = home.loop { _, realm in
            for await change in realm.objects(Node.self).sorted(byKeyPath: "name").changes(keyPaths: ["name"]) {
                switch change {
                case .initial(let nodes): await lines.note("initial \(nodes.count)")
                case .update(let nodes, let change):
                    let gone = change.deletedElements.map {
                        "\($0.position) \($0.primaryKey ?? "") \($0.lastValues["name"] ?? "")"
                    }
                    await lines.note(
                        "\(nodes.map(\.name)) \(change.deletions) \(change.insertions) \(change.modifications) \(gone)")
                case .error(let error): await lines.note("\(error)")
                }
            }
        }
        #expect(await lines.first(1) == ["initial 4"])
        lines.hold()
        try writer.change(1) { node, _ in node.name = "1x" }
        #expect(await lines.first(2).last == #"["0", "1x", "2", "3"] [] [] [1] []"#)
        // Three commits while the body is busy; the Realm moves with each.
        try writer.change(1) { node, _ in node.name = "gone" }
        try writer.change(1) { node, realm in realm.delete(node) }
        try writer.write { $0.add(Node(id: 9, name: "9")) }
        while try home.look({ $0.objects(Node.self).last?.id != 9 }) { await Task.yield() }
        lines.release()
        #expect(await lines.first(3).last == #"["0", "2", "3", "9"] [1] [3] [] ["1 1 1x"]"#)
        task.cancel()
        #expect(await lines.first(4).last == "end")
        #expect(try home.look { $0.context.hub.observerCount } == 0)
    }

    @Test("N152 N75 a loop over an object ends with its deletion") func object() async throws {
        let (writer, home, lines, test) = try start()
        defer { withExtendedLifetime(test) {} }
        home.loop { _, realm in
            guard let node = realm.object(ofType: Node.self, forPrimaryKey: 2) else { return }
            for await change in node.changes(keyPaths: [\.name, \.next]) { await lines.note(text(change)) }
        }
        try await settle(home, 1)
        try writer.change(2) { node, _ in node.amount = 3 }
        try writer.change(2) { node, _ in node.name = "x" }
        #expect(await lines.first(1) == ["name: 2 → x"])
        try writer.change(2) { node, realm in realm.delete(node) }
        #expect(await lines.first(3) == ["name: 2 → x", "deleted", "end"])
    }

    @Test("N152 N26 a loop over a Realm tells each kind of notification once while it is busy") func realm()
        async throws
    {
        let (writer, home, lines, test) = try start()
        defer { withExtendedLifetime(test) {} }
        let task = home.loop { _, realm in
            // Registered when the loop has begun to wait: then the queue is free.
            for await notification in realm.changes() { await lines.note("\(notification)") }
        }
        while try home.look({ !$0.context.hub.isObserved }) { await Task.yield() }
        lines.hold()
        try writer.write { _ in }
        #expect(await lines.first(1) == ["didChange"])
        for _ in 0..<3 { try home.look { try $0.write {} } }
        lines.release()
        #expect(await lines.first(2) == ["didChange", "didChange"])
        task.cancel()
        #expect(await lines.first(3) == ["didChange", "didChange", "end"])
    }

    @Test("N152 N1 N60 N64 loops over maps, sections and projections; the end of a task ends the observation")
    func kinds() async throws {
        let (writer, home, lines, test) = try start()
        defer { withExtendedLifetime(test) {} }
        let tasks = [
            home.loop { _, realm in
                guard let node = realm.object(ofType: Node.self, forPrimaryKey: 0) else { return }
                for await change in node.named.changes() {
                    if case .update(_, _, let insertions, _) = change { await lines.note("map \(insertions)") }
                }
            },
            home.loop { _, realm in
                for await change in realm.objects(Node.self).sectioned(by: \.name).changes(keyPaths: ["name"]) {
                    if case .update(_, _, _, _, let inserted, let deleted) = change {
                        await lines.note("sections \(Array(inserted)) \(Array(deleted))")
                    }
                }
            },
            home.loop { _, realm in
                guard let node = realm.object(ofType: Node.self, forPrimaryKey: 0) else { return }
                for await change in NodeProjection(projecting: node).changes(keyPaths: ["name"]) {
                    await lines.note("projection \(text(change))")
                }
            },
        ]
        try await settle(home, 3)
        try writer.change(0) { node, _ in
            node.named["a"] = node
            node.name = "z"
        }
        #expect(await lines.first(3).sorted() == [#"map ["a"]"#, "projection name: 0 → z", "sections [3] [0]"])
        for task in tasks { task.cancel() }
        #expect(await lines.first(6).suffix(3) == ["end", "end", "end"])
        #expect(try home.look { $0.context.hub.observerCount } == 0)
    }

    @Test("N47 deleted elements as they were: of results that lost, deleted and moved objects, of lists of values")
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
        let tell = { (change: CollectionChangeSet) in
            lines += change.deletedElements.map {
                "\($0.position) \($0.primaryKey ?? "-") \($0.lastValues.keys.sorted()) "
                    + "\($0.lastValues["amount"] ?? "-") \($0.value ?? "-")"
            }
        }
        let tokens = [
            test.realm.objects(Node.self).where { $0.amount < 3 }.observeChanges {
                if case .update(_, let change) = $0 { tell(change) }
            },
            lists.ints.observeChanges { if case .update(_, let change) = $0 { tell(change) } },
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
