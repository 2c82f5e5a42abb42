import CMartletRuntime
import Dispatch
import Foundation
import MartletSQLite
import Synchronization

/// The write lock of a database: a semaphore for the threads of this process, and a lock on a file beside the database
/// for all processes. A database in memory has only one process and no lock file.
///
/// A `flock` lock belongs to the open file and not to the process. Closing another descriptor of the lock file
/// therefore does not release the lock. (SQLite's locks on the database file belong to the process, and closing any
/// descriptor of the database file releases them.)
///
/// While a writer waits for the lock, another program may delete or replace the lock file. The lock on the old file
/// then protects nothing, so the writer opens and locks the file that is now at the path.
///
/// Thread safety: only the holder of `semaphore` opens the file or writes to it. The number of the open descriptor does
/// not change, but `reopen` may redirect the descriptor to another file. `isDatabaseOpen` is set before other threads
/// use this object.
// Sendable as described above.
final class WriteLock: @unchecked Sendable {
    private let path: String
    private let file: LockFile?
    /// True if the database is open. If the database and its lock file are then deleted, a writer that has the lock
    /// file open does not create another lock file.
    var isDatabaseOpen = false
    private let semaphore = DispatchSemaphore(value: 1)
    private let opened = Atomic<Int32>(-1)
    private var descriptor: Int32 { opened.load(ordering: .acquiring) }
    /// The lock file that this object has open. Guarded by `semaphore`.
    private var openedFile: FileIdentity?
    /// The name of the log that this object last wrote to the open lock file. Nil if it has written no name. Guarded by
    /// `semaphore`.
    private var writtenLog: UInt64?
    private let environment: Environment

    init(path: String, environment: Environment) {
        self.path = path
        file = MemoryFiles.contains(path) ? nil : LockFile(path: path)
        self.environment = environment
    }

    deinit {
        closeDescriptor()
    }

    private func closeDescriptor() {
        let descriptor = opened.exchange(-1, ordering: .acquiringAndReleasing)
        guard descriptor >= 0 else { return }
        cmartlet_block_forks()
        defer { cmartlet_unblock_forks() }
        // In a forked child, the descriptor number may belong to another file.
        if cmartlet_remove_lock(descriptor) { close(descriptor) }
    }

    /// Acquires the lock. Waits for the other threads of this process, and then for the other processes.
    func acquire() throws(EngineError) { try acquire(timeoutMilliseconds: environment.writeTimeoutMilliseconds) }

    /// Acquires the lock. Waits for it for at most `milliseconds`.
    func acquire(timeoutMilliseconds milliseconds: Int) throws(EngineError) {
        environment.wait(.writeLock) { [self] in isFree }
        let deadline = environment.now() + UInt64(milliseconds) * 1_000_000
        try waitForThreads(deadline)
        do {
            try acquireFile(deadline: deadline)
        } catch {
            semaphore.signal()
            throw error
        }
    }

    // On Linux, Dispatch waits on the real-time clock, which may be set while this thread waits. Therefore this method
    // also reads the monotonic clock, at least once per second.
    private func waitForThreads(_ deadline: UInt64) throws(EngineError) {
        while true {
            let now = environment.now()
            let nanoseconds = min(deadline > now ? deadline - now : 0, 1_000_000_000)
            if semaphore.wait(timeout: .now() + .nanoseconds(Int(nanoseconds))) == .success { return }
            guard environment.now() < deadline else {
                throw EngineError(
                    .busy, path: path,
                    "another thread kept its write transaction open for too long; try again when that write has ended")
            }
        }
    }

    /// Acquires the lock if it is free. Does not wait.
    func tryAcquire() -> Bool {
        guard semaphore.wait(timeout: .now()) == .success else { return false }
        if tryLockingFile() { return true }
        semaphore.signal()
        return false
    }

