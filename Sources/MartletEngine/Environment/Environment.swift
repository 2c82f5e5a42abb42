import CMartletRuntime
package import Dispatch
import Foundation

/// Everything outside the engine that it depends on, so that tests can replace it.
package struct Environment: Sendable {
    /// The SQLite VFS of all files; nil for the system's.
    package var vfsName: String?
    /// Bytes of a database page in new files.
    package var pageSize = 4096
    /// Nanoseconds of a clock that never goes back.
    package var now: @Sendable () -> UInt64 = { DispatchTime.now().uptimeNanoseconds }
    package var sleep: @Sendable (_ microseconds: UInt32) -> Void = { usleep($0) }
    /// Runs work on a queue after a time.
    package var later: @Sendable (DispatchQueue, DispatchTimeInterval, @escaping @Sendable () -> Void) -> Void = {
        $0.asyncAfter(deadline: .now() + $1, execute: $2)
    }
    package var processID: @Sendable () -> Int32 = { getpid() }
    /// Stops a forked child that uses what it has inherited from its parent.
    package var stopForkedChild: @Sendable (_ path: String) -> Never = {
        preconditionFailure("'\($0)' was used in a forked child process")
    }
    /// Whether a folder lies on a network file system.
    package var isOnNetwork: @Sendable (_ folder: String) -> Bool = { cmartlet_is_on_network($0) == 1 }
    package var log: @Sendable (String) -> Void = { FileHandle.standardError.write(Data("martlet: \($0)\n".utf8)) }
    /// Called at every yield point of a debug build; lets tests stop one thread and run the others.
    package var step: (@Sendable (YieldPoint) -> Void)?
    /// Decides which thread goes on, in place of the system; asked in debug builds only.
    package var driver: ThreadDriver?
    /// Checkpoints only under the write lock. Switched off by one test, to show that it is needed.
    package var usesGate = true
    /// Commits whose change sets stay in the file.
    package var changeRetention: UInt64 = 1_000
    /// Log frames after a commit that start a checkpoint.
    package var checkpointFrames = 1_000
    /// The most elements of a chunk of a list: few in some tests, so that short lists have many chunks.
    package var chunkLimit = 512
    /// The keys that are passed over rather than looked for by a search: none in some tests, so that few rows are searched.
    package var keysScannedPerSearch = 2_048
    /// Milliseconds between looks for commits of other processes where the system does not tell of them; zero for none but by
    /// hand.
    package var externalCommitMilliseconds = 75
    /// Milliseconds between looks where the system tells of commits, for what it should have told and did not; zero for none.
    package var missedCommitMilliseconds = 3_000
    /// Milliseconds to wait for another process's write transaction.
    package var writeTimeoutMilliseconds = 30_000

    package init() {}

    package static let live = Environment()

    @inline(__always)
    package func yield(_ point: YieldPoint) {
        #if DEBUG
            step?(point)
            driver?.pass(point)
        #endif
    }

    /// True when a test decides which thread goes on.
    @inline(__always)
    var isDriven: Bool {
        #if DEBUG
            driver != nil
        #else
            false
        #endif
    }

    /// Where the calling thread is about to wait for others: under a driver it comes back when it need not wait any more.
    @inline(__always)
    func wait(_ reason: WaitReason, until isOver: @escaping @Sendable () -> Bool) {
        #if DEBUG
            driver?.wait(reason, isOver)
        #endif
    }

    /// Runs `body` on a queue, or on a thread of a driver.
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
