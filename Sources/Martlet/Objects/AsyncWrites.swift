import MartletEngine
import Synchronization

/// One asynchronous write in the queue.
struct AsyncWrite {
    let id: AsyncTransactionId
    /// Called before the block; false if the write must not run any more.
    var begin: () -> Bool = { true }
    let body: () throws -> Void
    /// True if the body commits the write itself. Otherwise the write is committed after the body.
    let commitsItself: Bool
    /// Called once, when the changes are durable or lost. Not called for a write that was cancelled or did not commit.
    let complete: ((any Error)?) -> Void
    // A pending write keeps its Realm alive, and the actor to which the Realm is confined.
    let context: RealmContext
    let actor: (any Actor)?
}

/// The identifier of an asynchronous write, used to cancel it.
public typealias AsyncTransactionId = UInt32

/// The asynchronous writes of one Realm. Each one runs on the Realm's executor in a separate write transaction, in the order
/// in which they were added.
///
/// The executor is never blocked: if another thread or process holds the write lock, a background thread waits for it. Queued
/// writes become durable together, each with its own version.
///
/// Thread safety: used on the Realm's executor only, except for `lease`, and for `scheduler`, which does not change after the first
/// write was scheduled.
final class AsyncWrites {
    private unowned let context: RealmContext
    private var waiting: [AsyncWrite] = []
    /// The completion handlers of writes that are sealed and not yet durable.
    private var sealed: [((any Error)?) -> Void] = []
    /// The completion handlers to call after the blocks of the current group.
    private var ended: [() -> Void] = []
    private var isRunScheduled = false
    /// True while a background thread waits for the write lock. The writes run when it has the lock.
    private var isLockRequested = false
    /// The write whose block is running.
    private var running: AsyncWrite?
    private var lastID: AsyncTransactionId = 0
    private let lease: WriteLease
    private var scheduler: Scheduler?
    /// The greatest number of writes that become durable together. The limit lets other writers take the lock in between.
    private static let greatestGroup = 64

    init(_ context: RealmContext) {
        self.context = context
        lease = WriteLease(context.coordinator)
        scheduler = context.scheduler
    }

    var isBusy: Bool { !waiting.isEmpty || running != nil || !sealed.isEmpty || !ended.isEmpty }

    var runningID: AsyncTransactionId? { running?.id }

    /// True if work can be scheduled on the executor. A thread may start its run loop after it opened the Realm.
    func canRun() -> Bool {
        // Never reset: the background thread that waits for the lock reads it.
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

    /// Continues with the queue. Called when a synchronous write has ended.
    func resume() {
        guard !waiting.isEmpty, !isRunScheduled, !isLockRequested, !context.isInWrite, running == nil else { return }
        isRunScheduled = true
        scheduleRun()
    }

    private func scheduleRun() {
        // The block runs on the executor, and the pending writes keep the Realm alive until then.
        nonisolated(unsafe) let (writes, context) = (self, context)
        scheduler?.schedule { withExtendedLifetime(context) { writes.run() } }
    }

    /// Releases the write lock for a synchronous write, which takes precedence.
    func releaseLock() {
        lease.giveUp()
        isLockRequested = false
    }

    /// Calls a completion handler soon, after the code that is running now.
    private func completeSoon(_ body: @escaping () -> Void) {
        ended.append(body)
        guard running == nil else { return }
        nonisolated(unsafe) let (writes, context) = (self, context)
        scheduler?.schedule { withExtendedLifetime(context) { writes.completeEnded() } }
    }

    // MARK: Running

    private func run() {
        isRunScheduled = false
        isLockRequested = false
        guard running == nil, !context.isInWrite else { return }
        if let failure = lease.takeFailure(), !waiting.isEmpty {
            let write = waiting.removeFirst()
            ended.append { write.complete(Realm.Error(failure)) }
            completeEnded()
        }
        // In a nested run loop inside a callback, wait until the callback has returned.
        if context.hooks.isDelivering() || context.keyValue.phase != .none { return resume() }
        guard !waiting.isEmpty else { return }
        guard lease.claim() else {
            isLockRequested = true
            nonisolated(unsafe) let (writes, context) = (self, context)
            return lease.request { withExtendedLifetime(context) { writes.scheduleRun() } }
        }
        runGroup()
        completeEnded()
        resume()
    }

    private func runGroup() {
        var count = 0
        while count < Self.greatestGroup, let write = takeNext(isFirst: count == 0) {
            do {
                try context.beginAsyncWrite(isFirst: count == 0)
            } catch {
                running = nil
                ended.append { write.complete(error) }
                return commitPending()
            }
            count += 1
            run(write)
            running = nil
            // The block may have committed the group, which releases the lock.
            if !context.isBetweenWrites { return }
        }
        if context.isBetweenWrites { commitPending() } else if count == 0 { context.coordinator.releaseWriteLock() }
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

    // A write that commits itself may be silent. The observers that it does not notify must have been notified of all earlier
    // writes, and they can only be notified of durable ones. So the earlier writes are committed first.
    private func beginsGroup(_ write: AsyncWrite) -> Bool { write.commitsItself && context.hooks.hasObservers() }

    private func run(_ write: AsyncWrite) {
        do {
            try write.body()
        } catch {
            if context.isInWrite { context.cancelWrite() }
            return ended.append { write.complete(error) }
        }
        guard context.isInWrite else {
            // The block ended the write itself.
            if context.isBetweenWrites {
                sealed.append(write.complete)
            } else {
                ended.append { write.complete(nil) }
            }
            return
        }
        if write.commitsItself { context.cancelWrite() } else { commit(isGrouping: true, write.complete) }
    }

    /// Ends the write of the running block: commits it, or, if grouping is allowed and other writes wait, seals it.
    func commit(isGrouping: Bool, _ complete: @escaping ((any Error)?) -> Void) {
        do {
            if isGrouping, running != nil, !waiting.isEmpty {
                try context.sealWrite()
                sealed.append(complete)
            } else {
                try context.commitWrite()
                completeSoon { complete(nil) }
            }
        } catch {
            completeSoon { complete(error) }
        }
    }

    /// Makes the sealed writes durable.
    func commitPending() {
        guard context.isBetweenWrites else { return }
        // On failure, `groupEnded` passes the error to the handlers of the sealed writes.
        try? context.commitSealed()
    }

    /// All sealed writes are durable, or lost with an error.
    func groupEnded(_ error: (any Error)?) {
        for complete in sealed { ended.append { complete(error) } }
        sealed = []
    }

    private func completeEnded() {
        while !ended.isEmpty { ended.removeFirst()() }
    }
}
