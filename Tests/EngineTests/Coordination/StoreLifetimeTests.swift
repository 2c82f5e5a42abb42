import CMartletTestVFS
import Foundation
import MartletSQLite
import MartletValues
import Synchronization
import Testing

@testable import MartletEngine

@Suite("opening and closing")
struct StoreLifetimeTests {
    private func size(_ path: String) -> Int {
        ((try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int) ?? -1
    }

    // MARK: Registry

    @Test("all paths of one file return the same coordinator D77")
    func oneCoordinator() throws {
        let folder = try TestFolder()
        let first = try StoreRegistry.coordinator(VirtualProcess.options(folder.path()))
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("link.realm"), withDestinationPath: folder.path())
        try FileManager.default.linkItem(atPath: folder.path(), toPath: folder.path("hard.realm"))
        for name in ["test.realm", "link.realm", "hard.realm", "../\(folder.url.lastPathComponent)/test.realm"] {
            #expect(try StoreRegistry.coordinator(VirtualProcess.options(folder.path(name))) === first)
            #expect(StoreRegistry.isOpen(folder.path(name)))
        }
        let other = try StoreRegistry.coordinator(VirtualProcess.options(folder.path("other.realm")))
        #expect(other !== first)
    }

    // SQLite does not wait for readers when it switches a file to a write-ahead log, so the engine repeats the switch.
    @Test("a process can create a database while another process reads the empty file N140")
    func createWhileOtherProcessOpens() throws {
        let folder = try TestFolder()
        try Data().write(to: URL(fileURLWithPath: folder.path()))
        let reader = try Connection(ConnectionOptions(path: folder.path()))
        try reader.execute("BEGIN")
        #expect(try reader.integer("SELECT count(*) FROM sqlite_schema") == 0)
        let waits = Mutex(0)
        let process = try VirtualProcess(folder.path()) {
            $0.environment.writeTimeoutMilliseconds = 1_000
            $0.environment.sleep = { _ in
                let count = waits.withLock { count in
                    count += 1
                    return count
                }
                if count == 3 { try? reader.execute("COMMIT") }
            }
        }
        try process.add("a")
        #expect(try process.noteCount == 1)
        #expect(waits.withLock { $0 } == 3)
    }

