import CMartletRuntime
import Foundation
import MartletSQLite

/// The lock of the process that synchronizes a file. All processes record their changes for upload, but only the
/// process that holds this lock connects to the service.
///
/// The lock is a `flock` lock on a lock file beside the database. The system releases it when the process ends, unless
/// a forked child still has the descriptor open. A database in memory has no lock file, because other processes cannot
/// open such a database.
package final class SyncLock: Sendable {
    static let suffix = ".sync.lock"
    /// The descriptor of the lock file; -1 for a database in memory.
    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit {
        guard descriptor >= 0 else { return }
        cmartlet_block_forks()
        defer { cmartlet_unblock_forks() }
        // In a forked child, the number of the descriptor may belong to another file.
        if cmartlet_remove_lock(descriptor) { close(descriptor) }
    }

    /// Acquires the lock of the database at a path, without waiting. Returns nil if another process or another object
    /// holds the lock.
    ///
    /// The lock is released when the returned object is deallocated.
    package static func acquire(_ database: String) throws(EngineError) -> SyncLock? {
        guard !MemoryFiles.contains(database) else { return SyncLock(-1) }
        let path = StoreFiles.resolved(database) + suffix
        // Another process may delete the lock file after this process has opened it and before it has locked it. In
        // that case the loop tries again.
        while true {
            let descriptor = openRegistered(path)
            guard descriptor >= 0 else {
                throw EngineError(
                    .accessDenied, path: path,
                    "the lock file of the synchronization cannot be opened: \(String(cString: strerror(errno)))")
            }
            let lock = SyncLock(descriptor)
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return nil }
            if FileIdentity(descriptor: descriptor) == FileIdentity(withoutFollowingLink: path) {
                cmartlet_match_permissions(database, path)
                return lock
            }
        }
    }

    // Opens the lock file, and registers the descriptor, so that a forked child does not keep the lock. Returns -1 if
    // the lock file cannot be opened.
    private static func openRegistered(_ path: String) -> Int32 {
        cmartlet_block_forks()
        defer { cmartlet_unblock_forks() }
        let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        if descriptor >= 0 { cmartlet_add_lock(descriptor) }
        return descriptor
    }
}
