public import Dispatch
public import Martlet

#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// What publishes objects, collections and Realms. Made by the functions and properties of what is published.
///
/// A publisher observes from the moment it is subscribed to, where it is subscribed to: on the thread, queue or actor of the
/// Realm. It tells a subscriber as much as it asks for; what happens while it asks for nothing comes as one change. The
/// observation ends when the subscription is cancelled or let go.
public enum RealmPublishers {
    /// Publishes that a Realm shows something else, or could: after each commit that it makes or moves to.
    public struct RealmWillChange: Publisher {
        public typealias Output = Void
        public typealias Failure = Never
        let origin: Origin<Realm>

        /// Keeps the token of each subscription in a property, for `Realm.write(withoutNotifying:)`.
        public func saveToken<Owner: AnyObject>(
            on owner: Owner, for keyPath: ReferenceWritableKeyPath<Owner, NotificationToken?>
        ) -> RealmWillChange { RealmWillChange(origin: origin.saving(on: owner, at: keyPath)) }

        /// Observes the Realm for a subscriber.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Void, S.Failure == Never {
            origin.attach(subscriber, canPause: false) { _ in
                .completion(.finished)
            } _: { realm, _, tell in
                realm.observe { _, _ in tell(.value(())) }
            }
        }
    }

    /// Publishes that an object or collection has changed. Where working out what changed fails, nothing is published, and
    /// the next change is; it finishes when an object is deleted.
    public struct WillChange<Subscribable: RealmSubscribable>: Publisher {
        public typealias Output = Void
        public typealias Failure = Never
        let origin: Origin<Subscribable>

        /// Keeps the token of each subscription in a property, for `Realm.write(withoutNotifying:)`.
        public func saveToken<Owner: AnyObject>(
            on owner: Owner, at keyPath: ReferenceWritableKeyPath<Owner, NotificationToken?>
        ) -> WillChange { WillChange(origin: origin.saving(on: owner, at: keyPath)) }

        /// Observes the object or collection for a subscriber.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Void, S.Failure == Never {
            origin.attach(subscriber) { _ in
                .completion(.finished)
            } _: { thing, keyPaths, tell in
                thing._publish(keyPaths) { event in
                    switch event {
                    case .initial, .failed: tell(.quiet)
                    case .changed: tell(.value(()))
                    case .ended: tell(.last(()))
                    }
                }
            }
        }
    }

    /// Publishes an object or collection after each change, a collection at the beginning too. Finishes when an object is
    /// deleted. Ends with the error where reading the file fails, even if that would pass: `retry` subscribes anew then, and
    /// a `Changeset` goes on by itself.
    public struct Value<Subscribable: RealmSubscribable>: Publisher {
        public typealias Output = Subscribable
        public typealias Failure = any Error
        let origin: Origin<Subscribable>

        /// Keeps the token of each subscription in a property, for `Realm.write(withoutNotifying:)`.
        public func saveToken<Owner: AnyObject>(
            on owner: Owner, at keyPath: ReferenceWritableKeyPath<Owner, NotificationToken?>
        ) -> Value { Value(origin: origin.saving(on: owner, at: keyPath)) }

        /// Observes on a serial queue: what is published belongs to it.
        public func subscribe(on queue: DispatchQueue) -> Value { Value(origin: origin.on(queue)) }

        /// Observes the object or collection for a subscriber.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Subscribable, S.Failure == any Error {
            origin.attach(subscriber) { error in
                .completion(.failure(error))
            } _: { thing, keyPaths, tell in
                thing._publish(keyPaths) { event in
                    switch event {
                    case .initial(let value), .changed(let value):
                        if let value = value as? Subscribable { tell(.value(value)) }
                    case .ended: tell(.completion(.finished))
                    case .failed(let error): tell(.completion(.failure(error)))
                    }
                }
            }
        }
    }

    /// Publishes what changed of a collection or object, as `observe` tells it. Finishes after the deletion of an object.
    public struct Changeset<Subscribable: RealmSubscribable, Change>: Publisher {
        public typealias Output = Change
        public typealias Failure = Never
        let origin: Origin<Subscribable>
        let failed: (any Error) -> Change
        let observe: (Subscribable, [String]?, @escaping (Change, _ isLast: Bool) -> Void) -> NotificationToken

        private func with(_ origin: Origin<Subscribable>) -> Changeset {
            Changeset(origin: origin, failed: failed, observe: observe)
        }

        /// Keeps the token of each subscription in a property, for `Realm.write(withoutNotifying:)`.
        public func saveToken<Owner: AnyObject>(
            on owner: Owner, at keyPath: ReferenceWritableKeyPath<Owner, NotificationToken?>
        ) -> Changeset { with(origin.saving(on: owner, at: keyPath)) }

        /// Observes on a serial queue: what is published belongs to it.
        public func subscribe(on queue: DispatchQueue) -> Changeset { with(origin.on(queue)) }

        /// Observes the object or collection for a subscriber.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Change, S.Failure == Never {
            let (failed, observe) = (failed, observe)
            origin.attach(subscriber) { error in
                .last(failed(error))
            } _: { thing, keyPaths, tell in
                observe(thing, keyPaths) { change, isLast in tell(isLast ? .last(change) : .value(change)) }
            }
        }
    }

    /// Publishes what changed of a list, set, result or linking objects.
    public typealias CollectionChangeset<Collection: RealmSubscribable> =
        Changeset<Collection, RealmCollectionChange<Collection>>
    /// Publishes what changed of a map.
    public typealias MapChangeset<Collection: RealmSubscribable> = Changeset<Collection, RealmMapChange<Collection>>
    /// Publishes what changed of sections.
    public typealias SectionChangeset<Sections: RealmSubscribable> =
        Changeset<Sections, RealmSectionedResultsChange<Sections>>
    /// Publishes what changed of an object or projection.
    public typealias ObjectChangeset<Observed: RealmSubscribable> = Changeset<Observed, ObjectChange<Observed>>
}
