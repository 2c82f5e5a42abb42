import CMartletTestVFS
import Foundation
import MartletSQLite
import Synchronization
import Testing

@testable import MartletEngine

@Suite("snapshots and write transactions")
struct SnapshotTests {
    @Test("a handle keeps its version while others commit")
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

    @Test("N140 each commit is one version, and its handle names the version that is in the file")
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

    @Test("a write uses the connection of the handle it replaces, if nobody else holds it and it is newest")
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

        // Held by two: the write goes to another connection and the holders see what they saw.
        var shared: SnapshotHandle? = committed
        let second = try process.coordinator.beginWrite(replacing: &shared)
        #expect(second.handle !== committed)
        #expect(second.handle.read { ObjectIdentifier($0) } != connection)
        try second.addNote("new")
        #expect(try committed.read { try $0.integer("SELECT count(*) FROM Note") } == 0)
        _ = try second.commit()
        #expect(try committed.read { try $0.integer("SELECT count(*) FROM Note") } == 0)
    }

    @Test("N140 a write begins on the newest version, of whichever Realm or process")
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

    @Test("a cancelled write leaves nothing behind and gives the version from before")
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
        #expect(try process.integer("SELECT max(_key) FROM Note") == 2, "keys of cancelled rows may be given again")
    }

    @Test("a transaction that is let go of is cancelled and the next writer gets its turn")
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

    @Test("N140 keys are never given twice, not even after a deletion and in another process")
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

    @Test("more versions than allowed are refused before anything is written, and only those")
    func versionLimit() throws {
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path()) { $0.maximumNumberOfActiveVersions = 2 }
        try process.add("1")
        let frozen = process.handle
        try process.add("2")
        #expect(engineError { try process.add("3") } == nil, "the newest version is replaced, not added")
        let another = process.handle
        let error = engineError { try process.add("4") }
        #expect(error?.code == .tooManyVersions)
        #expect(error?.path == folder.path())
        #expect(try process.noteCount == 3, "the Realm still sees what it saw")
        #expect(try frozen?.read { try $0.integer("SELECT count(*) FROM Note") } == 1)
        withExtendedLifetime(another) {}
    }

    @Test("a single Realm may write with a limit of one version, also when another process has written")
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

    @Test("N140 writers of two processes queue and lose nothing")
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
        // Two versions made the file, and the second of them recorded that it changed no object; each later one has its
        // change set.
        #expect(try process.integer("SELECT count(*) FROM martlet_changes WHERE version > 0") == 201)
        #expect(try process.integer("SELECT version FROM martlet_meta") == 202)
        #expect(try process.integrity == .text("ok"))
    }

    @Test("D44 a writer that waits too long is told so, and the one who writes is not disturbed")
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

    @Test("a read-only file is not written to")
    func readOnly() throws {
        let folder = try TestFolder()
        try VirtualProcess(folder.path()).add("a")
        let reader = try VirtualProcess(folder.path()) { $0.isReadOnly = true }
        #expect(try reader.noteCount == 1)
        #expect(engineError { try reader.add("b") }?.code == .accessDenied)
        #expect(try reader.noteCount == 1)
    }

    @Test("N144 a forked child that uses what it inherited stops with a message")
    func fork() async {
        await #expect(processExitsWith: .failure) {
            let folder = try TestFolder()
            let generation = Generation()
            let process = try VirtualProcess(folder.path()) {
                $0.environment.processID = { generation.id }
            }
            try process.add("a")
            generation.fork()
            try process.refresh()
        }
    }

    @Test("N144 a forked child that releases what it inherited leaves the parent's file alone")
    func forkedRelease() throws {
        let folder = try TestFolder()
        let generation = Generation()
        let parent = try VirtualProcess(folder.path())
        try parent.add("a")
        do {
            let process = try VirtualProcess(folder.path()) {
                $0.isTemporary = true
                $0.environment.processID = { generation.id }
            }
            try process.refresh()
            process.handle = nil
            generation.fork()
        }
        #expect(StoreFiles.exists(folder.path()))
        try parent.add("b")
        #expect(try parent.noteCount == 2)
    }

    @Test(
        "N144 a forked child that releases a write leaves the parent the lock, and traps when it cancels the write"
    )
    func forkedWrite() async throws {
        let folder = try TestFolder()
        let generation = Generation()
        let parent = try VirtualProcess(folder.path()) {
            $0.environment.processID = { generation.id }
        }
        var given: SnapshotHandle?
        var transaction: WriteTransaction? = try parent.coordinator.beginWrite(replacing: &given)
        #expect(transaction?.baseVersion != nil)
        generation.fork()
        transaction = nil
        let other = try VirtualProcess(folder.path())
        #expect { try other.add("a") } throws: { ($0 as? EngineError)?.code == .busy }
        await #expect(processExitsWith: .failure) {
            let folder = try TestFolder()
            let generation = Generation()
            let process = try VirtualProcess(folder.path()) {
                $0.environment.processID = { generation.id }
            }
            _ = try? process.write { _ in
                generation.fork()
                throw CancellationError()
            }
        }
    }

    @Test("a handle that goes with a statement unfinished would pin its version: none is left")
    func statements() throws {
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path())
        try process.add("a", tags: ["x"])
        _ = try process.tags(1)
        let handle = try #require(process.handle)
        _ = try process.coordinator.changes(after: 0, through: 99, handle)
        #expect(handle.read { $0.unfinishedStatement } == nil)
    }

    /// A number that tells whether the process has been forked.
    private final class Generation: Sendable {
        private let number = Atomic<Int32>(1)
        var id: Int32 { number.load(ordering: .relaxed) }
        func fork() { number.store(2, ordering: .relaxed) }
    }
}
