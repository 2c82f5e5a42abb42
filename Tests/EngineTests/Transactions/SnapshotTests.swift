import CMartletTestVFS
import Foundation
import MartletSQLite
import MartletValues
import Synchronization
import Testing

@testable import MartletEngine

@Suite("snapshots and write transactions")
struct SnapshotTests {
    @Test("a handle keeps its version while other processes commit")
    func isolation() throws {
        let folder = try TestFolder()
        let writer = try VirtualProcess(folder.path())
        let reader = try VirtualProcess(folder.path())
        try writer.add("first")
        try reader.refresh()
        let version = try #require(reader.handle?.version)
        for number in 0..<5 {
            try writer.add("\(number)")
            #expect(try reader.noteCount == 1)
            #expect(reader.handle?.version == version)
            if number == 2 { try writer.coordinator.checkpoint() }
        }
        try reader.refresh()
        #expect(reader.handle?.version == version + 5)
        #expect(try reader.noteCount == 6)
    }

    @Test("each commit is one version, and its handle has the version of the file N140")
    func versions() throws {
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path())
        try process.refresh()
        let start = try #require(process.handle?.version)
        for number in 1...4 {
            let version = try process.write { try $0.addNote("\(number)") }
            #expect(version == start + UInt64(number))
            #expect(try process.integer("SELECT version FROM martlet_meta") == Int64(version))
            #expect(process.coordinator.newestKnownVersion == version)
        }
    }

    @Test("a write uses the connection of the handle that it replaces, if the handle is newest and has no other users")
    func reuse() throws {
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path())
        try process.refresh()
        var handle = process.handle
        process.handle = nil
        let connection = try #require(handle).read { ObjectIdentifier($0) }
        let first = try process.coordinator.beginWrite(replacing: &handle)
        #expect(handle == nil)
        #expect(first.handle.read { ObjectIdentifier($0) } == connection)
        #expect(first.handle.read { $0.isWriting })
        let committed = try first.commit().handle
        #expect(committed.read { ObjectIdentifier($0) } == connection)
        #expect(committed.read { !$0.isWriting && $0.isInTransaction })

        // The handle now has two users. So the write uses another connection, and the users keep their version.
        var shared: SnapshotHandle? = committed
        let second = try process.coordinator.beginWrite(replacing: &shared)
        #expect(second.handle !== committed)
        #expect(second.handle.read { ObjectIdentifier($0) } != connection)
        try second.addNote("new")
        #expect(try committed.read { try $0.integer("SELECT count(*) FROM Note") } == 0)
        _ = try second.commit()
        #expect(try committed.read { try $0.integer("SELECT count(*) FROM Note") } == 0)
    }

    @Test("a write begins on the newest version of any process N140")
    func newest() throws {
        let folder = try TestFolder()
        let one = try VirtualProcess(folder.path())
        let two = try VirtualProcess(folder.path())
        try one.refresh()
        try two.refresh()
        for number in 0..<10 { try (number.isMultiple(of: 2) ? one : two).add("\(number)", tags: ["a", "b"]) }
        #expect(try two.noteCount == 10)
        try one.refresh()
        #expect(try one.noteCount == 10)
        #expect(try one.tags(7) == [.text("a"), .text("b")])
    }

    @Test("a cancelled write stores nothing and restores the version before it")
    func cancel() throws {
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path())
        try process.add("kept")
        let version = process.handle?.version
        struct Stop: Error {}
        #expect(throws: (any Error).self) {
            try process.write { transaction in
                try transaction.addNote("gone", tags: ["x"])
                throw Stop()
            }
        }
        #expect(process.handle?.version == version)
        #expect(try process.noteCount == 1)
        try process.add("next")
        #expect(try process.integer("SELECT max(_key) FROM Note") == 2, "a rolled-back key may be reused")
    }

    @Test("a transaction that is released without a commit is cancelled, and the next writer can begin")
    func forgotten() throws {
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path())
        var handle: SnapshotHandle?
        do {
            let transaction = try process.coordinator.beginWrite(replacing: &handle)
            try transaction.addNote("gone")
        }
        try process.add("kept")
        #expect(try process.noteCount == 1)
    }

    @Test("the keys of deleted rows are never reused, not even by another process N140")
    func keys() throws {
        let folder = try TestFolder()
        let one = try VirtualProcess(folder.path())
        try one.add("a")
        try one.add("b")
        try one.write { try $0.handle.read { try $0.run("DELETE FROM Note") } }
        let two = try VirtualProcess(folder.path())
        try two.add("c")
        #expect(try two.column("SELECT _key FROM Note") == [.integer(3)])
    }

    @Test("a write that would exceed the limit of versions fails before it writes")
    func versionLimit() throws {
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path()) { $0.maximumNumberOfActiveVersions = 2 }
        try process.add("1")
        let frozen = process.handle
        try process.add("2")
        #expect(engineError { try process.add("3") } == nil, "the write adds no active version")
        let another = process.handle
        let error = engineError { try process.add("4") }
        #expect(error?.code == .tooManyVersions)
        #expect(error?.path == folder.path())
        #expect(try process.noteCount == 3, "the snapshot is kept")
        #expect(try frozen?.read { try $0.integer("SELECT count(*) FROM Note") } == 1)
        withExtendedLifetime(another) {}
    }

    @Test("with a limit of one version, a single user can write, even after writes of another process")
    func limitOfOne() throws {
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path()) { $0.maximumNumberOfActiveVersions = 1 }
        let other = try VirtualProcess(folder.path())
        for number in 0..<3 {
            try process.add("\(number)")
            try other.add("\(number)")
        }
        try process.add("last")
        #expect(try process.noteCount == 7)
    }

    @Test("writers of two processes wait for each other, and no write is lost N140")
    func twoWriters() throws {
        let folder = try TestFolder()
        let path = folder.path()
        let failures = Mutex<[String]>([])
        let done = DispatchGroup()
        for name in 0..<2 {
            done.enter()
            Thread.detachNewThread { [done] in
                do {
                    let process = try VirtualProcess(path) {
                        $0.environment.writeTimeoutMilliseconds = 30_000
                        $0.environment.sleep = { _ in sched_yield() }
                        $0.environment.checkpointFrames = 40
                    }
                    for number in 0..<100 { try process.add("\(number)", batch: name, tags: ["t"]) }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
                done.leave()
            }
        }
        done.wait()
        #expect(failures.withLock { $0 } == [])
        let process = try VirtualProcess(path)
        #expect(try process.noteCount == 200)
        #expect(try process.integer("SELECT count(DISTINCT _key) FROM Note") == 200)
        // The creation of the file committed two versions. The second version has an empty change set, and every later
        // version has a change set.
        #expect(try process.integer("SELECT count(*) FROM martlet_changes WHERE version > 0") == 201)
        #expect(try process.integer("SELECT version FROM martlet_meta") == 202)
        #expect(try process.integrity == .text("ok"))
    }

    @Test("a writer that waits too long gets an error, and the current writer is not affected D44")
    func busy() throws {
        let folder = try TestFolder()
        let one = try VirtualProcess(folder.path())
        let two = try VirtualProcess(folder.path())
        try two.refresh()
        let before = two.handle?.version
        try one.write { transaction in
            try transaction.addNote("a")
            let error = engineError { try two.add("b") }
            #expect(error?.code == .busy)
            #expect(two.handle?.version == before)
        }
        #expect(try one.noteCount == 1)
        try two.add("b")
        #expect(try two.noteCount == 2)
    }

    @Test("a file that was opened with 'isReadOnly' is not written to")
    func readOnly() throws {
        let folder = try TestFolder()
        try VirtualProcess(folder.path()).add("a")
        let reader = try VirtualProcess(folder.path()) { $0.isReadOnly = true }
        #expect(try reader.noteCount == 1)
        #expect(engineError { try reader.add("b") }?.code == .accessDenied)
        #expect(try reader.noteCount == 1)
    }

    @Test("a forked child that uses an inherited file traps with a message N144")
    func fork() async {
        await #expect(processExitsWith: .failure) {
            let folder = try TestFolder()
            let processID = ForkableProcessID()
            let process = try VirtualProcess(folder.path()) {
                $0.environment.processID = { processID.id }
            }
            try process.add("a")
            processID.fork()
            try process.refresh()
        }
    }

    @Test("a forked child that releases an inherited file does not change it N144")
    func forkedRelease() throws {
        let folder = try TestFolder()
        let processID = ForkableProcessID()
        let parent = try VirtualProcess(folder.path())
        try parent.add("a")
        do {
            let process = try VirtualProcess(folder.path()) {
                $0.isTemporary = true
                $0.environment.processID = { processID.id }
            }
            try process.refresh()
            process.handle = nil
            processID.fork()
        }
        #expect(StoreFiles.exists(folder.path()))
        try parent.add("b")
        #expect(try parent.noteCount == 2)
    }

    @Test(
        "a forked child that releases a write does not release the lock of the parent, and traps when it cancels the write N144"
    )
    func forkedWrite() async throws {
        let folder = try TestFolder()
        let processID = ForkableProcessID()
        let parent = try VirtualProcess(folder.path()) {
            $0.environment.processID = { processID.id }
        }
        var given: SnapshotHandle?
        var transaction: WriteTransaction? = try parent.coordinator.beginWrite(replacing: &given)
        #expect(transaction?.baseVersion != nil)
        processID.fork()
        transaction = nil
        let other = try VirtualProcess(folder.path())
        #expect { try other.add("a") } throws: { ($0 as? EngineError)?.code == .busy }
        await #expect(processExitsWith: .failure) {
            let folder = try TestFolder()
            let processID = ForkableProcessID()
            let process = try VirtualProcess(folder.path()) {
                $0.environment.processID = { processID.id }
            }
            _ = try? process.write { _ in
                processID.fork()
                throw CancellationError()
            }
        }
    }

    @Test("no statement of a handle remains unfinished, because that would pin the version")
    func statements() throws {
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path())
        try process.add("a", tags: ["x"])
        _ = try process.tags(1)
        let handle = try #require(process.handle)
        _ = try process.coordinator.changes(after: 0, through: 99, handle)
        #expect(handle.read { $0.unfinishedStatement } == nil)
    }

    /// Simulates forks: `fork()` changes the process id that the engine sees.
    private final class ForkableProcessID: Sendable {
        private let number = Atomic<Int32>(1)
        var id: Int32 { number.load(ordering: .relaxed) }
        func fork() { number.store(2, ordering: .relaxed) }
    }
}
