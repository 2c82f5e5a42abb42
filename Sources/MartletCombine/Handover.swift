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
    /// What is published in place of it where no Realm can be opened; nil where nothing can be.
    var failed: (any Error) -> Output? = { _ in nil }

    private init(_ configuration: Realm.Configuration?, _ resolve: @escaping (Realm?) -> Output?) {
        self.configuration = configuration
        self.resolve = resolve
    }

    func failing(_ failed: @escaping (any Error) -> Output?) -> Passage {
        var passage = self
        passage.failed = failed
        return passage
    }

    /// What any thread may have.
    init(unconfined value: Output) { self.init(nil) { _ in value } }

    init<Thing: ThreadConfined>(_ thing: Thing, _ make: @escaping (Thing) -> Output) {
        self.init(thing, with: { thing, _ in make(thing) })
    }

    /// - Parameter make: given the Realm, too, where one is opened.
    init<Thing: ThreadConfined>(_ thing: Thing, with make: @escaping (Thing, Realm?) -> Output) {
        if thing.isInvalidated {
            self.init(nil) { _ in nil }
            return
        }
        guard let realm = thing.realm, !thing.isFrozen else {
            self.init(unconfined: make(thing, nil))
            return
        }
        let reference = ThreadSafeReference(to: thing)
        self.init(realm.configuration.ofQueues) { realm in realm?.resolve(reference).map { make($0, realm) } }
    }
}

extension RealmPublishers {
    /// Publishes what can be handed to another queue with `receive(on:)`.
    public struct MakeThreadSafe<Upstream: Publisher> {
        let upstream: Upstream
        let pack: (Upstream.Output) -> Passage<Upstream.Output>

        /// Publishes on a serial queue: what is published is looked up there, and passed over when it is gone by then.
        ///
        /// Where the Realm cannot be opened there, as for lack of file descriptors, that is tried again for some seconds, and
        /// what comes later waits. After that a change is replaced by `.error`, and a publisher that can fail does;
        /// one that can do neither goes on trying.
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
        var opening = HandoverOpening()

        /// Subscribes to what is handed over.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            upstream.subscribe(HandoverSubscriber(subscriber, queue, pack, opening))
        }
    }
}

/// How a Realm is opened on a queue, so that tests can replace it.
struct HandoverOpening {
    var open: (Realm.Configuration, DispatchQueue) throws -> Realm = { try Realm(configuration: $0, queue: $1) }
    /// More failures than this in a row are told, where that is possible: after about two seconds.
    var greatestFailures = 10
    /// Milliseconds until it is tried again after so many failures.
    var pauseMilliseconds: (_ failures: Int) -> Int = { 1 << min($0, 10) }
}

/// Carries what it receives to a queue, in order.
///
/// Ledger: `upstream` and `isCancelled` are guarded by `lock`; `arrivals` and `failures` are used on the queue, and so is
/// `downstream`, but for the subscription, which comes first.
// Sendable by the ledger above.
private final class HandoverSubscriber<Downstream: Subscriber>: Subscriber, Subscription, @unchecked Sendable {
    typealias Input = Downstream.Input
    typealias Failure = Downstream.Failure

    private let downstream: Downstream
    private let queue: DispatchQueue
    private let pack: (Input) -> Passage<Input>
    private let opening: HandoverOpening
    private let lock = NSLock()
    private var upstream: (any Subscription)?
    private var isCancelled = false
    /// What has come to the queue, oldest first.
    private var arrivals: [Arrival] = []
    /// How often in a row the Realm could not be opened for the first of them.
    private var failures = 0

    private enum Arrival {
        case value(Passage<Input>)
        case completion(Subscribers.Completion<Failure>)
    }

    init(
        _ downstream: Downstream, _ queue: DispatchQueue, _ pack: @escaping (Input) -> Passage<Input>,
        _ opening: HandoverOpening
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
        arrive(.value(pack(input)))
        return .none
    }

    func receive(completion: Subscribers.Completion<Failure>) { arrive(.completion(completion)) }

