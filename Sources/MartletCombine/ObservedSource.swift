import Dispatch
import Martlet

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// The source, key paths and queue of the observation for a publisher.
struct ObservedSource<Source: ThreadConfined> {
    let source: Source
    var keyPaths: [String]?
    /// The queue on which to observe; nil to observe in the isolation of the source.
    var queue: DispatchQueue?
    /// Stores the token of each subscription; nil if tokens are not stored.
    var save: ((NotificationToken) -> Void)?

    init(_ source: Source, _ keyPaths: [String]? = nil) {
        self.source = source
        self.keyPaths = keyPaths
    }

    func on(_ queue: DispatchQueue) -> ObservedSource {
        var copy = self
        copy.queue = queue
        return copy
    }

    func saving<Owner: AnyObject>(
        on owner: Owner, at keyPath: ReferenceWritableKeyPath<Owner, NotificationToken?>
    ) -> ObservedSource {
        var copy = self
        copy.save = { [weak owner] in owner?[keyPath: keyPath] = $0 }
        return copy
    }

    /// Creates a subscription for the subscriber, and starts its observation with `observe`.
    ///
    /// If a queue is set and the source has a Realm, the source is resolved in a Realm of the queue, and `observe` is
    /// called there with the resolved source. If this Realm cannot be opened, the subscriber receives the signal that
    /// `failed` returns. If the source was deleted, the subscription finishes.
    ///
    /// Without a queue or a Realm, `observe` is called at once with the source, in the isolation of the source.
    func attach<Downstream: Subscriber>(
        _ subscriber: Downstream, canPause: Bool = true,
        failed: @escaping (any Error) -> PublishedSignal<Downstream.Input, Downstream.Failure>,
        _ observe:
            @escaping (
                Source, [String]?, @escaping (PublishedSignal<Downstream.Input, Downstream.Failure>) -> Void
            ) -> NotificationToken
    ) {
        let subscription = ObservationSubscription(subscriber, canPause: canPause, queue: queue)
        subscriber.receive(subscription: subscription)
        let (keyPaths, save) = (keyPaths, save)
        func begin(_ source: Source, _ subscription: ObservationSubscription<Downstream>) {
            subscription.start { notify in
                let token = observe(source, keyPaths, notify)
                save?(token)
                return token
            }
        }
        guard let queue, let configuration = source.realm?.configuration.forQueue else {
            return begin(source, subscription)
        }
        let reference = ThreadSafeReference(to: source)
        queue.asyncUnchecked { [weak subscription] in
            guard let subscription else { return }
            do {
                let realm = try Realm(configuration: configuration, queue: queue)
                guard let source = realm.resolve(reference) else { return subscription.complete(.finished) }
                begin(source, subscription)
            } catch {
                subscription.receive(failed(error))
            }
        }
    }
}

extension Realm.Configuration {
    /// The configuration for a Realm that is used on a queue: a copy without a scheduler.
    var forQueue: Realm.Configuration {
        var configuration = self
        configuration.scheduler = nil
        return configuration
    }
}

extension DispatchQueue {
    /// Runs `work` asynchronously. The caller ensures that no other thread uses the captured values.
    func asyncUnchecked(_ work: @escaping () -> Void) {
        nonisolated(unsafe) let work = work
        async { work() }
    }

    /// Runs `work` after a delay. The caller ensures that no other thread uses the captured values.
    func asyncUnchecked(afterMilliseconds milliseconds: Int, _ work: @escaping () -> Void) {
        nonisolated(unsafe) let work = work
        asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { work() }
    }
}
