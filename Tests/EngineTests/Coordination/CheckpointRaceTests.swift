import CMartletTestVFS
import Foundation
import MartletSQLite
import MartletValues
import Synchronization
import Testing

@testable import MartletEngine

/// SQLite before 3.51.3 can lose committed transactions when a checkpoint races a commit. Therefore the engine runs
/// checkpoints only under the write lock. These tests interrupt a checkpoint of the engine after it has read the header
/// of the log and before it copies frames. Another process commits in this interval.
@Suite("checkpoint race")
struct CheckpointRaceTests {
    @Test("without the write lock, a checkpoint that races a commit loses acknowledged rows")
    func withoutWriteLock() throws {
        let outcome = try StoreCheckpointRace(checkpointsUnderWriteLock: false).run()
        #expect(outcome.racingCommit == nil, "the racing commit is acknowledged")
        guard Connection.libraryVersion < 3_051_003 else {
            print("note: SQLite \(Connection.libraryVersionText) has the fix, so no loss can be shown")
            #expect(outcome.rowsFound == outcome.rowsAcknowledged)
            return
        }
        #expect(outcome.rowsFound < outcome.rowsAcknowledged)
    }

    @Test("under the write lock, a checkpoint blocks the racing commit, and no row is lost D6")
    func withWriteLock() throws {
        let outcome = try StoreCheckpointRace(checkpointsUnderWriteLock: true).run()
        #expect(outcome.racingCommit == .busy, "the checkpoint holds the write lock")
        #expect(outcome.rowsFound == outcome.rowsAcknowledged)
        #expect(outcome.oldRows == 0)
        #expect(outcome.integrity == .text("ok"))
    }

    @Test("a checkpoint under the write lock also blocks a program that uses SQLite directly D6")
    func foreignWriter() throws {
        let outcome = try StoreCheckpointRace(checkpointsUnderWriteLock: true, isForeign: true).run()
        #expect(outcome.racingCommit == .busy, "the checkpoint holds SQLite's write lock")
        #expect(outcome.rowsFound == outcome.rowsAcknowledged)
        #expect(outcome.oldRows == 0)
        #expect(outcome.integrity == .text("ok"))
    }

    @Test("no connection runs a checkpoint automatically D6")
    func onlyOwnCheckpoints() throws {
        let folder = try TestFolder()
        let vfs = HookVFS()
        let process = try VirtualProcess(folder.path()) { $0.environment.vfsName = vfs.name }
        vfs.clearCounts()
        try process.write { transaction in
            for number in 0..<4_000 {
                try transaction.addNote("\(number)", tags: [String(repeating: "x", count: 1_500)])
            }
        }
        for number in 0..<20 { try process.add("\(number)") }
        process.handle = nil
        #expect(
            vfs.count(.write, of: .main) == 0, "the log is far longer than SQLite's default limit of a thousand pages")
        let (frames, copied) = try process.coordinator.checkpoint()
        #expect(frames > 1_000 && frames == copied)
        #expect(vfs.count(.write, of: .main) > 0)
    }
}

/// Three processes use one file: `writer`, `early`, which runs a checkpoint before the race, and `late`, whose
/// checkpoint the race interrupts.
private struct StoreCheckpointRace {
    let checkpointsUnderWriteLock: Bool
    /// Whether a program that uses SQLite directly makes the racing commit.
    var isForeign = false

    struct Outcome {
        /// The error of the commit during the checkpoint; nil for success.
        var racingCommit: EngineError.Code?
        var rowsAcknowledged: Int
        var rowsFound: Int
        /// The number of rows that do not contain the value that an acknowledged update wrote into all rows.
        var oldRows: Int64?
        var integrity: SQLValue?
    }

    private static let rows = 400

    func run() throws -> Outcome {
        let folder = try TestFolder()
        let vfs = HookVFS()
        let writer = try open(folder, vfs)
        try writer.write { transaction in
            for _ in 0..<Self.rows { try transaction.addNote(String(repeating: "x", count: 300)) }
        }
        writer.handle = nil
        let late = try open(folder, vfs)
        let early = try open(folder, vfs)
        // Both processes read the header of the log. The next commit makes the header that `late` has read outdated.
        try late.coordinator.checkpoint()
        try early.coordinator.checkpoint()
        try writer.write { try $0.handle.read { try $0.run("UPDATE Note SET batch = 1") } }
        writer.handle = nil
        let first = try early.coordinator.checkpoint()
        #expect(first.logFrames == first.copiedFrames, "all frames are copied, so the next commit restarts the log")

        let racingCommit = try race(writer, late, vfs, folder)
        if racingCommit != nil { try writer.add("racing", batch: 1) }
        for number in 0..<3 { try writer.add("after \(number)", batch: 1) }
        writer.handle = nil
        let fresh = try open(folder, vfs)
        return Outcome(
            racingCommit: racingCommit, rowsAcknowledged: Self.rows + 4, rowsFound: try fresh.noteCount,
            oldRows: try fresh.integer("SELECT count(*) FROM Note NOT INDEXED WHERE batch = 0"),
            integrity: try fresh.integrity)
    }

    private func open(_ folder: TestFolder, _ vfs: HookVFS) throws -> VirtualProcess {
        try VirtualProcess(folder.path()) {
            $0.environment.vfsName = vfs.name
            $0.environment.checkpointsUnderWriteLock = checkpointsUnderWriteLock
        }
    }

    /// Runs a checkpoint in `late`, and lets the writer commit during the checkpoint. Returns the error of the commit.
    private func race(
        _ writer: VirtualProcess, _ late: VirtualProcess, _ vfs: HookVFS, _ folder: TestFolder
    ) throws -> EngineError.Code? {
        // The hook runs on this thread, inside the checkpoint below.
        nonisolated(unsafe) unowned let writer = writer
        let path = folder.path()
        let name = vfs.name
        let isForeign = isForeign
        let failure = Mutex<EngineError.Code?>(nil)
        let hasRun = Mutex(false)
        vfs.onNext(.unfetch) {
            hasRun.withLock { $0 = true }
            let error =
                isForeign
                ? Self.writeDirectly(path, name) : engineError { try writer.add("racing", batch: 1) }
            // Releases the snapshot of the writer, because a reader of the new log would block the checkpoint.
            writer.handle = nil
            failure.withLock { $0 = error?.code }
        }
        try late.coordinator.checkpoint()
        vfs.removeHook(.unfetch)
        #expect(hasRun.withLock { $0 }, "the checkpoint was interrupted")
        return failure.withLock { $0 }
    }

    private static func writeDirectly(_ path: String, _ vfs: String) -> EngineError? {
        engineError {
            do throws(RawError) {
                let connection = try RawConnection(path, vfs: vfs)
                try connection.execute("PRAGMA wal_autocheckpoint = 0; UPDATE Note SET batch = 1 WHERE _key = 1")
            } catch {
                throw EngineError(error.code & 0xff == 5 ? .busy : .inputOutput, path: path, "\(error)")
            }
        }
    }
}
