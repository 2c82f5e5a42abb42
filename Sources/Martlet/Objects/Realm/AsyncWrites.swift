import MartletEngine
import Synchronization

/// One asynchronous write in the queue.
struct AsyncWrite {
    let id: AsyncTransactionId
    /// Called before the body. Returns false if the write was cancelled.
    var begin: () -> Bool = { true }
    let body: () throws -> Void
    /// If true, the body must commit the write; a write that the body leaves open is rolled back. If false, a write
    /// that the body leaves open is committed when the body has returned.
    let isCommittedByBody: Bool
    /// Called once, with nil or an error. Nil means that the changes are durable, or that the body has cancelled the
    /// write. The error is the reason for a rollback. Not called if the write is removed from the queue, if `begin`
    /// returns false, if `refuse` is called, or if `isCommittedByBody` is true and the body does not end the write.
    let complete: ((any Error)?) -> Void
    /// Called instead of the body if the write cannot begin.
    let refuse: (any Error) -> Void
    // A queued write keeps its Realm alive, and also the actor to which the Realm is confined.
    let context: RealmContext
    let actor: (any Actor)?
}

/// The identifier of an asynchronous write, used to cancel it.
public typealias AsyncTransactionId = UInt32

/// The asynchronous writes of one Realm. They run on the Realm's executor, in the order in which they were added.
///
/// The executor is never blocked: if another thread or process holds the write lock, a background thread waits for the
/// lock.
///
/// Several queued writes run as a group, in one transaction of SQLite. They become durable together, but each has a
/// separate version. A write is sealed if it has ended and its group is not committed yet.
///
/// Thread safety: this class is used on the Realm's executor. Other threads access only `lease` and `scheduler`.
/// `scheduler` does not change after the first write was scheduled.
final class AsyncWrites {
    private unowned let context: RealmContext
    private var waiting: [AsyncWrite] = []
    /// The completion handlers of the sealed writes.
    private var sealedCompletions: [((any Error)?) -> Void] = []
    /// The completion handlers to call after the blocks of the current group.
    private var dueCompletions: [() -> Void] = []
    private var isRunScheduled = false
    /// Called when the sealed writes are durable or rolled back.
    private var groupEndHandlers: [() -> Void] = []
    /// The versions of durable writes that are not yet reported to the observers of the Realm, because the next write
    /// of the group was already open when these writes became durable.
    private var unreportedCommits: [Version] = []
    /// True while a background thread waits for the write lock. The writes run when the thread has acquired the lock.
    private var isLockRequested = false
    /// The write whose block is running.
    private var running: AsyncWrite?
    private var lastID: AsyncTransactionId = 0
    private let lease: WriteLease
    private var scheduler: Scheduler?
    /// The maximum number of writes in a group. Other writers can acquire the lock between two groups.
    private static let maximumGroupSize = 64

    init(_ context: RealmContext) {
        self.context = context
        lease = WriteLease(context.coordinator)
        scheduler = context.scheduler
    }

    var isBusy: Bool { !waiting.isEmpty || running != nil || !sealedCompletions.isEmpty || !dueCompletions.isEmpty }

    var runningID: AsyncTransactionId? { running?.id }

    /// True if work can be scheduled on the executor. While there is no scheduler, each call looks for a run loop,
    /// because a thread may start its run loop after it opened the Realm.
    func canRun() -> Bool {
        // The scheduler is never reset, because the background thread that waits for the lock reads it.
        if scheduler == nil { scheduler = Scheduler.currentRunLoop() }
        scheduler?.keepRunning()
        return scheduler != nil
    }

    func nextID() -> AsyncTransactionId {
        lastID &+= 1
        return lastID
    }

    func add(_ write: AsyncWrite) {
        waiting.append(write)
        resume()
    }

