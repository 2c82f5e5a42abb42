import Dispatch
import Martlet

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// What a publisher observes, how, and where.
struct Origin<Thing: ThreadConfined> {
    let thing: Thing
    var keyPaths: [String]?
    /// Nil for where the thing is.
    var queue: DispatchQueue?
    /// Keeps the token of each subscription somewhere.
    var save: ((NotificationToken) -> Void)?

    init(_ thing: Thing, _ keyPaths: [String]? = nil) {
        self.thing = thing
        self.keyPaths = keyPaths
    }

    func on(_ queue: DispatchQueue) -> Origin {
        var origin = self
        origin.queue = queue
        return origin
    }

    func saving<Owner: AnyObject>(
        on owner: Owner, at keyPath: ReferenceWritableKeyPath<Owner, NotificationToken?>
    ) -> Origin {
        var origin = self
        origin.save = { [weak owner] in owner?[keyPath: keyPath] = $0 }
        return origin
    }

    /// Subscribes: `observe` is called where the thing is, or, with what it is there, on the queue.
    func attach<Downstream: Subscriber>(
        _ subscriber: Downstream, canPause: Bool = true,
        failed: @escaping (any Error) -> PublishedSignal<Downstream.Input, Downstream.Failure>,
        _ observe:
            @escaping (
                Thing, [String]?, @escaping (PublishedSignal<Downstream.Input, Downstream.Failure>) -> Void
            ) -> NotificationToken
    ) {
        let subscription = ObservationSubscription(subscriber, canPause: canPause)
        subscriber.receive(subscription: subscription)
        let (keyPaths, save) = (keyPaths, save)
        func begin(_ thing: Thing, _ subscription: ObservationSubscription<Downstream>) {
            subscription.start { tell in
                let token = observe(thing, keyPaths, tell)
                save?(token)
                return token
            }
        }
        guard let queue, let configuration = thing.realm?.configuration.ofQueues else {
            return begin(thing, subscription)
        }
        let reference = ThreadSafeReference(to: thing)
        queue.hand { [weak subscription] in
            guard let subscription else { return }
            do {
                let realm = try Realm(configuration: configuration, queue: queue)
                guard let thing = realm.resolve(reference) else { return subscription.complete(.finished) }
                begin(thing, subscription)
            } catch {
                subscription.hear(failed(error))
            }
        }
    }
}

extension Realm.Configuration {
    /// The same for a queue, which takes turns by itself.
    var ofQueues: Realm.Configuration {
        var configuration = self
        configuration.scheduler = nil
        return configuration
    }
}

extension DispatchQueue {
    /// Runs work that uses what nobody else uses any more.
    func hand(_ work: @escaping () -> Void) {
        nonisolated(unsafe) let work = work
        async { work() }
    }

    /// The same, later.
    func hand(afterMilliseconds milliseconds: Int, _ work: @escaping () -> Void) {
        nonisolated(unsafe) let work = work
        asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { work() }
    }
}
