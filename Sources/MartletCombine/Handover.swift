public import Dispatch
import Foundation
public import Martlet

#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// A published value on its way to another queue. On that queue, `resolve` returns the live value, or nil if the value
/// was deleted.
struct TransferableOutput<Output> {
    /// The configuration of the Realm that resolves the value; nil if no Realm is needed.
    let configuration: Realm.Configuration?
    let resolve: (Realm?) -> Output?
    /// Returns the output to publish if the Realm cannot be opened, or nil if the output type cannot contain an error.
    var outputForError: (any Error) -> Output? = { _ in nil }

    private init(_ configuration: Realm.Configuration?, _ resolve: @escaping (Realm?) -> Output?) {
        self.configuration = configuration
        self.resolve = resolve
    }

    func withOutputForError(_ outputForError: @escaping (any Error) -> Output?) -> TransferableOutput {
        var transfer = self
        transfer.outputForError = outputForError
        return transfer
    }

    /// Creates the transfer of a value that any thread may use.
    init(unconfined value: Output) { self.init(nil) { _ in value } }

    init<Value: ThreadConfined>(_ value: Value, _ make: @escaping (Value) -> Output) {
        self.init(value, with: { value, _ in make(value) })
    }

    /// - Parameter make: creates the output from the resolved value and its Realm. The Realm is nil if the value could
    ///   be used without one.
    init<Value: ThreadConfined>(_ value: Value, with make: @escaping (Value, Realm?) -> Output) {
        if value.isInvalidated {
            self.init(nil) { _ in nil }
            return
        }
        guard let realm = value.realm, !value.isFrozen else {
            self.init(unconfined: make(value, nil))
            return
        }
        let reference = ThreadSafeReference(to: value)
        self.init(realm.configuration.forQueue) { realm in realm?.resolve(reference).map { make($0, realm) } }
    }
}

extension RealmPublishers {
    /// The result of `threadSafeReference()`. It is not a publisher: call `receive(on:)` to get one.
    public struct MakeThreadSafe<Upstream: Publisher> {
        let upstream: Upstream
        /// Prepares a value for the transfer to the queue.
        let pack: (Upstream.Output) -> TransferableOutput<Upstream.Output>

        /// Publishes on a serial queue. Each value is resolved in a Realm of that queue. Values that were deleted in
        /// the meantime are skipped.
        ///
        /// If the Realm cannot be opened on the queue, for example because no file descriptors are available, the
        /// publisher retries for about two seconds, and later values wait. After that, a publisher of changes publishes
        /// `.error`. A publisher of values fails if its failure type can represent the error. If the failure type
        /// cannot represent the error, the publisher continues to retry.
        public func receive(on queue: DispatchQueue) -> Handover<Upstream> {
            Handover(upstream: upstream, queue: queue, pack: pack)
        }
    }

    /// Publishes values on the serial queue that was passed to `receive(on:)`. The values are resolved in a Realm of
    /// that queue.
    public struct Handover<Upstream: Publisher>: Publisher {
        public typealias Output = Upstream.Output
        public typealias Failure = Upstream.Failure
        let upstream: Upstream
        let queue: DispatchQueue
        let pack: (Output) -> TransferableOutput<Output>
        var opening = RealmOpening()

        /// Subscribes to the transferred values.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            upstream.subscribe(HandoverSubscriber(subscriber, queue, pack, opening))
        }
    }
}

/// How a Realm is opened on a queue, and how often and after which delays opening is retried. Tests replace the
/// properties.
struct RealmOpening {
    var open: (Realm.Configuration, DispatchQueue) throws -> Realm = { try Realm(configuration: $0, queue: $1) }
    /// The maximum number of consecutive failures that are not reported. The next failure is reported if the output
    /// type or the failure type can represent the error. With the default delays, this takes about two seconds.
    var maximumFailures = 10
    /// Returns the delay before the next attempt, in milliseconds.
    var pauseMilliseconds: (_ failures: Int) -> Int = { 1 << min($0, 10) }
}

/// Transfers the received values to a queue, in order.
///
/// Thread safety: `lock` guards `upstream` and `isCancelled`. `pending`, `failures` and `downstream` are used only on
/// the queue, with one exception: `downstream` receives its subscription on the thread of the upstream publisher.
// Sendable: see "Thread safety" above.
private final class HandoverSubscriber<Downstream: Subscriber>: Subscriber, Subscription, @unchecked Sendable {
    typealias Input = Downstream.Input
    typealias Failure = Downstream.Failure

    private let downstream: Downstream
    private let queue: DispatchQueue
    private let pack: (Input) -> TransferableOutput<Input>
    private let opening: RealmOpening
    private let lock = NSLock()
    private var upstream: (any Subscription)?
    private var isCancelled = false
    /// The values and completions to deliver on the queue, oldest first.
    private var pending: [PendingSignal] = []
    /// The number of consecutive failures to open the Realm for the first pending value.
    private var failures = 0

    private enum PendingSignal {
        case value(TransferableOutput<Input>)
        case completion(Subscribers.Completion<Failure>)
    }

    init(
        _ downstream: Downstream, _ queue: DispatchQueue, _ pack: @escaping (Input) -> TransferableOutput<Input>,
        _ opening: RealmOpening
    ) {
        self.downstream = downstream
        self.queue = queue
        self.pack = pack
        self.opening = opening
    }

    private func locked<R>(_ body: () -> R) -> R {
        lock.lock()
        defer { lock.unlock() }
        return body()
    }

