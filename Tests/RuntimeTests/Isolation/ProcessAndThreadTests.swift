import CMartletTestVFS
import ConformanceModels
import Foundation
import MartletEngine
import MartletTestSupport
import Synchronization
import Testing

@testable import Martlet

/// Ended threads, forked processes and cancelled tasks.
@Suite("ended threads, forks and cancelled tasks") struct ProcessAndThreadTests {
    /// Runs `body` on a new thread, and waits for the end of the thread, so that the next thread can get its address.
    private func onJoinedThread(_ body: @escaping @Sendable () -> Void) {
        final class Body: Sendable {
            let run: @Sendable () -> Void
            init(_ run: @escaping @Sendable () -> Void) { self.run = run }
        }
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { body in
                if let body { Unmanaged<Body>.fromOpaque(body).takeRetainedValue().run() }
                return nil
            }, Unmanaged.passRetained(Body(body)).toOpaque())
        pthread_join(thread, nil)
    }

    @Test("a Realm that outlives its thread is not reused for a new thread at the same address N146")
    func endedThreads()
        throws
    {
        let test = try TestRealm()
        var others = test.configuration
        others.scheduler = nil
        let configuration = others
        nonisolated(unsafe) var realms: [Realm] = []
        let addresses = Mutex<[UInt]>([])
        for number in 1...20 {
            onJoinedThread {
                addresses.withLock { $0.append(UInt(pthread_self())) }
                guard let realm = try? Realm(configuration: configuration) else { return }
                if realms.contains(realm) {
                    Issue.record("the Realm of a thread that has ended was given to thread \(number)")
                }
                if realm.objects(Node.self).count != number - 1 {
                    Issue.record("thread \(number) reads an old version")
                }
                if realms.first?.context.confinement.isCurrent == true {
                    Issue.record("a Realm of another thread is current")
                }
                realms.append(realm)
            }
            try test.realm.write { test.realm.add(Node(id: number)) }
        }
        let distinct = Set(addresses.withLock { $0 })
        #expect(realms.count == 20 && distinct.count < 20, "no address was used twice, so the test checks nothing")
    }

    @Test("two threads that open a file for a new queue at the same time get the same Realm O1")
    func concurrentOpenings() throws {
        let test = try TestRealm()
        var configuration = test.configuration
        configuration.scheduler = nil
        let settings = configuration
        for _ in 0..<100 {
            let queue = DispatchQueue(label: "new")
            let started = Atomic(0)
            nonisolated(unsafe) let realms = UnsafeMutableBufferPointer<Realm?>.allocate(capacity: 2)
            realms.initialize(repeating: nil)
            defer { realms.deinitialize().deallocate() }
            let done = DispatchGroup()
            for index in 0..<2 {
                done.enter()
                Thread.detachNewThread {
                    started.add(1, ordering: .sequentiallyConsistent)
                    while started.load(ordering: .sequentiallyConsistent) < 2 {}
                    realms[index] = try? Realm(configuration: settings, queue: queue)
                    done.leave()
                }
            }
            done.wait()
            #expect(realms[0] != nil && realms[0] == realms[1])
        }
    }

    @Test("a queue with the label of the main queue is not the main queue O1") func mainLabel() throws {
        let queue = DispatchQueue(label: DispatchQueue.main.label)
        #expect(Confinement.queue(.main).isSame(as: .actor(MainActor.shared)))
        #expect(!Confinement.queue(queue).isSame(as: .queue(.main)))
        let test = try TestRealm()
        var configuration = test.configuration
        configuration.scheduler = nil
        try queue.sync {
            try #require(Confinement.queue(queue).isCurrent)
            let realm = try Realm(configuration: configuration, queue: queue)
            try realm.write { realm.add(Node(id: 1)) }
        }
    }

    @Test("forked processes generate different ids N145") func forkedIds() async {
        await #expect(processExitsWith: .success) {
            alarm(30)
            _ = ObjectId()
            var pipeEnds: [Int32] = [0, 0]
            guard pipe(&pipeEnds) == 0 else { exit(2) }
            func report() {
                let ids = (0..<4).map { _ in ObjectId().stringValue + "\n" }.joined()
                _ = write(pipeEnds[1], ids, ids.utf8.count)
            }
            for _ in 0..<3 {
                let child = cmartlet_fork()
                if child == 0 {
                    report()
                    if cmartlet_fork() == 0 { report() }
                    _exit(0)
                }
                var status: Int32 = 0
                waitpid(child, &status, 0)
            }
            report()
            close(pipeEnds[1])
            var text: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while case let count = read(pipeEnds[0], &buffer, buffer.count), count > 0 { text += buffer.prefix(count) }
            let ids = String(decoding: text, as: UTF8.self).split(separator: "\n")
            // The first eight digits of an id are the time. The next ten digits are random for each process. Seven
            // processes report four ids each: this process, its three children, and their three children.
            let processes = Set(ids.map { $0.dropFirst(8).prefix(10) })
            guard ids.count == 28, Set(ids).count == 28, processes.count == 7 else {
                print(ids)
                exit(3)
            }
        }
    }

    @Test("a forked child does not share Realms in memory with its parent D92") func forkedMemory() async {
        await #expect(processExitsWith: .success) {
            alarm(30)
            let configuration = Realm.Configuration(inMemoryIdentifier: "forked")
            let realm = try Realm(configuration: configuration, queue: nil)
            try realm.write { realm.add(Node(id: 1)) }
            let child = cmartlet_fork()
            if child == 0 {
                alarm(20)
                guard let own = try? Realm(configuration: configuration, queue: nil), own.isEmpty,
                    (try? own.write { own.add(Node(id: 2)) }) != nil
                else { _exit(2) }
                _exit(own.objects(Node.self).map(\.id) == [2] ? 0 : 3)
            }
            var status: Int32 = 0
            waitpid(child, &status, 0)
            exit(status == 0 && realm.objects(Node.self).map(\.id) == [1] ? 0 : 4)
        }
    }

    @Test("opening a Realm on a global queue traps, but not on a serial queue that targets a global queue N147")
    func globalQueues() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let queue = DispatchQueue(label: "serial", target: .global())
            nonisolated(unsafe) let realm = try Realm(configuration: test.configuration, queue: queue)
            queue.sync { _ = realm.isEmpty }
            FileHandle.standardError.write(Data("serial queues do not trap\n".utf8))
            _ = try Realm(configuration: test.configuration, queue: .global())
        }
        let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(output.contains("serial queues do not trap") && output.contains("[concurrentQueue]"))
    }

    // MARK: Opening in the background

    /// Creates a file in which the property `Keyless.content` has another type, so that opening the file migrates it.
    private func previousFile() throws -> PreviousFile {
        try PreviousFile(["object Keyless\nproperty content Int"]) { create in _ = create("Keyless", ["content": 5])
        }
    }

    @Test("'try await Realm(configuration:)' does not block the actor while the file is migrated N148") @MainActor
    func openInBackground() async throws {
        let previous = try previousFile()
        let isFree = DispatchSemaphore(value: 0)
        let configuration = previous.configuration([Keyless.self]) { _, _ in
            #expect(isFree.wait(timeout: .now() + .seconds(30)) == .success, "the migration blocked the main actor")
        }
        _Concurrency.Task { @MainActor in isFree.signal() }
        let realm = try await Realm(configuration: configuration)
        #expect(realm.objects(Keyless.self).map(\.content) == ["5"])
        let again = try await Realm.open(configuration: configuration)
        #expect(again == realm)
    }

    @Test("opening can be cancelled before the migration begins, and the file does not change N148") @MainActor
    func cancelledOpening() async throws {
        let previous = try previousFile()
        let before = previous.contents
        var configuration = previous.configuration([Keyless.self]) { _, _ in Issue.record("the file was migrated") }
        let opening = Mutex<_Concurrency.Task<Void, any Error>?>(nil)
        // At this yield point the opening thread holds the opening lock, but has not opened the file.
        configuration.environment.onYield = { point in
            if point == .insideOpeningLock { opening.withLock { $0?.cancel() } }
        }
        let adjusted = configuration
        let task = opening.withLock { opening in
            let task = _Concurrency.Task { @MainActor in _ = try await Realm.open(configuration: adjusted) }
            opening = task
            return task
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try schemaVersionAtURL(previous.url) == 0 && previous.contents == before)
        #expect(try previous.migrated([Keyless.self]).objects(Keyless.self).count == 1)
    }
}
