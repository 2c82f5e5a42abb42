import CMartletRuntime
import Foundation

/// The lock that a watcher of a lock file holds on one byte of this file. It shows writers that a process waits for
/// their commits. A writer that finds no such lock writes nothing to the lock file, so that its commits do not wake the
/// watcher of its own process.
///
/// Each watcher locks a byte at a random position far beyond the end of the file. A writer therefore can ask whether
/// there are locks other than the lock of its own process. The lock is released when the object is deallocated, or when
/// the process ends for any reason.
///
/// A watcher acquires its lock before it looks for commits. So if a writer finds no lock after its commit, every later
/// watcher finds this commit.
final class WatchLock: Sendable {
    // SQLite and `flock` use no byte in this range.
    private static let positions: Range<Int64> = 1 << 40..<1 << 60

    private let descriptor: Int32
    private let position: Int64
    private let forks = cmartlet_fork_count()

    /// Acquires the lock on the lock file at `path`. Returns nil if the file cannot be opened or locked, and on systems
    /// without locks that belong to an open file.
    init?(path: String) {
        descriptor = LockFile(path: path).openForReading()
        position = Int64.random(in: Self.positions)
        guard descriptor >= 0, cmartlet_lock_byte(descriptor, position) == 0 else { return nil }
    }

    deinit {
        // In a forked child, the number may belong to another file.
        if descriptor >= 0 && forks == cmartlet_fork_count() { close(descriptor) }
    }

    /// Returns false if no watcher except `own` holds a lock on the file of the descriptor. Returns true if this cannot
    /// be determined.
    static func isWatched(_ descriptor: Int32, besides own: WatchLock?) -> Bool {
        let (start, end) = (positions.lowerBound, positions.upperBound)
        guard let own else { return cmartlet_are_bytes_locked(descriptor, start, end - start) != 0 }
        return [(start, own.position), (own.position + 1, end)].contains { start, end in
            start < end && cmartlet_are_bytes_locked(descriptor, start, end - start) != 0
        }
    }
}
