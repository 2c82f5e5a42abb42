import CMartletSQLite
import CMartletTestVFS
import Foundation
import Synchronization
import Testing

/// Tests the test VFS and the test disk with plain SQLite. Known failures of SQLite must occur with this VFS and this
/// disk: commits that a checkpoint loses, and transactions that a power cut loses.
@Suite("test VFS")
struct TestVFSTests {
    // MARK: Checkpoint race

    /// In SQLite before 3.51.3, a commit can restart the WAL after a checkpoint has read the header of the WAL index.
    /// The checkpoint then marks frames of the new WAL as copied, although it has not copied them. Later commits are
    /// lost.
    @Test("without the write lock, a checkpoint that races a commit loses acknowledged rows")
    func checkpointRaceLosesRows() throws {
        let outcome = try CheckpointRace(holdsWriteLock: false).run()
        #expect(outcome.racingCommit == nil, "the racing commit is acknowledged")
        guard sqlite3_libversion_number() < 3_051_003 else {
            print("note: SQLite \(String(cString: sqlite3_libversion())) has the fix, so no loss can be shown")
            #expect(outcome.rowsFound == outcome.rowsAcknowledged)
            return
        }
        #expect(outcome.rowsFound < outcome.rowsAcknowledged)
    }

    @Test("a checkpoint under the write lock of a second connection loses nothing")
    func checkpointUnderWriteLockLosesNothing() throws {
        let outcome = try CheckpointRace(holdsWriteLock: true).run()
        #expect(outcome.racingCommit == SQLITE_BUSY, "the racing commit fails, and is repeated")
        #expect(outcome.rowsFound == outcome.rowsAcknowledged)
        #expect(outcome.integrity == "ok")
    }

    // MARK: Power loss

    @Test("with synchronous=FULL, no power cut loses an acknowledged transaction, and none is stored in part")
    func fullSurvivesPowerLoss() throws {
        let losses = try PowerLossSweep(synchronous: "FULL", seedsPerPoint: 4).run()
        #expect(losses.points > 100)
        #expect(losses == PowerLosses(points: losses.points))
    }

    @Test("with synchronous=OFF, power cuts lose transactions, which shows that the test disk can lose data")
    func offDoesNotSurvivePowerLoss() throws {
        let losses = try PowerLossSweep(synchronous: "OFF", seedsPerPoint: 4).run()
        #expect(losses.lost > 0)
        #expect(losses.corrupt + losses.unopenable > 0)
    }

    @Test("a power cut at the same operation and with the same seed damages the disk in the same way")
    func damageIsDeterministic() throws {
        let sweep = PowerLossSweep(synchronous: "OFF", seedsPerPoint: 1)
        let disks = [PowerLossDisk(), PowerLossDisk()]
        for disk in disks {
            _ = sweep.work(on: disk, cutAt: 57)
            #expect(disk.isOff)
            disk.restart(damage: .torn, seed: 7)
        }
        // Only the database files are compared, because the WAL contains random salts of SQLite.
        let bytes = disks.map { $0.bytes(of: sweep.path) }
        #expect(bytes[0]?.isEmpty == false)
        let isSame = bytes[0] == bytes[1]
        #expect(isSame)
    }

    @Test("a killed process loses its locks but no byte, and its connections fail")
    func killedProcess() throws {
        let disk = PowerLossDisk()
        let victim = try RawConnection("a.db", vfs: disk.name)
        try victim.execute("PRAGMA journal_mode=WAL; CREATE TABLE t(v); BEGIN IMMEDIATE; INSERT INTO t VALUES(1)")
        let other = try RawConnection("a.db", vfs: disk.name)
        #expect(throws: RawError(code: SQLITE_BUSY, sql: "BEGIN IMMEDIATE")) { try other.execute("BEGIN IMMEDIATE") }
        other.close()

        disk.killProcesses()
        #expect(throws: RawError.self) { try victim.execute("COMMIT") }
        let survivor = try RawConnection("a.db", vfs: disk.name)
        try survivor.execute("INSERT INTO t VALUES(2)")
        #expect(try survivor.integer("SELECT sum(v) FROM t") == 2)
        survivor.close()
        victim.close()
        #expect(disk.openFileCount == 0)
    }

