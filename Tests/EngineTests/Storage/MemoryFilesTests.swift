import Foundation
import MartletSQLite
import MartletTestSupport
import MartletValues
import ModelTesting
import Synchronization
import Testing

@testable import MartletEngine

/// Tests of databases in memory. They run one at a time, because they check the number and size of all files in memory.
@Suite("files in memory", .serialized)
struct MemoryFilesTests {
    private func options(
        _ path: String, _ adjust: (inout StoreOptions) -> Void = { _ in }
    ) -> StoreOptions {
        VirtualProcess.options(path) {
            $0.isTemporary = true
            adjust(&$0)
        }
    }

    private func opened(_ path: String, _ adjust: (inout StoreOptions) -> Void = { _ in }) throws -> VirtualProcess {
        VirtualProcess(try StoreRegistry.coordinator(options(path, adjust)))
    }

    private var path: String { StoreFiles.memoryPath(identifier: "test/\(UUID().uuidString) ü") }

    @Test(
        "a database in memory is shared, is deleted with its last user, and is never written to a file system D90"
    )
    func lifetime() throws {
        let path = path
        do {
            let process = try opened(path)
            try process.add("a")
            #expect(StoreFiles.exists(path) && StoreFiles.logBytes(path) > 0)
            let again = try opened(path)
            #expect(try again.noteCount == 1)
            for suffix in StoreFiles.suffixes { #expect(access(path + suffix, F_OK) != 0) }
            #expect(!openFiles.contains { $0.contains("memory:") })
        }
        for suffix in StoreFiles.suffixes { #expect(!StoreFiles.exists(path + suffix)) }
        #expect(memoryIsReleased())
        #expect(try opened(path).noteCount == 0)
    }

    // Tests of other suites, which run at the same time, may have files in memory. These tests end in less than five
    // minutes.
    private func memoryIsReleased() -> Bool {
        let deadline = ContinuousClock.now + .seconds(300)
        while MemoryFiles.usage != (0, 0) {
            if ContinuousClock.now > deadline { return false }
            sched_yield()
        }
        return true
    }

    // The names of the files that this process has open. Empty on systems other than Linux.
    private var openFiles: [String] {
        let folder = "/proc/self/fd"
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
        }
    }

    @Test("different identifiers name different databases D90")
    func names() {
        let long = String(repeating: "a", count: 4_000)
        #expect(StoreFiles.memoryPath(identifier: long + "1") != StoreFiles.memoryPath(identifier: long + "2"))
        #expect(StoreFiles.memoryPath(identifier: long).utf8.count < 500)
        #expect(StoreFiles.memoryPath(identifier: "a/b") != StoreFiles.memoryPath(identifier: "a%47%b"))
        #expect(StoreFiles.memoryPath(identifier: "a\0b") != StoreFiles.memoryPath(identifier: "a%0%b"))
    }

    @Test("readers keep their version during writes and checkpoints D91")
    func versions() throws {
        let process = try opened(path)
        for number in 0..<50 { try process.add("\(number)", tags: ["x"]) }
        let reader = VirtualProcess(process.coordinator)
        #expect(try reader.noteCount == 50)
        for number in 0..<50 { try process.add("\(number)") }
        try process.coordinator.checkpoint()
        #expect(try reader.noteCount == 50)
        #expect(try process.noteCount == 100)
        #expect(try process.integrity == .text("ok"))
        try reader.refresh()
        process.handle = nil
        let (frames, copied) = try process.coordinator.checkpoint()
        #expect(frames == copied)
        #expect(try reader.noteCount == 100)
        #expect(try reader.integrity == .text("ok"))
    }

    @Test("concurrent writers and readers lose nothing D91")
    func threads() throws {
        let path = path
        let process = try opened(path) {
            $0.environment.writeTimeoutMilliseconds = 60_000
            $0.environment.checkpointFrames = 40
        }
        let coordinator = process.coordinator
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 6) { number in
            do {
                let own = VirtualProcess(coordinator)
                for count in 0..<40 {
                    if number.isMultiple(of: 2) { try own.add("\(number) \(count)", tags: ["a", "b"]) }
                    try own.refresh()
                    let (notes, tags) = (try own.noteCount, try own.integer("SELECT count(*) FROM \"Note.tags\""))
                    if notes != tags.map(Int.init) {
                        failures.withLock { $0.append("\(notes) notes, \(tags ?? 0) lists") }
                    }
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        StoreCoordinator.waitForCheckpoints()
        #expect(failures.withLock { $0 } == [])
        try process.refresh()
        #expect(try process.noteCount == 120)
        #expect(try process.integrity == .text("ok"))
    }

    @Test("a database in memory may be larger than 64 MB, a usual limit of '/dev/shm'; closing it frees its memory D91")
    func large() throws {
        do {
            let process = try opened(path)
            let text = String(repeating: "x", count: 1 << 20)
            for _ in 0..<9 {
                try process.write { transaction in for _ in 0..<8 { try transaction.addNote(text) } }
            }
            #expect(MemoryFiles.usage.bytes > 64 << 20)
            #expect(try process.integer("SELECT sum(length(text)) FROM Note") == 72 << 20)
        }
        #expect(memoryIsReleased())
    }

    @Test("a database is copied from memory to disk and from disk to memory D91")
    func copies() throws {
        let folder = try TestFolder()
        let name = "copy 100% ü?#.realm"
        do {
            let process = try opened(path) { $0.fileMode = 0o640 }
            try process.add("a", tags: ["b"])
            try process.coordinator.writeCopy(to: folder.path(name))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [name])
        do {
            let seeded = try opened(path) { $0.seedPath = folder.path(name) }
            #expect(try seeded.tags(1) == [.text("b")])
            try seeded.add("c")
            #expect(try seeded.noteCount == 2)
        }
        #expect(memoryIsReleased())
        #expect(try VirtualProcess(folder.path(name)).noteCount == 1)
    }

    @Test("a database in memory is compacted in memory D91")
    func compaction() throws {
        let path = path
        let keeper = try Connection(ConnectionOptions(path: path))
        defer {
            keeper.close()
            StoreFiles.remove(path)
        }
        let text = String(repeating: "x", count: 100_000)
        do {
            let process = try VirtualProcess(path)
            try process.write { transaction in for _ in 0..<20 { try transaction.addNote(text) } }
            try process.write { transaction in
                try transaction.handle.read { try $0.run("DELETE FROM Note WHERE _key > 1") }
            }
            process.handle = nil
            try process.coordinator.compact()
        }
        #expect(MemoryFiles.size(path).map { $0 < 300_000 } == true)
        #expect(try VirtualProcess(path).noteCount == 1)
    }

    @Test("after random writes and truncations, files contain the bytes that were written last")
    func bytes() throws {
        var random = SeededRandom(seed: 41)
        let path = path
        let connection = try Connection(ConnectionOptions(path: path))
        defer {
            connection.close()
            StoreFiles.remove(path)
        }
        // SQLite writes, frees and truncates pages of blobs. The blobs are compared with a model.
        try connection.execute("PRAGMA auto_vacuum = FULL; CREATE TABLE t (id INTEGER PRIMARY KEY, bytes BLOB)")
        var model: [Int64: [UInt8]] = [:]
        for step in 0..<400 {
            let id = Int64.random(in: 0..<12, using: &random)
            if Int.random(in: 0..<3, using: &random) == 0 {
                try connection.run("DELETE FROM t WHERE id = ?1", [.integer(id)])
                model[id] = nil
            } else {
                let count = Int.random(in: 0..<150_000, using: &random)
                let bytes = [UInt8](repeating: UInt8(step % 251), count: count)
                try connection.run("REPLACE INTO t VALUES (?1, ?2)", [.integer(id), .blob(bytes)])
                model[id] = bytes
            }
        }
        #expect(try connection.value("PRAGMA integrity_check") == .text("ok"))
        for (id, bytes) in model {
            #expect(try connection.value("SELECT bytes FROM t WHERE id = ?1", [.integer(id)]) == .blob(bytes))
        }
        #expect(try connection.integer("SELECT count(*) FROM t") == Int64(model.count))
    }
}
