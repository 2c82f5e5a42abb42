import CMartletRuntime
import Foundation
import MartletSQLite

/// The lock of the process that synchronizes a file. All processes record their changes for upload, but only one
/// connects to the service.
///
/// It is a `flock` lock on a file beside the database. The system releases it when the process ends, unless a forked
/// child still has the descriptor open. A file in memory has no lock file, because other processes cannot open it.
package final class SyncLock: Sendable {
    static let suffix = ".sync.lock"
    /// -1 for a file in memory.
    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit {
        guard descriptor >= 0 else { return }
        cmartlet_block_forks()
        defer { cmartlet_unblock_forks() }
        // In a forked child, the descriptor number may belong to another file.
        if cmartlet_remove_lock(descriptor) { close(descriptor) }
    }

    /// Acquires the lock of the database at a path, without waiting. Returns nil if another process or another object
    /// holds the lock.
    ///
    /// The lock is released when the returned object is deallocated.
    package static func acquire(_ database: String) throws(EngineError) -> SyncLock? {
        guard !MemoryFiles.contains(database) else { return SyncLock(-1) }
        let path = StoreFiles.resolved(database) + suffix
        // Another process may delete the file between opening and locking it.
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

    // Opens the file, and registers the descriptor, so that a forked child does not keep the lock. Returns -1 if the file
    // cannot be opened.
    private static func openRegistered(_ path: String) -> Int32 {
        cmartlet_block_forks()
        defer { cmartlet_unblock_forks() }
        let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        if descriptor >= 0 { cmartlet_add_lock(descriptor) }
        return descriptor
    }
}
