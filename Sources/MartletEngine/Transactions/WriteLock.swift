import Dispatch
import Foundation
import MartletSQLite
import Synchronization

/// The queue of writers: first a semaphore for this process, then a lock on a file beside the database for all processes. A
/// database in memory has one process, and no such file.
///
/// `flock` belongs to the open file and not to the process, so closing other descriptors does not drop it, as it would
/// drop the locks on the database file itself. The path may come to lead to another file, or to none, while the lock is held
/// or waited for: then the lock on the former file protects nothing, and the file is opened again.
///
/// Ledger: the holder of `turn` alone opens the file. The number of its descriptor never changes; what it refers to does.
/// `isOfOpenDatabase` is set before the lock is shared.
// Sendable by the ledger above.
final class WriteLock: @unchecked Sendable {
    private let path: String
    private let file: LockFile?
    /// Where the database itself is gone, the lock file is not created again for it.
    var isOfOpenDatabase = false
    private let turn = DispatchSemaphore(value: 1)
    private let opened = Atomic<Int32>(-1)
    private var descriptor: Int32 { opened.load(ordering: .acquiring) }
    private let environment: Environment

    init(path: String, environment: Environment) {
        self.path = path
        file = MemoryFiles.contains(path) ? nil : LockFile(path: path)
        self.environment = environment
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Waits for its turn among threads, then among processes.
    func acquire() throws(EngineError) { try acquire(milliseconds: environment.writeTimeoutMilliseconds) }

    /// The same with patience of one's own.
    func acquire(milliseconds: Int) throws(EngineError) {
        environment.wait(.writeLock) { [self] in isFree }
        let deadline = environment.now() + UInt64(milliseconds) * 1_000_000
        guard turn.wait(timeout: .now() + .milliseconds(milliseconds)) == .success else {
            throw EngineError(
                .busy, path: path,
                "another thread kept its write transaction open for too long; try again when it is done")
        }
        do {
            try acquireFile(deadline: deadline)
        } catch {
            turn.signal()
            throw error
        }
    }

    /// Takes the lock only if nobody has it.
    func tryAcquire() -> Bool {
        guard turn.wait(timeout: .now()) == .success else { return false }
        if tryLockingFile() { return true }
        turn.signal()
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
        turn.signal()
    }

    /// Lets go of what a forked child has inherited. Dispatch allows no semaphore to end that is waited for, and the thread
    /// that would signal it is the parent's.
    func abandon() {
        let descriptor = opened.exchange(-1, ordering: .acquiringAndReleasing)
        if descriptor >= 0 { close(descriptor) }
        _ = Unmanaged.passRetained(self)
    }

    private var isFree: Bool {
        guard tryAcquire() else { return false }
        unlock()
        return true
    }

    // MARK: Telling others

    /// Leaves the number of a version that was committed, for those who watch the file. For the holder of the lock.
    func note(_ version: Version) {
        guard file != nil else { return }
        var number = version.littleEndian
        _ = pwrite(descriptor, &number, MemoryLayout<Version>.size, 0)
    }

    /// A version that lies in the database file as a whole, and a number that tells one such note from the next.
    struct CopyMark: Equatable {
        let version: Version
        let number: UInt64
    }

    /// Leaves word that a version lies in the database file as a whole: whoever shows it need not read the log any more, which
    /// can only grow as long as somebody does. For the holder of the lock.
    func note(copied version: Version) -> CopyMark {
        let mark = CopyMark(version: version, number: (notedCopied?.number ?? 0) &+ 1)
        guard file != nil else { return mark }
        var words = [mark.version.littleEndian, mark.number.littleEndian]
        _ = pwrite(descriptor, &words, 16, 8)
        return mark
    }

    /// Leaves the name of the log that was begun. For the holder of the lock.
    func note(log: UInt64) {
        var word = log.littleEndian
        _ = pwrite(descriptor, &word, 8, Self.logOffset)
    }

    /// The name of the newest log; nil when that is not known.
    var notedLog: UInt64? { words(at: Self.logOffset, count: 1)?[0] }

    // Behind the words that every version of the file has.
    private static let logOffset: off_t = 64

    /// What was noted last by any process; nil when that is not known.
    var noted: Version? { words(at: 0, count: 1)?[0] }

    /// What was last noted as copied; nil when that is not known.
    var notedCopied: CopyMark? { words(at: 8, count: 2).map { CopyMark(version: $0[0], number: $0[1]) } }

    private func words(at offset: off_t, count: Int) -> [UInt64]? {
        guard let file else { return nil }
        var words = [UInt64](repeating: 0, count: count)
        var descriptor = descriptor
        // A process that never writes has not opened it, and what it has opened may have been replaced.
        let isOwn = descriptor < 0 || !file.isCurrent(descriptor)
        if isOwn { descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) }
        defer { if isOwn && descriptor >= 0 { close(descriptor) } }
        guard pread(descriptor, &words, count * 8, offset) == count * 8 else { return nil }
        return words.map { UInt64(littleEndian: $0) }
    }

    /// The path of the file, created if it is not there; nil when that is not possible.
    func madeFile() -> String? {
        guard let file, let content = try? file.look() else { return nil }
        // Only then, because to close what is open for writing wakes all observers.
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
                    "another process kept its write transaction open for too long; try again when it is done")
            }
            environment.sleep(pause)
            pause = min(pause * 2, 5_000)
        }
    }

    // Where the database is gone too, the next step of the writer says so.
    private func isCurrent(_ file: LockFile) -> Bool {
        file.isCurrent(descriptor) || isOfOpenDatabase && access(file.database, F_OK) != 0
    }

    private func openFile(_ file: LockFile) throws(EngineError) {
        guard descriptor < 0 else { return }
        opened.store(try file.opened(), ordering: .releasing)
    }

    // Other threads may be reading through the descriptor: its number goes on to stand for the lock file.
    private func reopen(_ file: LockFile) throws(EngineError) {
        _ = flock(descriptor, LOCK_UN)
        let replacement = try file.opened()
        _ = dup2(replacement, descriptor)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        close(replacement)
    }
}
