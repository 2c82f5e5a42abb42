import MartletEngine
import Synchronization

extension Realm {
    /// Runs `block` in a write transaction of its own, soon and on this Realm's thread, queue or actor, and commits.
    ///
    /// Nobody is kept waiting: where another thread or process writes, its end is waited for in the background. Asynchronous
    /// writes of a Realm run in the order they were asked for; those that have queued up are made durable together. May be
    /// called at any time, inside writes and callbacks too.
    ///
    /// - Parameters:
    ///   - block: makes the changes.
    ///   - onComplete: called when the changes are durable, or with the error that took them back.
    @discardableResult
    public func writeAsync(
        _ block: @escaping () -> Void, onComplete: (((any Swift.Error)?) -> Void)? = nil
    ) -> AsyncTransactionId {
        let writes = requireAsyncWrites()
        let id = writes.nextID()
        writes.add(
            AsyncWrite(
                id: id, body: block, commitsItself: false, complete: { onComplete?($0) }, context: context,
                actor: context.confinement.actor))
        return id
    }

    /// Runs `block` in a write transaction, as `writeAsync` does, and leaves the commit to it: `commitAsyncWrite` or
    /// `commitWrite`. What the block does not commit is taken back.
    @discardableResult
    public func beginAsyncWrite(_ block: @escaping () -> Void) -> AsyncTransactionId {
        let writes = requireAsyncWrites()
        let id = writes.nextID()
        writes.add(
            AsyncWrite(
                id: id, body: block, commitsItself: true, complete: { _ in }, context: context,
                actor: context.confinement.actor))
        return id
    }

    /// Ends the open write transaction, and tells later when it is durable.
    ///
    /// Where collections or objects of this Realm are observed, the block of a `beginAsyncWrite` begins when all before it is
    /// durable and told, whatever was allowed.
    ///
    /// - Parameters:
    ///   - allowGrouping: the changes may be made durable together with those of the writes that follow in the queue.
    ///   - onComplete: called when the changes are durable, or with the error that took them back.
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

    /// Prevents an asynchronous write that has not begun. Its `onComplete` is not called.
    ///
    /// - Throws: `Realm.Error.invalidInput` when it has begun, or ended, already.
    public func cancelAsyncWrite(_ id: AsyncTransactionId) throws {
        guard requireAsyncWrites().cancel(id) else {
            throw Error(
                .invalidInput, path: context.coordinator.path,
                "the asynchronous write \(id) has begun already and cannot be cancelled; use 'cancelWrite' in its block"
            )
        }
    }

    /// True while asynchronous writes wait, run, or are not yet durable.
    public var isPerformingAsynchronousWriteOperations: Bool {
        context.confinement.require("a Realm")
        return context.asyncWrites?.isBusy ?? false
    }

    /// Runs `block` in a write transaction of its own on this Realm's actor, and returns its result when the changes are
    /// durable. The actor is free while others write.
    ///
    /// Queues up with the other asynchronous writes of this Realm.
    ///
    /// - Throws: what the block throws, with its changes taken back; `CancellationError` when the task is cancelled before the
    ///   block has begun; `Realm.Error` as `write` does.
    @discardableResult
    public func asyncWrite<Result>(
        isolation: isolated (any Actor)? = #isolation, @_implicitSelfCapture _ block: @escaping () throws -> Result
    ) async throws -> Result {
        let writes = requireAsyncWrites()
        let ticket = AsyncWriteTicket()
        var result: Result?
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation(isolation: isolation) { continuation in
                guard ticket.wait(continuation) else { return }
                writes.add(
                    AsyncWrite(
                        id: writes.nextID(), begin: ticket.begin, body: { result = try block() }, commitsItself: false,
                        complete: ticket.end, context: context, actor: context.confinement.actor))
            }
        } onCancel: {
            ticket.cancel()
        }
        guard let result else { throw CancellationError() }
        return result
    }

    /// Moves to the newest version, whose changes are worked out without keeping the actor from other work, and delivers its
    /// notifications. False when there was nothing new.
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
        if !writes.canRun() { Misuse.noTurns() }
        return writes
    }
}

/// A task that waits for its write: it is resumed once, by the write's end or by being cancelled before its beginning.
private final class AsyncWriteTicket: Sendable {
    private enum State {
        case new
        case waiting(CheckedContinuation<Void, any Error>)
        case running(CheckedContinuation<Void, any Error>)
        case over
    }

    private let state = Mutex(State.new)

    /// False when it was cancelled already.
    func wait(_ continuation: CheckedContinuation<Void, any Error>) -> Bool {
        let isNew = state.withLock { state in
            guard case .new = state else { return false }
            state = .waiting(continuation)
            return true
        }
        if !isNew { continuation.resume(throwing: CancellationError()) }
        return isNew
    }

    /// False when it was cancelled meanwhile.
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
                state = .over
                return continuation
            case .new, .over: return nil
            }
        }
        if let error { continuation?.resume(throwing: error) } else { continuation?.resume() }
    }

    func cancel() {
        let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            switch state {
            case .waiting(let continuation):
                state = .over
                return continuation
            case .new:
                state = .over
                return nil
            case .running, .over: return nil
            }
        }
        continuation?.resume(throwing: CancellationError())
    }
}