    /// Removes a write from the queue; false if it has begun already.
    func cancel(_ id: AsyncTransactionId) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return false }
        waiting.remove(at: index)
        return true
    }

    /// Schedules a run of the queue if writes are waiting, no run is due yet, and no write is open. Called when a write
    /// was added, and when a write of this Realm has ended.
    func resume() {
        guard !waiting.isEmpty, !isRunScheduled, !isLockRequested, !context.isInWrite, running == nil else { return }
        isRunScheduled = true
        scheduleRun()
    }

    private func scheduleRun() {
        // The closure runs on the executor, and the queued writes keep the Realm alive until then.
        nonisolated(unsafe) let (writes, context) = (self, context)
        scheduler?.schedule { withExtendedLifetime(context) { writes.run() } }
    }

    /// Releases the write lock, because a synchronous write takes precedence.
    func releaseLock() {
        lease.releaseOrCancel()
        isLockRequested = false
    }

    /// Schedules a call of a completion handler. The handler is called after the code that is running now has returned.
    private func completeAsync(_ body: @escaping () -> Void) {
        dueCompletions.append(body)
        guard running == nil else { return }
        nonisolated(unsafe) let (writes, context) = (self, context)
        scheduler?.schedule { withExtendedLifetime(context) { writes.callDueCompletions() } }
    }

    // MARK: Running

    private func run() {
        isRunScheduled = false
        isLockRequested = false
        guard running == nil, !context.isInWrite else { return }
        if let failure = lease.takeFailure(), !waiting.isEmpty {
            let write = waiting.removeFirst()
            dueCompletions.append { write.refuse(Realm.Error(failure)) }
            callDueCompletions()
            // The handler may have left a write open. The end of that write schedules the next run.
            if context.isInWrite { return }
        }
        // A callback may run a nested run loop, which calls this method. In this case the writes wait until the
        // callback has returned.
        if context.hooks.isDelivering() || context.keyValue.phase != .none { return resume() }
        guard !waiting.isEmpty else { return }
        guard lease.claim() else {
            isLockRequested = true
            nonisolated(unsafe) let (writes, context) = (self, context)
            return lease.request { withExtendedLifetime(context) { writes.scheduleRun() } }
        }
        runGroup()
        callDueCompletions()
        resume()
    }

    private func runGroup() {
        var count = 0
        while count < Self.maximumGroupSize, let write = takeNext(isFirst: count == 0) {
            do {
                try context.beginAsyncWrite(isFirst: count == 0)
            } catch {
                running = nil
                dueCompletions.append { write.refuse(error) }
                return commitSealedWrites()
            }
            count += 1
            run(write)
            running = nil
            // If the body has committed the whole group, the write lock is released already.
            if !context.hasOnlySealedWrites { return }
        }
        if context.hasOnlySealedWrites {
            commitSealedWrites()
        } else if count == 0 {
            context.coordinator.releaseWriteLock()
        }
    }

    private func takeNext(isFirst: Bool) -> AsyncWrite? {
        while let write = waiting.first, isFirst || !beginsGroup(write) {
            waiting.removeFirst()
            running = write
            if write.begin() { return write }
        }
        running = nil
        return nil
    }

    // If the body commits the write, the write may be silent. Before a silent write, the silenced observers must be
    // notified of all earlier writes. Observers are notified of durable writes only, so the earlier writes are
    // committed first.
    private func beginsGroup(_ write: AsyncWrite) -> Bool { write.isCommittedByBody && context.hooks.hasObservers() }

    private func run(_ write: AsyncWrite) {
        do {
            try write.body()
        } catch {
            if context.isInWrite { context.cancelWrite() }
            return dueCompletions.append { write.complete(error) }
        }
        guard context.isInWrite else {
            // The body has ended the write.
            if context.hasOnlySealedWrites {
                sealedCompletions.append(write.complete)
            } else {
                dueCompletions.append { write.complete(nil) }
            }
            return
        }
        if write.isCommittedByBody { context.cancelWrite() } else { commit(isGrouping: true, write.complete) }
    }

    /// Ends the open write. Seals the write if grouping is allowed, a queued write is running and further writes are
    /// waiting. Otherwise commits the write.
    func commit(isGrouping: Bool, _ complete: @escaping ((any Error)?) -> Void) {
        do {
            if isGrouping, running != nil, !waiting.isEmpty {
                try context.sealWrite()
                sealedCompletions.append(complete)
            } else {
                try context.commitWrite()
                completeAsync { complete(nil) }
            }
        } catch {
            completeAsync { complete(error) }
        }
    }

    /// Makes the sealed writes durable.
    func commitSealedWrites() {
        guard context.hasOnlySealedWrites else { return }
        // On failure, `groupEnded` passes the error to the handlers of the sealed writes.
        try? context.commitSealed()
    }

    /// Runs `body` when the sealed writes are durable or rolled back. Before that, other Realms cannot see the writes.
    func whenGroupEnds(_ body: @escaping () -> Void) { groupEndHandlers.append(body) }

    /// Called when the sealed writes are durable, or were rolled back because of an error.
    func groupEnded(_ error: (any Error)?) {
        for complete in sealedCompletions { dueCompletions.append { complete(error) } }
        sealedCompletions = []
        let handlers = groupEndHandlers
        groupEndHandlers = []
        handlers.forEach { $0() }
    }

    func addUnreportedCommits(_ versions: [Version]) { unreportedCommits += versions }

    func takeUnreportedCommits() -> [Version] {
        defer { unreportedCommits = [] }
        return unreportedCommits
    }

    private func callDueCompletions() {
        while !dueCompletions.isEmpty { dueCompletions.removeFirst()() }
    }
}
