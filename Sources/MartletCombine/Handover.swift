public import Dispatch
import Foundation
public import Martlet

#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// Something on its way to another queue: leads to the live thing there, or to nil when it is gone.
struct Passage<Output> {
    /// The configuration of the Realm to resolve in; nil for what needs none.
    let configuration: Realm.Configuration?
    let resolve: (Realm?) -> Output?

    private init(_ configuration: Realm.Configuration?, _ resolve: @escaping (Realm?) -> Output?) {
        self.configuration = configuration
        self.resolve = resolve
    }

    /// What any thread may have.
    init(unconfined value: Output) { self.init(nil) { _ in value } }

    init<Thing: ThreadConfined>(_ thing: Thing, _ make: @escaping (Thing) -> Output) {
        if thing.isInvalidated {
            self.init(nil) { _ in nil }
            return
        }
        guard let realm = thing.realm, !thing.isFrozen else {
            self.init(unconfined: make(thing))
            return
        }
        let reference = ThreadSafeReference(to: thing)
        self.init(realm.configuration.ofQueues) { $0?.resolve(reference).map(make) }
    }
}

extension RealmPublishers {
    /// Publishes what can be handed to another queue with `receive(on:)`.
    public struct MakeThreadSafe<Upstream: Publisher> {
        let upstream: Upstream
        let pack: (Upstream.Output) -> Passage<Upstream.Output>

        /// Publishes on a serial queue: what is published is looked up there, and passed over when it is gone by then.
        public func receive(on queue: DispatchQueue) -> Handover<Upstream> {
            Handover(upstream: upstream, queue: queue, pack: pack)
        }
    }

    /// Publishes on a serial queue what belongs to it.
    public struct Handover<Upstream: Publisher>: Publisher {
        public typealias Output = Upstream.Output
        public typealias Failure = Upstream.Failure
        let upstream: Upstream
        let queue: DispatchQueue
        let pack: (Output) -> Passage<Output>

        /// Subscribes to what is handed over.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            upstream.subscribe(HandoverSubscriber(subscriber, queue, pack))
        }
    }
}

/// Carries what it receives to a queue, in order.
///
/// Ledger: `upstream` is guarded by `lock`; `downstream` is used on the queue, but for the subscription, which comes first.
// Sendable by the ledger above.
private final class HandoverSubscriber<Downstream: Subscriber>: Subscriber, Subscription, @unchecked Sendable {
    typealias Input = Downstream.Input
    typealias Failure = Downstream.Failure

    private let downstream: Downstream
    private let queue: DispatchQueue
    private let pack: (Input) -> Passage<Input>
    private let lock = NSLock()
    private var upstream: (any Subscription)?
    private var isCancelled = false

    init(_ downstream: Downstream, _ queue: DispatchQueue, _ pack: @escaping (Input) -> Passage<Input>) {
        self.downstream = downstream
        self.queue = queue
        self.pack = pack
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
        let passage = pack(input)
        queue.hand { [self] in
            if locked({ isCancelled }) { return }
            let realm = passage.configuration.flatMap { try? Realm(configuration: $0, queue: queue) }
            guard let value = passage.resolve(realm) else { return request(.max(1)) }
            request(downstream.receive(value))
        }
        return .none
    }

    func receive(completion: Subscribers.Completion<Failure>) {
        queue.hand { [self] in
            if !locked({ isCancelled }) { downstream.receive(completion: completion) }
        }
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
    /// Lets what is published be received on another queue, where it is looked up: `threadSafeReference().receive(on: queue)`.
    ///
    /// It shows what is newest there, which may be more than what was published. To get exactly that, `freeze()` it.
    public func threadSafeReference() -> RealmPublishers.MakeThreadSafe<Self> {
        RealmPublishers.MakeThreadSafe(upstream: self) { Passage($0) { $0 } }
    }
}

extension Publisher {
    /// Lets changes be received on another queue, where the object is looked up.
    public func threadSafeReference<Observed: ThreadConfined>() -> RealmPublishers.MakeThreadSafe<Self>
    where Output == ObjectChange<Observed> {
        RealmPublishers.MakeThreadSafe(upstream: self) { change in
            guard case .change(let object, let properties) = change else { return Passage(unconfined: change) }
            return Passage(object) { .change($0, properties) }
        }
    }

    /// Lets changes be received on another queue, where the collection is looked up. It may be newer there than the
    /// positions of the change; to have them agree, `freeze()` it.
    public func threadSafeReference<Collection: ThreadConfined>() -> RealmPublishers.MakeThreadSafe<Self>
    where Output == RealmCollectionChange<Collection> {
        RealmPublishers.MakeThreadSafe(upstream: self) { change in
            switch change {
            case .initial(let collection), .update(let collection, _, _, _):
                Passage(collection) { found in change.mapped { _ in found } }
            case .error: Passage(unconfined: change)
            }
        }
    }

    /// Lets changes be received on another queue, where the map is looked up.
    public func threadSafeReference<Collection: ThreadConfined>() -> RealmPublishers.MakeThreadSafe<Self>
    where Output == RealmMapChange<Collection> {
        RealmPublishers.MakeThreadSafe(upstream: self) { change in
            switch change {
            case .initial(let map), .update(let map, _, _, _): Passage(map) { found in change.mapped { _ in found } }
            case .error: Passage(unconfined: change)
            }
        }
    }
}