    private func arrive(_ arrival: Arrival) {
        queue.hand { [self] in
            arrivals.append(arrival)
            // Otherwise it waits for those before it.
            if failures == 0 { unpack() }
        }
    }

    private func unpack() {
        while let first = arrivals.first {
            if locked({ isCancelled }) {
                arrivals = []
                return
            }
            switch first {
            case .completion(let completion):
                arrivals.removeFirst()
                downstream.receive(completion: completion)
            case .value(let passage): if !unpack(passage) { return }
            }
        }
    }

    /// Publishes the first of what has come; false when that must wait.
    private func unpack(_ passage: Passage<Input>) -> Bool {
        let value: Input?
        do {
            let realm = try passage.configuration.map { try opening.open($0, queue) }
            value = passage.resolve(realm)
        } catch {
            failures += 1
            guard failures > opening.greatestFailures, let told = passage.failed(error) else { return fail(error) }
            value = told
        }
        failures = 0
        arrivals.removeFirst()
        // In place of what is gone another may come.
        request(value.map { downstream.receive($0) } ?? .max(1))
        return true
    }

    /// Tells of a failure for good, where it has gone on for long and can be told, or tries again soon.
    private func fail(_ error: any Error) -> Bool {
        guard failures > opening.greatestFailures, let failure = error as? Failure else {
            queue.hand(afterMilliseconds: opening.pauseMilliseconds(failures)) { [self] in unpack() }
            return false
        }
        cancel()
        (arrivals, failures) = ([], 0)
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
    /// Lets what is published be received on another queue, where it is looked up: `threadSafeReference().receive(on: queue)`.
    ///
    /// It shows what is newest there, which may be more than what was published. To get exactly that, `freeze()` it.
    public func threadSafeReference() -> RealmPublishers.MakeThreadSafe<Self> {
        RealmPublishers.MakeThreadSafe(upstream: self) { Passage($0) { $0 } }
    }
}

extension Publisher {
    /// Lets changes be received on another queue, where the object is looked up, and with it the objects among the old and
    /// new values; those that are gone by then are nil.
    public func threadSafeReference<Observed: ThreadConfined>() -> RealmPublishers.MakeThreadSafe<Self>
    where Output == ObjectChange<Observed> {
        RealmPublishers.MakeThreadSafe(upstream: self) { change in
            guard case .change(let object, let properties) = change else { return Passage(unconfined: change) }
            let passing = properties.map { $0.passing { $0.handedOver } }
            return Passage(object, with: { object, realm in .change(object, passing.map { $0(realm) }) })
                .failing { .error($0) }
        }
    }

    /// Lets changes be received on another queue, where the collection is looked up. It may be newer there than the
    /// positions of the change; to have them agree, `freeze()` it.
    public func threadSafeReference<Collection: ThreadConfined>() -> RealmPublishers.MakeThreadSafe<Self>
    where Output == RealmCollectionChange<Collection> {
        RealmPublishers.MakeThreadSafe(upstream: self) { change in
            switch change {
            case .initial(let collection), .update(let collection, _, _, _):
                Passage(collection) { found in change.mapped { _ in found } }.failing { .error($0) }
            case .error: Passage(unconfined: change)
            }
        }
    }

    /// Lets changes be received on another queue, where the map is looked up.
    public func threadSafeReference<Collection: ThreadConfined>() -> RealmPublishers.MakeThreadSafe<Self>
    where Output == RealmMapChange<Collection> {
        RealmPublishers.MakeThreadSafe(upstream: self) { change in
            switch change {
            case .initial(let map), .update(let map, _, _, _):
                Passage(map) { found in change.mapped { _ in found } }.failing { .error($0) }
            case .error: Passage(unconfined: change)
            }
        }
    }
}

extension ThreadConfined {
    /// Leads to the same thing in the Realm of another queue; to nil when it is gone.
    fileprivate var handedOver: PassingValue {
        if isInvalidated { return { _ in nil } }
        if realm == nil || isFrozen { return { _ in self } }
        let reference = ThreadSafeReference(to: self)
        return { $0?.resolve(reference) }
    }
}
