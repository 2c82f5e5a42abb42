/// Replaces the scheduler of the operating system in a test, so that only one thread runs at a time. The driver chooses
/// the next thread at each yield point, when a thread would have to wait, and when a thread ends.
package struct ThreadDriver: Sendable {
    /// Called when a thread has reached a yield point. The thread holds no mutex of the engine, so other threads may
    /// run. It may hold the write lock or an opening lock.
    package var yieldThread: @Sendable (YieldPoint) -> Void
    /// Called when a thread cannot continue before `isOver` returns true. `isOver` may be called on any thread and has
    /// no side effect.
    package var wait: @Sendable (WaitReason, _ isOver: @escaping @Sendable () -> Bool) -> Void
    /// Runs background work on a new thread.
    package var start: @Sendable (BackgroundWork, @escaping @Sendable () -> Void) -> Void

    package init(
        yieldThread: @escaping @Sendable (YieldPoint) -> Void,
        wait: @escaping @Sendable (WaitReason, _ isOver: @escaping @Sendable () -> Bool) -> Void,
        start: @escaping @Sendable (BackgroundWork, @escaping @Sendable () -> Void) -> Void
    ) {
        self.yieldThread = yieldThread
        self.wait = wait
        self.start = start
    }
}

/// Points in the code at which a test can let another thread or process run.
package enum YieldPoint: Sendable {
    // Opening and closing.
    case insideOpeningLock, insideCreate, afterOpen, beforeListen, afterListen, beforeClose
    // Reading.
    case beforePin, afterPin, beforeUnpin
    // Writing.
    case beforeBegin, afterBegin, beforeCommit, afterCommit, beforeRecordingVersion, beforeNotifying
    case afterRelease
    case beforeCheckpoint, insideCheckpoint
    // Observing.
    case afterRegistration, beforeCompute, duringActivation, duringCompute, afterCompute, beforeDeliver
    case beforePoll, afterPoll, beforeCatchUp
}

/// The reasons for which a thread waits.
package enum WaitReason: Sendable {
    case writeLock, openingLock, checkpoints
}

/// The kinds of background work.
package enum BackgroundWork: Sendable {
    /// A checkpoint. The checkpoints of all files run one after another.
    case checkpoint
    /// Computes the change sets of observers.
    case notifier
    /// Acquires the write lock for an executor that must not block (see `WriteLease`).
    case writeLease
    /// The end of a `WriteLease`, which runs after a delay. A driver may run it at any time.
    case writeLeaseExpiry
}