    // MARK: Faults

    @Test("a failing sync makes one commit fail with the error code of the sync")
    func syncFault() throws {
        let disk = PowerLossDisk()
        let vfs = HookVFS(over: disk.name)
        let connection = try RawConnection("a.db", vfs: vfs.name)
        try connection.execute("PRAGMA journal_mode=WAL; CREATE TABLE t(v)")
        vfs.fail(.sync, of: .wal, result: ioErrorFsync)
        #expect(throws: RawError(code: ioErrorFsync, sql: "INSERT INTO t VALUES(1)")) {
            try connection.execute("INSERT INTO t VALUES(1)")
        }
        try connection.execute("INSERT INTO t VALUES(2)")
        #expect(try connection.text("SELECT group_concat(v) FROM t") == "2")
        #expect(vfs.faultCount == 1)
    }

    @Test("a full disk remains full until the faults are cleared")
    func persistentFault() throws {
        let disk = PowerLossDisk()
        let vfs = HookVFS(over: disk.name)
        let connection = try RawConnection("a.db", vfs: vfs.name)
        try connection.execute("PRAGMA journal_mode=WAL; CREATE TABLE t(v)")
        vfs.fail(.write, persists: true, result: SQLITE_FULL)
        for _ in 0..<3 {
            #expect(throws: RawError(code: SQLITE_FULL, sql: "INSERT INTO t VALUES(1)")) {
                try connection.execute("INSERT INTO t VALUES(1)")
            }
        }
        vfs.clearFaults()
        try connection.execute("INSERT INTO t VALUES(2)")
        #expect(try connection.text("SELECT group_concat(v) FROM t") == "2")
    }

    @Test("acknowledged transactions remain complete, whichever call fails", arguments: [false, true])
    func everyFault(persists: Bool) throws {
        let disk = PowerLossDisk()
        var position = 0
        var wasHit = true
        while wasHit {
            position += 1
            disk.reset()
            let vfs = HookVFS(over: disk.name)
            vfs.fail(.any, at: position, persists: persists)
            let sweep = PowerLossSweep(synchronous: "FULL", seedsPerPoint: 1, transactions: 3)
            let acknowledged = sweep.work(vfs: vfs.name)
            wasHit = vfs.faultCount > 0
            let losses = sweep.losses(on: disk, acknowledged: acknowledged)
            #expect(losses == PowerLosses(points: 1), "fault \(position)")
        }
        #expect(position > 50)
    }

    // MARK: Counters, hooks

    @Test("calls are counted by kind and role, also over real files")
    func counters() throws {
        let folder = try TemporaryFolder()
        let vfs = HookVFS()
        let connection = try RawConnection(folder.path("a.db"), vfs: vfs.name)
        try connection.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t(v)")
        vfs.clearCounts()
        try connection.execute("INSERT INTO t VALUES(1)")
        #expect(vfs.count(.sync, of: .wal) == 1)
        #expect(vfs.count(.write, of: .main) == 0)
        #expect(vfs.count(.write) == vfs.count(.write, of: .wal))
        #expect(vfs.openFileCount == 2)
        connection.close()
        #expect(vfs.openFileCount == 0)
    }

    @Test("a hook runs before each call, and may use SQLite")
    func hooks() throws {
        let disk = PowerLossDisk()
        let vfs = HookVFS(over: disk.name)
        let connection = try RawConnection("a.db", vfs: vfs.name)
        try connection.execute("PRAGMA journal_mode=WAL; CREATE TABLE t(v)")
        let seen = Mutex<[Int]>([])
        let name = vfs.name
        vfs.onEach(.sync) { event in
            guard event.role == .wal, let other = try? RawConnection("a.db", vfs: name) else { return }
            let count = (try? other.integer("SELECT count(*) FROM t")) ?? -1
            seen.withLock { $0.append(count) }
        }
        try connection.execute("INSERT INTO t VALUES(1)")
        try connection.execute("INSERT INTO t VALUES(2)")
        vfs.removeHook(.sync)
        #expect(seen.withLock { $0 } == [0, 1])
    }
}

