import MartletEngine
import Synchronization

extension Realm {
    /// Schedules a write transaction: `block` runs later on the Realm's thread, queue or actor, and then the write is
    /// committed.
    ///
    /// The call does not block. If another thread or process is writing, a background thread waits for the lock.
    /// Asynchronous writes of a Realm run in the order of the calls, and several queued writes can become durable
    /// together. This method can be called at any time, even inside writes and observer callbacks.
    ///
    /// - Parameters:
    ///   - block: Makes the changes.
    ///   - onComplete: Called with nil when the changes are durable, or when the block has cancelled the write. Called
    ///     with an error if the error caused a rollback.
    @discardableResult
    public func writeAsync(
        _ block: @escaping () -> Void, onComplete: (((any Swift.Error)?) -> Void)? = nil
    ) -> AsyncTransactionId {
        let writes = requireAsyncWrites()
        let id = writes.nextID()
        writes.add(
            AsyncWrite(
                id: id, body: block, isCommittedByBody: false, complete: { onComplete?($0) },
                refuse: { onComplete?($0) }, context: context, actor: context.confinement.actor))
        return id
    }

    /// Schedules a write transaction whose block must commit it, with `commitAsyncWrite` or `commitWrite`.
    ///
    /// If the block does not commit, its changes are rolled back. In all other respects this method works like
    /// `writeAsync`.
    ///
    /// - Parameters:
    ///   - block: Makes the changes, and commits them.
    ///   - onError: Called with the error if the write cannot begin. In this case the block is not called. Errors of
    ///     the commit are passed to the handler of `commitAsyncWrite`.
    @discardableResult
    public func beginAsyncWrite(
        _ block: @escaping () -> Void, onError: ((any Swift.Error) -> Void)? = nil
    ) -> AsyncTransactionId {
        let writes = requireAsyncWrites()
        let id = writes.nextID()
        writes.add(
            AsyncWrite(
                id: id, body: block, isCommittedByBody: true, complete: { _ in }, refuse: { onError?($0) },
                context: context, actor: context.confinement.actor))
        return id
    }

    /// Commits the open write transaction, and calls `onComplete` when the changes are durable.
    ///
    /// If collections or objects of this Realm are observed, `beginAsyncWrite` does not group its write with earlier
    /// writes. The block of `beginAsyncWrite` then runs after the earlier writes are durable and their notifications
    /// are delivered.
    ///
    /// - Parameters:
    ///   - allowGrouping: True if the changes may become durable together with the following writes in the queue.
    ///   - onComplete: Called with nil when the changes are durable. Called with an error if the error caused a
    ///     rollback.
    @discardableResult
    public func commitAsyncWrite(
        allowGrouping: Bool = false, _ onComplete: (((any Swift.Error)?) -> Void)? = nil
    ) -> AsyncTransactionId {
        if !isInWriteTransaction { Misuse.noWriteToEnd("committed") }
        let writes = requireAsyncWrites()
        let id = writes.runningID ?? writes.nextID()
        writes.commit(isGrouping: allowGrouping) { onComplete?($0) }
        return id
    }

    /// Cancels an asynchronous write that has not begun. Its `onComplete` is not called.
    ///
    /// - Throws: `Realm.Error.invalidInput` if the write has already begun or ended.
    public func cancelAsyncWrite(_ id: AsyncTransactionId) throws {
        guard requireAsyncWrites().cancel(id) else {
            throw Error(
                .invalidInput, path: context.coordinator.path,
                "the asynchronous write \(id) has begun already and cannot be cancelled; use 'cancelWrite' in its block"
            )
        }
    }

    /// True while asynchronous writes are queued, running, or not durable yet.
    public var isPerformingAsynchronousWriteOperations: Bool {
        context.confinement.require("a Realm")
        return context.asyncWrites?.isBusy ?? false
    }

    /// Runs `block` in a write transaction on the Realm's actor. Returns the result of `block` when the changes are
    /// durable.
    ///
    /// The actor is not blocked while other writers hold the lock. The write is added to the queue of the Realm's
    /// asynchronous writes.
    ///
    /// - Throws: Any error of the block, after its changes are rolled back. `CancellationError` if the task is
    ///   cancelled before the block begins. Any error of `write`.
    @discardableResult
    public func asyncWrite<Result>(
        isolation: isolated (any Actor)? = #isolation, @_implicitSelfCapture _ block: @escaping () throws -> Result
    ) async throws -> Result {
        let writes = requireAsyncWrites()
        let waiter = AsyncWriteWaiter()
        var result: Result?
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation(isolation: isolation) { continuation in
                guard waiter.wait(continuation) else { return }
                writes.add(
                    AsyncWrite(
                        id: writes.nextID(), begin: waiter.begin, body: { result = try block() },
                        isCommittedByBody: false,
                        complete: waiter.end, refuse: waiter.end, context: context, actor: context.confinement.actor))
            }
        } onCancel: {
            waiter.cancel()
        }
        guard let result else { throw CancellationError() }
        return result
    }

    /// Moves to the newest version and delivers the notifications of the changes. The changes are computed in the
    /// background, without blocking the actor.
    ///
    /// - Returns: False if there was no newer version.
    @discardableResult
    public func asyncRefresh(isolation: isolated (any Actor)? = #isolation) async -> Bool {
        context.confinement.require("a Realm")
        if isFrozen { return false }
        let ready = await context.hub.prepareNewest()
        return withExtendedLifetime(ready) { refresh() }
    }

    private func requireAsyncWrites() -> AsyncWrites {
        context.confinement.require("a Realm")
        if isFrozen { Misuse.frozen("the Realm") }
        if context.access == .readOnly { Misuse.readOnly("the Realm") }
        let writes = context.asyncWrites ?? AsyncWrites(context)
        context.asyncWrites = writes
        if !writes.canRun() { Misuse.asyncWriteWithoutRunLoop() }
        return writes
    }
}

/// The state of a task that waits for its write. The task is resumed once: when the write ends, or when the task is
/// cancelled before the write begins.
private final class AsyncWriteWaiter: Sendable {
    private enum State {
        case new
        case waiting(CheckedContinuation<Void, any Error>)
        case running(CheckedContinuation<Void, any Error>)
        case ended
    }

    private let state = Mutex(State.new)

    /// Stores the continuation. Returns false if the task was already cancelled.
    func wait(_ continuation: CheckedContinuation<Void, any Error>) -> Bool {
        let isNew = state.withLock { state in
            guard case .new = state else { return false }
            state = .waiting(continuation)
            return true
        }
        if !isNew { continuation.resume(throwing: CancellationError()) }
        return isNew
    }

    /// Called before the block. Returns false if the task was cancelled while it waited.
    func begin() -> Bool {
        state.withLock { state in
            guard case .waiting(let continuation) = state else { return false }
            state = .running(continuation)
            return true
        }
    }

    func end(_ error: (any Error)?) {
        let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            switch state {
            case .waiting(let continuation), .running(let continuation):
                state = .ended
                return continuation
            case .new, .ended: return nil
            }
        }
        if let error { continuation?.resume(throwing: error) } else { continuation?.resume() }
    }

    func cancel() {
        let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            switch state {
            case .waiting(let continuation):
                state = .ended
                return continuation
            case .new:
                state = .ended
                return nil
            case .running, .ended: return nil
            }
        }
        continuation?.resume(throwing: CancellationError())
    }
}
