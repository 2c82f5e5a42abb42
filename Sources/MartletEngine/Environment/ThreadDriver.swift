/// Takes the place of the system's scheduler in a test: of its threads one runs at a time, and which one goes on is decided
/// at yield points, where a thread would have to wait, and where it ends.
package struct ThreadDriver: Sendable {
    /// A thread has come to a yield point, with no lock of a moment held: others may get in between.
    package var pass: @Sendable (YieldPoint) -> Void
    /// A thread cannot go on before `isOver` is true, which may be asked on any thread and has no effect.
    package var wait: @Sendable (WaitReason, _ isOver: @escaping @Sendable () -> Bool) -> Void
    /// Work for the background, to be done on a thread of its own.
    package var start: @Sendable (BackgroundWork, @escaping @Sendable () -> Void) -> Void

    package init(
        pass: @escaping @Sendable (YieldPoint) -> Void,
        wait: @escaping @Sendable (WaitReason, _ isOver: @escaping @Sendable () -> Bool) -> Void,
        start: @escaping @Sendable (BackgroundWork, @escaping @Sendable () -> Void) -> Void
    ) {
        self.pass = pass
        self.wait = wait
        self.start = start
    }
}

/// Places where another thread or process may get in between.
package enum YieldPoint: Sendable {
    // Opening, closing.
    case insideTurn, insideCreate, afterOpen, beforeListen, afterListen, beforeClose
    // Reading.
    case beforePin, afterPin, beforeUnpin
    // Writing.
    case beforeBegin, afterBegin, beforeCommit, afterCommit, beforeSignal, beforeTelling, afterRelease
    case beforeCheckpoint, insideGate
    // Observing.
    case afterRegistration, beforeCompute, duringWake, duringCompute, afterCompute, beforeDeliver, beforeLook, afterLook
    case beforeCatchUp
}

/// What a thread may have to wait for.
package enum WaitReason: Sendable {
    case writeLock, turnOfFile, checkpoints
}

/// What is done in the background.
package enum BackgroundWork: Sendable {
    /// One after the other, whatever file they are of.
    case checkpoint
    case notifier, lease
    /// After a time, that is, at any time.
    case leaseEnd
}