/// `SQLITE_IOERR_FSYNC`, a macro that Swift does not import.
private let ioErrorFsync: CInt = SQLITE_IOERR | (4 << 8)

// MARK: - Scenarios

/// Interrupts a checkpoint after it has read the header of the WAL index and before it copies frames. Another
/// connection commits in this interval and restarts the WAL.
private struct CheckpointRace {
    /// Whether a third connection holds the write lock during the checkpoint.
    let holdsWriteLock: Bool

    struct Outcome {
        /// The error code of the commit during the checkpoint; nil for success.
        var racingCommit: CInt?
        var rowsAcknowledged: Int
        var rowsFound: Int
        var integrity: String
    }

    private static let rows = 400
    private static let update = "UPDATE t SET v = v + 1000"
    private static let racingCommitSQL = """
        BEGIN IMMEDIATE; UPDATE t SET v = -1 WHERE id = 1;
        INSERT INTO t(v, pad) VALUES(-2, zeroblob(300)); COMMIT
        """

    func run() throws -> Outcome {
        let folder = try TemporaryFolder()
        let path = folder.path("race.db")
        let vfs = HookVFS()
        let writer = try open(path, vfs)
        try writer.execute(
            """
            PRAGMA journal_mode=WAL;
            CREATE TABLE t(id INTEGER PRIMARY KEY, v INTEGER, pad BLOB);
            WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < \(Self.rows))
            INSERT INTO t SELECT i, i, zeroblob(300) FROM n
            """)
        let late = try open(path, vfs)
        let early = try open(path, vfs)
        // Both connections read the header of the WAL index here. The next commit makes this header outdated, so the
        // checkpoint of `late` calls `xUnfetch`, which runs the hook.
        _ = try late.integer("SELECT count(*) FROM t")
        _ = try early.integer("SELECT count(*) FROM t")

        try writer.execute(Self.update)
        let first = try early.checkpointPassively()
        #expect(first.logged == first.checkpointed, "all frames are copied, so the next commit restarts the WAL")

        if holdsWriteLock { try early.execute("BEGIN IMMEDIATE") }
        let racingCommit = raceOneCommit(of: writer, against: late, vfs)
        if holdsWriteLock { try early.execute("ROLLBACK") }
        if racingCommit != nil { try writer.execute(Self.racingCommitSQL) }

        for value in 5000..<5003 { try writer.execute("INSERT INTO t(v, pad) VALUES(\(value), zeroblob(300))") }
        let fresh = try open(path, vfs)
        return Outcome(
            racingCommit: racingCommit,
            rowsAcknowledged: Self.rows + 4,
            rowsFound: try fresh.integer("SELECT count(*) FROM t NOT INDEXED"),
            integrity: try fresh.text("PRAGMA integrity_check"))
    }

    private func open(_ path: String, _ vfs: HookVFS) throws -> RawConnection {
        let connection = try RawConnection(path, vfs: vfs.name)
        try connection.execute("PRAGMA wal_autocheckpoint=0")
        return connection
    }

    /// Runs a checkpoint through `late`, and lets the writer commit during the checkpoint. Returns the error code of
    /// the commit.
    private func raceOneCommit(of writer: RawConnection, against late: RawConnection, _ vfs: HookVFS) -> CInt? {
        // The hook runs on this thread, inside the checkpoint below.
        nonisolated(unsafe) unowned let writer = writer
        let failure = Mutex<CInt?>(nil)
        let hasRun = Mutex(false)
        vfs.onNext(.unfetch) {
            hasRun.withLock { $0 = true }
            do throws(RawError) {
                try writer.execute(Self.racingCommitSQL)
            } catch {
                if writer.isInTransaction { try? writer.execute("ROLLBACK") }
                failure.withLock { $0 = error.code }
            }
        }
        #expect(throws: Never.self) { try late.checkpointPassively() }
        vfs.removeHook(.unfetch)
        #expect(hasRun.withLock { $0 }, "the checkpoint was interrupted")
        return failure.withLock { $0 }
    }
}

