public import Dispatch
public import Martlet

#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// The publishers of objects, collections and Realms. Properties such as `collectionPublisher`, and functions such as
/// `valuePublisher(_:keyPaths:)`, create them.
///
/// The observation begins with the subscription, in the isolation of the Realm: its thread, queue or actor. A
/// subscriber receives as many values as it requests. Changes made while it has no outstanding request are merged into
/// one change. The observation ends when the subscription is cancelled or released.
public enum RealmPublishers {
    /// Publishes a value when the Realm has committed a write, has moved to a newer version, or detects that a newer
    /// version exists.
    public struct RealmWillChange: Publisher {
        public typealias Output = Void
        public typealias Failure = Never
        let source: ObservedSource<Realm>

        /// Stores the token of each subscription in a property, for `Realm.write(withoutNotifying:)`.
        public func saveToken<Owner: AnyObject>(
            on owner: Owner, for keyPath: ReferenceWritableKeyPath<Owner, NotificationToken?>
        ) -> RealmWillChange { RealmWillChange(source: source.saving(on: owner, at: keyPath)) }

        /// Observes the Realm for a subscriber.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Void, S.Failure == Never {
            source.attach(subscriber, canPause: false) { _ in
                .completion(.finished)
            } _: { realm, _, notify in
                realm.observe { _, _ in notify(.value(())) }
            }
        }
    }

    /// Despite its name, which comes from Realm Swift, this publisher publishes a value after each change of an object
    /// or collection, not before the change. If the computation of a change fails, no value is published until the next
    /// change. If an object is observed, the publisher finishes when the object is deleted.
    public struct WillChange<Subscribable: RealmSubscribable>: Publisher {
        public typealias Output = Void
        public typealias Failure = Never
        let source: ObservedSource<Subscribable>

        /// Stores the token of each subscription in a property, for `Realm.write(withoutNotifying:)`.
        public func saveToken<Owner: AnyObject>(
            on owner: Owner, at keyPath: ReferenceWritableKeyPath<Owner, NotificationToken?>
        ) -> WillChange { WillChange(source: source.saving(on: owner, at: keyPath)) }

        /// Observes the object or collection for a subscriber.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Void, S.Failure == Never {
            source.attach(subscriber) { _ in
                .completion(.finished)
            } _: { subscribable, keyPaths, notify in
                subscribable._publish(keyPaths) { event in
                    switch event {
                    case .initial, .failed: notify(.skip)
                    case .changed: notify(.value(()))
                    case .ended: notify(.last(()))
                    }
                }
            }
        }
    }

    /// Publishes an object or collection after each change. A collection is also published at the beginning. If an
    /// object is published, the publisher finishes when the object is deleted.
    ///
    /// The publisher fails if the file cannot be read, even if the cause is temporary. Either use the operator `retry`
    /// to subscribe again, or use a `Changeset`, which publishes the error as a value and continues.
    public struct Value<Subscribable: RealmSubscribable>: Publisher {
        public typealias Output = Subscribable
        public typealias Failure = any Error
        let source: ObservedSource<Subscribable>

        /// Stores the token of each subscription in a property, for `Realm.write(withoutNotifying:)`.
        public func saveToken<Owner: AnyObject>(
            on owner: Owner, at keyPath: ReferenceWritableKeyPath<Owner, NotificationToken?>
        ) -> Value { Value(source: source.saving(on: owner, at: keyPath)) }

        /// Observes on a serial queue. The published values belong to that queue.
        public func subscribe(on queue: DispatchQueue) -> Value { Value(source: source.on(queue)) }

        /// Observes the object or collection for a subscriber.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Subscribable, S.Failure == any Error {
            source.attach(subscriber) { error in
                .completion(.failure(error))
            } _: { subscribable, keyPaths, notify in
                subscribable._publish(keyPaths) { event in
                    switch event {
                    case .initial(let value), .changed(let value):
                        if let value = value as? Subscribable { notify(.value(value)) }
                    case .ended: notify(.completion(.finished))
                    case .failed(let error): notify(.completion(.failure(error)))
                    }
                }
            }
        }
    }

    /// Publishes the changes of a collection or object, as `observe` reports them. If the changes of an object are
    /// published, the publisher finishes after the deletion of the object.
    public struct Changeset<Subscribable: RealmSubscribable, Change>: Publisher {
        public typealias Output = Change
        public typealias Failure = Never
        let source: ObservedSource<Subscribable>
        let failed: (any Error) -> Change
        let observe: (Subscribable, [String]?, @escaping (Change, _ isLast: Bool) -> Void) -> NotificationToken

        private func with(_ source: ObservedSource<Subscribable>) -> Changeset {
            Changeset(source: source, failed: failed, observe: observe)
        }

        /// Stores the token of each subscription in a property, for `Realm.write(withoutNotifying:)`.
        public func saveToken<Owner: AnyObject>(
            on owner: Owner, at keyPath: ReferenceWritableKeyPath<Owner, NotificationToken?>
        ) -> Changeset { with(source.saving(on: owner, at: keyPath)) }

        /// Observes on a serial queue. The published values belong to that queue.
        public func subscribe(on queue: DispatchQueue) -> Changeset { with(source.on(queue)) }

        /// Observes the object or collection for a subscriber.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Change, S.Failure == Never {
            let (failed, observe) = (failed, observe)
            source.attach(subscriber) { error in
                .last(failed(error))
            } _: { subscribable, keyPaths, notify in
                observe(subscribable, keyPaths) { change, isLast in notify(isLast ? .last(change) : .value(change)) }
            }
        }
    }

    /// Publishes the changes of a list, a set, results or linking objects.
    public typealias CollectionChangeset<Collection: RealmSubscribable> =
        Changeset<Collection, RealmCollectionChange<Collection>>
    /// Publishes the changes of a map.
    public typealias MapChangeset<Collection: RealmSubscribable> = Changeset<Collection, RealmMapChange<Collection>>
    /// Publishes the changes of sections.
    public typealias SectionChangeset<Sections: RealmSubscribable> =
        Changeset<Sections, RealmSectionedResultsChange<Sections>>
    /// Publishes the changes of an object or projection.
    public typealias ObjectChangeset<Observed: RealmSubscribable> = Changeset<Observed, ObjectChange<Observed>>
}