    private func tryLockingFile() -> Bool {
        guard let file else { return true }
        while (try? openFile(file)) != nil, flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
            if isCurrent(file) { return true }
            guard (try? reopen(file)) != nil else { break }
        }
        return false
    }

    func release() {
        unlock()
        environment.yield(.afterRelease)
    }

    private func unlock() {
        if file != nil { _ = flock(descriptor, LOCK_UN) }
        semaphore.signal()
    }

    /// Called in a forked child, in which the descriptor does not refer to the lock file any more. The object itself is
    /// leaked: Dispatch does not allow a semaphore to be deallocated while it is held, and the thread that would signal
    /// it exists only in the parent.
    func abandon() {
        closeDescriptor()
        _ = Unmanaged.passRetained(self)
    }

    private var isFree: Bool {
        guard tryAcquire() else { return false }
        unlock()
        return true
    }

    // MARK: Words in the lock file

    /// Writes the number of a committed version for the processes that watch the file. Writes nothing if there is no
    /// watcher except `own`. The caller holds the lock.
    func record(_ version: Version, besides own: WatchLock? = nil) {
        guard file != nil, WatchLock.isWatched(descriptor, besides: own) else { return }
        var number = version.littleEndian
        _ = pwrite(descriptor, &number, MemoryLayout<Version>.size, 0)
    }

    /// Describes a checkpoint that copied the whole log: the version in the database file, and a serial number.
    struct CheckpointRecord: Equatable {
        let version: Version
        let number: UInt64
    }

    /// Records that the database file contains a version completely. The processes that read this version through the
    /// log then read it from the database file instead, because the log cannot restart while a process reads the log.
    /// The caller holds the lock.
    func record(copied version: Version) -> CheckpointRecord {
        let record = CheckpointRecord(version: version, number: (recordedCheckpoint?.number ?? 0) &+ 1)
        guard file != nil else { return record }
        var words = [record.version.littleEndian, record.number.littleEndian]
        _ = pwrite(descriptor, &words, 16, 8)
        return record
    }

    /// Writes the name of a log to the lock file. Does nothing if this is the name that this object wrote last. The
    /// caller holds the lock.
    func record(log: UInt64) {
        guard file != nil, writtenLog != log else { return }
        var name = log.littleEndian
        writtenLog = pwrite(descriptor, &name, 8, Self.logOffset) == 8 ? log : nil
    }

    /// The name of the newest log. Nil if it is unknown.
    var recordedLog: UInt64? { words(at: Self.logOffset, count: 1).flatMap { $0[0] == 0 ? nil : $0[0] } }

    // The documentation of `LockFile` describes the layout.
    private static let logOffset: off_t = 64

    /// The version that a process last wrote to the lock file. Nil if it is unknown. Later versions may exist.
    var recordedVersion: Version? { words(at: 0, count: 1)?[0] }

    /// The checkpoint that a process last wrote to the lock file. Nil if it is unknown.
    var recordedCheckpoint: CheckpointRecord? {
        words(at: 8, count: 2).map { CheckpointRecord(version: $0[0], number: $0[1]) }
    }

    private func words(at offset: off_t, count: Int) -> [UInt64]? {
        guard let file else { return nil }
        var words = [UInt64](repeating: 0, count: count)
        var descriptor = descriptor
        // If this object has not opened the lock file yet, or if the file was replaced since, this method opens the
        // file at the path for this call only.
        let isTemporary = descriptor < 0 || !file.isCurrent(descriptor)
        if isTemporary { descriptor = file.openForReading() }
        defer { if isTemporary && descriptor >= 0 { close(descriptor) } }
        guard pread(descriptor, &words, count * 8, offset) == count * 8 else { return nil }
        return words.map { UInt64(littleEndian: $0) }
    }

    /// Creates the lock file if it does not exist, and returns its path. Returns nil if the file cannot be created or
    /// used, and for a database in memory.
    func createFileIfNeeded() -> String? {
        guard let file, let content = try? file.inspect() else { return nil }
        // An existing file is not opened for writing: closing the descriptor would wake all processes that watch it.
        if content == .missing {
            guard let descriptor = try? file.opened() else { return nil }
            close(descriptor)
        }
        return path
    }

    private func acquireFile(deadline: UInt64) throws(EngineError) {
        guard let file else { return }
        while true {
            try openFile(file)
            try lockFile(deadline)
            if isCurrent(file) { return }
            try reopen(file)
        }
    }

    private func lockFile(_ deadline: UInt64) throws(EngineError) {
        var pause: UInt32 = 50
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else {
                throw EngineError(
                    .inputOutput, path: path, "the lock file cannot be locked: \(String(cString: strerror(errno)))")
            }
            guard environment.now() < deadline else {
                throw EngineError(
                    .busy, path: path,
                    "another process kept its write transaction open for too long; try again when that write has ended")
            }
            environment.sleep(pause)
            pause = min(pause * 2, 5_000)
        }
    }

    // True if the path still refers to the lock file that this object has open. Also true if the open database was
    // deleted: the next step of the write then reports that the database is missing.
    private func isCurrent(_ file: LockFile) -> Bool {
        openedFile != nil && FileIdentity(withoutFollowingLink: path) == openedFile
            || isDatabaseOpen && access(file.database, F_OK) != 0
    }

    private func openFile(_ file: LockFile) throws(EngineError) {
        guard descriptor < 0 else { return }
        cmartlet_block_forks()
        defer { cmartlet_unblock_forks() }
        let descriptor = try file.opened()
        cmartlet_add_lock(descriptor)
        openedFile = FileIdentity(descriptor: descriptor)
        opened.store(descriptor, ordering: .releasing)
    }

    // Opens the lock file that is now at the path. Other threads may be reading through the descriptor, so its number
    // does not change: `dup2` redirects the descriptor to the new file.
    private func reopen(_ file: LockFile) throws(EngineError) {
        _ = flock(descriptor, LOCK_UN)
        cmartlet_block_forks()
        defer { cmartlet_unblock_forks() }
        let replacement = try file.opened()
        _ = dup2(replacement, descriptor)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        close(replacement)
        openedFile = FileIdentity(descriptor: descriptor)
        writtenLog = nil
    }
}