    func receive(subscription: any Subscription) {
        locked { upstream = subscription }
        downstream.receive(subscription: self)
    }

    func receive(_ input: Input) -> Subscribers.Demand {
        enqueue(.value(pack(input)))
        return .none
    }

    func receive(completion: Subscribers.Completion<Failure>) { enqueue(.completion(completion)) }

    private func enqueue(_ signal: PendingSignal) {
        queue.asyncUnchecked { [self] in
            pending.append(signal)
            // After a failure, a retry is already scheduled. The retry also delivers this signal.
            if failures == 0 { deliverPending() }
        }
    }

    private func deliverPending() {
        while let first = pending.first {
            if locked({ isCancelled }) {
                pending = []
                return
            }
            switch first {
            case .completion(let completion):
                pending.removeFirst()
                downstream.receive(completion: completion)
            case .value(let transfer): if !deliver(transfer) { return }
            }
        }
    }

    /// Delivers the first pending value. Returns false if the value is still pending or the publisher failed, because
    /// the Realm could not be opened.
    private func deliver(_ transfer: TransferableOutput<Input>) -> Bool {
        let value: Input?
        do {
            let realm = try transfer.configuration.map { try opening.open($0, queue) }
            value = transfer.resolve(realm)
        } catch {
            failures += 1
            guard failures > opening.maximumFailures, let output = transfer.outputForError(error) else {
                return retryOrFail(error)
            }
            value = output
        }
        failures = 0
        pending.removeFirst()
        // If the value was skipped, one more value is requested.
        request(value.map { downstream.receive($0) } ?? .max(1))
        return true
    }

    /// If there were too many attempts and the failure type can represent the error, completes with the error.
    /// Otherwise schedules the next attempt. Always returns false, because the value was not delivered.
    private func retryOrFail(_ error: any Error) -> Bool {
        guard failures > opening.maximumFailures, let failure = error as? Failure else {
            queue.asyncUnchecked(afterMilliseconds: opening.pauseMilliseconds(failures)) { [self] in deliverPending() }
            return false
        }
        cancel()
        (pending, failures) = ([], 0)
        downstream.receive(completion: .failure(failure))
        return false
    }

    func request(_ demand: Subscribers.Demand) {
        guard demand > .none else { return }
        locked { upstream }?.request(demand)
    }

    func cancel() {
        let subscription = locked {
            isCancelled = true
            defer { upstream = nil }
            return upstream
        }
        subscription?.cancel()
    }
}

extension Publisher where Output: ThreadConfined {
    /// Transfers the published values to another queue and resolves them there. The queue is the argument of
    /// `receive(on:)`: `threadSafeReference().receive(on: queue)`.
    ///
    /// A resolved value shows the newest version of the file, which may be newer than the version in which the value
    /// was published. To receive exactly the published version, use `freeze()`.
    public func threadSafeReference() -> RealmPublishers.MakeThreadSafe<Self> {
        RealmPublishers.MakeThreadSafe(upstream: self) { TransferableOutput($0) { $0 } }
    }
}

extension Publisher {
    /// Transfers changes to another queue, and resolves there the object and the objects among the old and new values.
    /// If an old or new value was deleted in the meantime, it becomes nil.
    public func threadSafeReference<Observed: ThreadConfined>() -> RealmPublishers.MakeThreadSafe<Self>
    where Output == ObjectChange<Observed> {
        RealmPublishers.MakeThreadSafe(upstream: self) { change in
            guard case .change(let object, let properties) = change else {
                return TransferableOutput(unconfined: change)
            }
            let transfers = properties.map { $0.transferring { $0.transferable } }
            return TransferableOutput(object, with: { object, realm in .change(object, transfers.map { $0(realm) }) })
                .withOutputForError { .error($0) }
        }
    }

    /// Transfers changes to another queue, and resolves the collection there. The resolved collection can be newer than
    /// the change, so the positions in the change may not match it. To receive a collection that matches the positions,
    /// use `freeze()`.
    public func threadSafeReference<Collection: ThreadConfined>() -> RealmPublishers.MakeThreadSafe<Self>
    where Output == RealmCollectionChange<Collection> {
        RealmPublishers.MakeThreadSafe(upstream: self) { change in
            switch change {
            case .initial(let collection), .update(let collection, _, _, _):
                TransferableOutput(collection) { found in change.mapped { _ in found } }
                    .withOutputForError { .error($0) }
            case .error: TransferableOutput(unconfined: change)
            }
        }
    }

    /// Transfers changes to another queue, and resolves the map there.
    public func threadSafeReference<Collection: ThreadConfined>() -> RealmPublishers.MakeThreadSafe<Self>
    where Output == RealmMapChange<Collection> {
        RealmPublishers.MakeThreadSafe(upstream: self) { change in
            switch change {
            case .initial(let map), .update(let map, _, _, _):
                TransferableOutput(map) { found in change.mapped { _ in found } }.withOutputForError { .error($0) }
            case .error: TransferableOutput(unconfined: change)
            }
        }
    }
}

extension ThreadConfined {
    /// A closure that finds this value in the Realm of another queue. The closure returns nil if the value was deleted.
    fileprivate var transferable: TransferableValue {
        if isInvalidated { return { _ in nil } }
        if realm == nil || isFrozen { return { _ in self } }
        let reference = ThreadSafeReference(to: self)
        return { $0?.resolve(reference) }
    }
}