    @Test("writers of two processes queue on one lock file, even if they open the file by different paths N140")
    func oneLockFile() throws {
        let folder = try TestFolder()
        let one = try VirtualProcess(folder.path())
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("link.realm"), withDestinationPath: folder.path())
        let two = try VirtualProcess(folder.path("link.realm"))
        try one.write { transaction in
            try transaction.addNote("a")
            #expect(engineError { try two.add("b") }?.code == .busy)
        }
        #expect(!StoreFiles.exists(folder.path("link.realm.lock")))
    }

    @Test("a coordinator is released with its last user, and a new file at the path gets a new coordinator D77")
    func lifetime() throws {
        let folder = try TestFolder()
        weak var first: StoreCoordinator?
        do {
            let coordinator = try StoreRegistry.coordinator(VirtualProcess.options(folder.path()))
            first = coordinator
            let handle = try coordinator.openSnapshot()
            withExtendedLifetime(handle) {}
        }
        #expect(first == nil)
        #expect(!StoreRegistry.isOpen(folder.path()))
        let second = try StoreRegistry.coordinator(VirtualProcess.options(folder.path()))
        StoreFiles.remove(folder.path())
        let third = try StoreRegistry.coordinator(VirtualProcess.options(folder.path()))
        #expect(second !== third)
    }

    @Test("an open file can be opened again with more types, but not with different options D78")
    func configurations() throws {
        let folder = try TestFolder()
        let first = try StoreRegistry.coordinator(VirtualProcess.options(folder.path()))
        let refused: [(inout StoreOptions) -> Void] = [{ $0.isReadOnly = true }, { $0.durability = .full }]
        for adjust in refused {
            let error = engineError {
                _ = try StoreRegistry.coordinator(VirtualProcess.options(folder.path(), adjust: adjust))
            }
            #expect(error?.code == .incompatibleConfiguration)
        }
        let other = engineError {
            _ = try StoreRegistry.coordinator(
                VirtualProcess.options(folder.path(), [VirtualProcess.note + "\nproperty extra Int"]))
        }
        #expect(other?.code == .incompatibleConfiguration, "open Realms use the type without the property")
        let more = try StoreRegistry.coordinator(
            VirtualProcess.options(folder.path(), [VirtualProcess.note, "object Cat\nproperty a Int"]))
        #expect(more === first)
        #expect(first.schema["Cat"] != nil)
        #expect(try VirtualProcess(first).noteCount == 0)
        let newer = engineError {
            _ = try StoreRegistry.coordinator(VirtualProcess.options(folder.path()) { $0.schemaVersion = 2 })
        }
        #expect(newer?.code == .alreadyOpen)
    }

    // MARK: The log

    @Test("closing a file shortens its log, and all data can be read again")
    func shortLog() throws {
        let folder = try TestFolder()
        do {
            let process = try VirtualProcess(folder.path())
            for number in 0..<150 { try process.add("\(number)", tags: [String(repeating: "x", count: 3_000)]) }
            #expect(size(folder.path() + "-wal") > 1 << 20)
        }
        #expect(size(folder.path() + "-wal") < 32_768)
        let vfs = HookVFS()
        let process = try VirtualProcess(folder.path()) { $0.environment.vfsName = vfs.name }
        #expect(try process.noteCount == 150)
        #expect(vfs.count(.read, of: .wal) < 20, "opening reads little of the log")
    }

    @Test("closing does not truncate a log that another process reads D10")
    func closingBesideReader() throws {
        let folder = try TestFolder()
        let reader = try VirtualProcess(folder.path())
        do {
            let process = try VirtualProcess(folder.path())
            for number in 0..<100 { try process.add("\(number)", tags: [String(repeating: "x", count: 3_000)]) }
            try reader.refresh()
            try process.add("last")
        }
        #expect(try reader.noteCount == 100)
        #expect(try reader.tags(100).count == 1)
        try reader.refresh()
        #expect(try reader.noteCount == 101)
        #expect(try reader.integrity == .text("ok"))
    }

    @Test("the log does not grow while a reader refreshes after each commit")
    func logDoesNotGrow() throws {
        let folder = try TestFolder()
        let writer = try VirtualProcess(folder.path())
        let follower = VirtualProcess(writer.coordinator)
        var largest = 0
        for number in 0..<1_200 {
            try writer.add("\(number)", tags: [String(repeating: "x", count: 500)])
            try follower.refresh()
            if number.isMultiple(of: 50) { try writer.coordinator.checkpoint() }
            largest = max(largest, size(folder.path() + "-wal"))
        }
        #expect(largest < 3 << 20, "\(largest) bytes")
        #expect(try follower.noteCount == 1_200)
        #expect(try writer.integrity == .text("ok"))
    }

    @Test("a handle that stops using the log keeps its version and its rows, and can refresh and write")
    func leavingTheLog() throws {
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path())
        for number in 0..<10 { try process.add("\(number)", tags: ["a"]) }
        let reader = VirtualProcess(process.coordinator)
        try reader.refresh()
        let version = reader.handle?.version
        let (frames, copied) = try process.coordinator.checkpoint()
        #expect(frames == copied)
        for number in 0..<3 { try process.add("\(number)") }
        try process.coordinator.checkpoint()
        #expect(reader.handle?.version == version)
        #expect(try reader.noteCount == 10)
        #expect(try reader.tags(10) == [.text("a")])
        try reader.refresh()
        #expect(try reader.noteCount == 13)
        try reader.add("by the reader")
        #expect(try reader.integrity == .text("ok"))
    }

    @Test("a commit that makes the log long triggers a checkpoint in the background")
    func backgroundCheckpoint() async throws {
        let folder = try TestFolder()
        let (stream, ends) = AsyncStream<Void>.makeStream()
        let process = try VirtualProcess(folder.path()) {
            $0.environment.checkpointFrames = 50
            $0.environment.writeTimeoutMilliseconds = 30_000
            $0.environment.onYield = { if $0 == .insideCheckpoint { ends.yield() } }
        }
        try process.write { transaction in
            for number in 0..<100 { try transaction.addNote("\(number)", tags: [String(repeating: "x", count: 3_000)]) }
        }
        for await _ in stream { break }
        // The checkpoint has ended when the next writer gets the write lock.
        try process.add("next")
        #expect(size(folder.path()) > 100 * 3_000)
    }
}