/// The damage that power cuts caused.
private struct PowerLosses: Equatable {
    /// The number of power cuts.
    var points = 0
    var unopenable = 0
    var corrupt = 0
    /// The number of transactions that are stored in part.
    var torn = 0
    /// The number of runs in which an acknowledged transaction is missing.
    var lost = 0
}

/// Cuts the power at every disk operation of a few transactions, and checks the database after each power cut.
private struct PowerLossSweep {
    let synchronous: String
    let seedsPerPoint: UInt64
    var transactions = 12
    let path = "m.db"

    func run() throws -> PowerLosses {
        let disk = PowerLossDisk()
        _ = work(on: disk, cutAt: 0)
        let operations = disk.operationCount
        var sum = PowerLosses()
        for operation in 1...operations {
            for seed in 0..<seedsPerPoint {
                disk.reset()
                let acknowledged = work(on: disk, cutAt: operation)
                #expect(disk.isOff)
                disk.restart(damage: .mixed, seed: UInt64(operation) << 16 | seed)
                let losses = losses(on: disk, acknowledged: acknowledged)
                sum.points += losses.points
                sum.unopenable += losses.unopenable
                sum.corrupt += losses.corrupt
                sum.torn += losses.torn
                sum.lost += losses.lost
            }
        }
        disk.reset()
        return sum
    }

    func work(on disk: PowerLossDisk, cutAt operation: Int) -> Int {
        disk.cutPower(at: operation)
        return work(vfs: disk.name)
    }

    /// Commits transactions of three rows each, with some checkpoints. Returns the number of the last acknowledged
    /// transaction; 0 if there is none.
    func work(vfs: String) -> Int {
        var acknowledged = 0
        guard let connection = try? RawConnection(path, vfs: vfs) else { return 0 }
        try? connection.execute(
            """
            PRAGMA journal_mode=WAL; PRAGMA synchronous=\(synchronous); PRAGMA wal_autocheckpoint=0;
            PRAGMA cache_size=10; CREATE TABLE t(tx INTEGER, b BLOB); CREATE INDEX i ON t(tx);
            """)
        for number in 1...transactions {
            do {
                try connection.execute(
                    """
                    BEGIN IMMEDIATE; INSERT INTO t VALUES(\(number), zeroblob(300)), (\(number), zeroblob(900)),
                    (\(number), zeroblob(20)); COMMIT
                    """)
                acknowledged = number
            } catch {
                if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            }
            if number.isMultiple(of: 4) { _ = try? connection.checkpointPassively() }
        }
        return acknowledged
    }

    /// The damage that a new connection finds.
    func losses(on disk: PowerLossDisk, acknowledged: Int) -> PowerLosses {
        var losses = PowerLosses(points: 1)
        do throws(RawError) {
            let connection = try RawConnection(path, vfs: disk.name)
            let hasTable = try connection.integer("SELECT count(*) FROM sqlite_schema WHERE name = 't'") == 1
            guard hasTable else {
                losses.lost += acknowledged > 0 ? 1 : 0
                return losses
            }
            if try connection.text("PRAGMA integrity_check(1)") != "ok" { losses.corrupt += 1 }
            losses.torn += try connection.integer(
                "SELECT count(*) FROM (SELECT tx FROM t GROUP BY tx HAVING count(*) <> 3)")
            let last = try connection.integer("SELECT coalesce(max(tx), 0) FROM t")
            if last < acknowledged { losses.lost += 1 }
        } catch {
            losses.unopenable += 1
        }
        return losses
    }
}

/// A temporary folder that is deleted with this object.
private final class TemporaryFolder {
    private let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "martlet-vfs-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appending(path: name).path }
}
