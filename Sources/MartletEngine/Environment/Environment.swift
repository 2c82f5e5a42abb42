import CMartletRuntime
package import Dispatch
import Foundation

/// The functions of the operating system that the engine uses, and the limits and intervals of the engine. Tests
/// replace some of these values.
package struct Environment: Sendable {
    /// The SQLite VFS of all files; nil for the default VFS.
    package var vfsName: String?
    /// The size of a database page in new files, in bytes.
    package var pageSize = 4096
    /// A monotonic clock, in nanoseconds.
    package var now: @Sendable () -> UInt64 = { DispatchTime.now().uptimeNanoseconds }
    package var sleep: @Sendable (_ microseconds: UInt32) -> Void = { usleep($0) }
    /// Runs work on a queue after a delay.
    package var later: @Sendable (DispatchQueue, DispatchTimeInterval, @escaping @Sendable () -> Void) -> Void = {
        $0.asyncAfter(deadline: .now() + $1, execute: $2)
    }
    package var processID: @Sendable () -> Int32 = { getpid() }
    /// Stops a forked child process that uses an object inherited from its parent.
    package var stopForkedChild: @Sendable (_ path: String) -> Never = {
        preconditionFailure("'\($0)' was used in a forked child process")
    }
    /// True if a folder is on a network file system.
    package var isOnNetwork: @Sendable (_ folder: String) -> Bool = { cmartlet_is_on_network($0) == 1 }
    package var log: @Sendable (String) -> Void = { FileHandle.standardError.write(Data("martlet: \($0)\n".utf8)) }
    /// Called at every yield point of a debug build. A test uses it to stop one thread while others run.
    package var onYield: (@Sendable (YieldPoint) -> Void)?
    /// Schedules the threads of a test, instead of the operating system. Used in debug builds only.
    package var driver: ThreadDriver?
    /// True if checkpoints run only under the write lock. One test sets it to false to show that the lock is necessary.
    package var checkpointsUnderWriteLock = true
    /// The number of commits whose change sets are kept in the file.
    package var changeRetention: UInt64 = 1_000
    /// The number of log frames after which a commit starts a checkpoint.
    package var checkpointFrames = 1_000
    /// The maximum number of elements in a chunk. Some tests use a small number, so that short lists have many chunks.
    package var chunkLimit = 512
    /// The number of searches for an element of a collection after which a table of all positions is built. Some tests
    /// use zero, so that the first search builds the table.
    package var searchesBeforePositions = 2
    /// The number of keys that can be scanned at the cost of one search by sort key. Some tests use zero, so that rows
    /// are never found by a scan.
    package var keysScannedPerSearch = 2_048
    /// The number of milliseconds between polls for commits of other processes, if the lock file cannot be watched. If
    /// the value is zero, the engine neither polls nor watches the lock file, and a test polls explicitly.
    package var commitPollMilliseconds = 75
    /// The number of milliseconds between polls while the lock file is watched. These polls find commits whose event
    /// was missed. Zero disables these polls.
    package var missedCommitPollMilliseconds = 3_000
    /// The number of milliseconds that a write waits for the write transaction of another thread or process.
    package var writeTimeoutMilliseconds = 30_000

    package init() {}

    package static let live = Environment()

    /// Marks a point at which a test can let another thread or process run. Does nothing in release builds.
    @inline(__always)
    package func yield(_ point: YieldPoint) {
        #if DEBUG
            onYield?(point)
            driver?.yieldThread(point)
        #endif
    }

    /// True if a test schedules the threads.
    @inline(__always)
    var hasThreadDriver: Bool {
        #if DEBUG
            driver != nil
        #else
            false
        #endif
    }

    /// Called before the calling thread waits for other threads. If a test schedules the threads, this method returns
    /// after `isOver` has returned true. Otherwise this method does nothing, and the caller waits itself.
    @inline(__always)
    func wait(_ reason: WaitReason, until isOver: @escaping @Sendable () -> Bool) {
        #if DEBUG
            driver?.wait(reason, isOver)
        #endif
    }

    /// Runs `body` on a queue, after a delay if one is given. If a test schedules the threads, runs `body` on a new
    /// thread of the driver and ignores the delay.
    @inline(__always)
    package func run(
        _ work: BackgroundWork, on queue: DispatchQueue, after delay: DispatchTimeInterval? = nil,
        _ body: @escaping @Sendable () -> Void
    ) {
        #if DEBUG
            if let driver { return driver.start(work, body) }
        #endif
        if let delay { later(queue, delay, body) } else { queue.async(execute: body) }
    }
}
