import MartletEngine
import Synchronization

/// One asynchronous write that waits for its turn.
struct AsyncWrite {
    let id: AsyncTransactionId
    /// False when it is not to run any more.
    var begin: () -> Bool = { true }
    let body: () throws -> Void
    /// True for a body that commits by itself; otherwise what it leaves is committed.
    let commitsItself: Bool
    /// Told once, when its changes are durable or lost. Not told of a write that was cancelled or has not committed.
    let complete: ((any Error)?) -> Void
    // Pending work keeps its Realm alive, and with it the actor that the Realm lives on.
    let context: RealmContext
    let actor: (any Actor)?
}

/// What identifies an asynchronous write, to cancel it.
public typealias AsyncTransactionId = UInt32

/// The asynchronous writes of one Realm: each runs on the Realm's executor in a write of its own, in the order they came.
///
/// Nobody waits on the executor: where another thread or process writes, the lock is waited for in the background. Writes
/// that queue up are made durable together, each as a version of its own.
///
/// Ledger: used on the Realm's executor only, but for `lease`, and for `scheduler`, which does not change any more once a turn
/// was taken.
final class AsyncWrites {
    private unowned let context: RealmContext
    private var waiting: [AsyncWrite] = []
    /// What to tell those that are sealed, and not yet durable.
    private var sealed: [((any Error)?) -> Void] = []
    /// What to tell those that have ended, after the blocks of this turn.
    private var ended: [() -> Void] = []
    private var isTurnScheduled = false
    /// The lock is waited for, and a turn comes with it.
    private var isLockRequested = false
    /// The write whose block runs.
    private var running: AsyncWrite?
    private var lastID: AsyncTransactionId = 0
    private let lease: WriteLease
    private var scheduler: Scheduler?
    /// More writes than this are not made durable together, so that other writers get their turn.
    private static let greatestGroup = 64

    init(_ context: RealmContext) {
        self.context = context
        lease = WriteLease(context.coordinator)
        scheduler = context.scheduler
    }

    var isBusy: Bool { !waiting.isEmpty || running != nil || !sealed.isEmpty || !ended.isEmpty }

    var runningID: AsyncTransactionId? { running?.id }

    /// True when turns can be taken: a Realm may have been opened before its thread began to run its run loop.
    func canRun() -> Bool {
        // Once it is there it stays: who waits for the lock in the background reads it.
        if scheduler == nil { scheduler = Scheduler.currentRunLoop() }
        scheduler?.stay()
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

    /// True when the write had not begun.
    func cancel(_ id: AsyncTransactionId) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return false }
        waiting.remove(at: index)
        return true
    }

    /// Goes on when a synchronous write has ended.
    func resume() {
        guard !waiting.isEmpty, !isTurnScheduled, !isLockRequested, !context.isInWrite, running == nil else { return }
        isTurnScheduled = true
        scheduleTurn()
    }

    private func scheduleTurn() {
        // Turns are taken on the executor, and what waits keeps the Realm alive until then.
        nonisolated(unsafe) let (writes, context) = (self, context)
        scheduler?.schedule { withExtendedLifetime(context) { writes.turn() } }
    }

    /// A synchronous write is about to wait for the lock: it goes first.
    func makeWay() {
        lease.giveUp()
        isLockRequested = false
    }

    /// Runs what `complete` wants to do soon, after what runs now.
    func endSoon(_ body: @escaping () -> Void) {
        ended.append(body)
        guard running == nil else { return }
        nonisolated(unsafe) let (writes, context) = (self, context)
        scheduler?.schedule { withExtendedLifetime(context) { writes.tellEnded() } }
    }

    // MARK: Turns

    private func turn() {
        isTurnScheduled = false
        isLockRequested = false
        guard running == nil, !context.isInWrite else { return }
        if let failure = lease.takeFailure(), !waiting.isEmpty {
            let write = waiting.removeFirst()
            ended.append { write.complete(Realm.Error(failure)) }
            tellEnded()
        }
        // A nested run loop inside a callback: the callback comes to its end first.
        if context.hooks.isDelivering() || context.movement != .none { return resume() }
        guard !waiting.isEmpty else { return }
        guard lease.claim() else {
            isLockRequested = true
            nonisolated(unsafe) let (writes, context) = (self, context)
            return lease.request { withExtendedLifetime(context) { writes.scheduleTurn() } }
        }
        runGroup()
        tellEnded()
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
                return settle()
            }
            count += 1
            run(write)
            running = nil
            // What was settled meanwhile let go of the lock.
            if !context.isBetweenWrites { return }
        }
        if context.isBetweenWrites { settle() } else if count == 0 { context.coordinator.releaseWriteLock() }
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

    // Who commits by itself may do so silently. Then the others have been told of what came before, which was durable by then:
    // what is not cannot be told apart from it.
    private func beginsGroup(_ write: AsyncWrite) -> Bool { write.commitsItself && context.hooks.hasObservers() }

    private func run(_ write: AsyncWrite) {
        do {
            try write.body()
        } catch {
            if context.isInWrite { context.cancelWrite() }
            return ended.append { write.complete(error) }
        }
        guard context.isInWrite else {
            // The block has ended its write by itself.
            if context.isBetweenWrites {
                sealed.append(write.complete)
            } else {
                ended.append { write.complete(nil) }
            }
            return
        }
        if write.commitsItself { context.cancelWrite() } else { commit(isGrouping: true, write.complete) }
    }

    /// Ends the write of the block that runs, for good or, where others wait, together with theirs.
    func commit(isGrouping: Bool, _ complete: @escaping ((any Error)?) -> Void) {
        do {
            if isGrouping, running != nil, !waiting.isEmpty {
                try context.sealWrite()
                sealed.append(complete)
            } else {
                try context.commitWrite()
                endSoon { complete(nil) }
            }
        } catch {
            endSoon { complete(error) }
        }
    }

    /// Makes durable what is sealed.
    func settle() {
        guard context.isBetweenWrites else { return }
        // A failure is told to those that were sealed.
        try? context.commitSealed()
    }

    /// All that was sealed is durable, or lost.
    func groupEnded(_ error: (any Error)?) {
        for complete in sealed { ended.append { complete(error) } }
        sealed = []
    }

    private func tellEnded() {
        while !ended.isEmpty { ended.removeFirst()() }
    }
}
