public import Martlet

#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

extension ObservableCollection where Self: RealmSubscribable {
    /// Despite its name, this publisher publishes a value after each change of the collection, not before the change.
    public var objectWillChange: RealmPublishers.WillChange<Self> {
        RealmPublishers.WillChange(source: ObservedSource(self))
    }

    /// Publishes the initial collection, and the collection after each change.
    public var collectionPublisher: RealmPublishers.Value<Self> { collectionPublisher(keyPaths: nil) }

    /// Publishes the initial collection, and the collection after each insertion, deletion, move, and change of the
    /// named properties.
    public func collectionPublisher(keyPaths: [String]?) -> RealmPublishers.Value<Self> {
        RealmPublishers.Value(source: ObservedSource(self, keyPaths))
    }

    /// Publishes the changes, starting with `.initial`.
    public var changesetPublisher: RealmPublishers.CollectionChangeset<Self> { changesetPublisher(keyPaths: nil) }

    /// Publishes the changes, starting with `.initial`. Modifications are changes of the named properties.
    public func changesetPublisher(keyPaths: [String]?) -> RealmPublishers.CollectionChangeset<Self> {
        RealmPublishers.Changeset(source: ObservedSource(self, keyPaths)) {
            .error($0)
        } observe: { collection, keyPaths, notify in
            collection.observe(keyPaths: keyPaths) { notify($0, false) }
        }
    }
}

extension ObservableCollection where Self: RealmSubscribable, Element: ObjectBase {
    /// Publishes the initial collection, and the collection after each insertion, deletion, move, and change of the
    /// properties at typed key paths.
    public func collectionPublisher(keyPaths: [any KeyPathDescriptor<Element>]) -> RealmPublishers.Value<Self> {
        collectionPublisher(keyPaths: keyPaths.map { $0.keyPath })
    }

    /// Publishes the changes, starting with `.initial`. Modifications are changes of the properties at typed key paths.
    public func changesetPublisher(
        keyPaths: [any KeyPathDescriptor<Element>]
    ) -> RealmPublishers.CollectionChangeset<Self> { changesetPublisher(keyPaths: keyPaths.map { $0.keyPath }) }
}

extension ObservableSections where Self: RealmSubscribable {
    /// Despite its name, this publisher publishes a value after each change of the sections, not before the change.
    public var objectWillChange: RealmPublishers.WillChange<Self> {
        RealmPublishers.WillChange(source: ObservedSource(self))
    }

    /// Publishes the initial sections, and the sections after each change.
    public var collectionPublisher: RealmPublishers.Value<Self> { collectionPublisher(keyPaths: nil) }

    /// Publishes the initial sections, and the sections after each insertion, deletion, and change of the named
    /// properties.
    public func collectionPublisher(keyPaths: [String]?) -> RealmPublishers.Value<Self> {
        RealmPublishers.Value(source: ObservedSource(self, keyPaths))
    }

    /// Publishes the changes, starting with `.initial`.
    public var changesetPublisher: RealmPublishers.SectionChangeset<Self> { changesetPublisher(keyPaths: nil) }

    /// Publishes the changes, starting with `.initial`. Modifications are changes of the named properties.
    public func changesetPublisher(keyPaths: [String]?) -> RealmPublishers.SectionChangeset<Self> {
        RealmPublishers.Changeset(source: ObservedSource(self, keyPaths)) {
            .error($0)
        } observe: { sections, keyPaths, notify in
            sections.observe(keyPaths: keyPaths) { notify($0, false) }
        }
    }
}

extension Map {
    /// Publishes the initial map, and the map after each change.
    public var collectionPublisher: RealmPublishers.Value<Map> { collectionPublisher(keyPaths: nil) }

    /// Publishes the initial map, and the map after each insertion, deletion, and change of its objects' named
    /// properties.
    public func collectionPublisher(keyPaths: [String]?) -> RealmPublishers.Value<Map> {
        RealmPublishers.Value(source: ObservedSource(self, keyPaths))
    }

    /// Publishes the changes by key, starting with `.initial`.
    public var changesetPublisher: RealmPublishers.MapChangeset<Map> { changesetPublisher(keyPaths: nil) }

    /// Publishes the changes by key, starting with `.initial`. Modifications are changes of the objects' named
    /// properties.
    public func changesetPublisher(keyPaths: [String]?) -> RealmPublishers.MapChangeset<Map> {
        RealmPublishers.Changeset(source: ObservedSource(self, keyPaths)) {
            .error($0)
        } observe: { map, keyPaths, notify in
            map.observe(keyPaths: keyPaths) { notify($0, false) }
        }
    }
}

extension ObservableProjection where Self: RealmSubscribable {
    /// Despite its name, this publisher publishes a value after each change of the projected properties, not before the
    /// change.
    public var objectWillChange: RealmPublishers.WillChange<Self> {
        RealmPublishers.WillChange(source: ObservedSource(self))
    }
}

/// Publishes an object, projection or collection after each change. A collection is also published at the beginning.
/// If an object or projection is published, the publisher finishes when the object is deleted.
///
/// - Parameters:
///   - subscribable: the object, projection or collection to publish. It must belong to a Realm.
///   - keyPaths: the observed properties; nil for the properties that `observe` observes by default.
public func valuePublisher<Subscribable: RealmSubscribable>(
    _ subscribable: Subscribable, keyPaths: [String]? = nil
) -> RealmPublishers.Value<Subscribable> { RealmPublishers.Value(source: ObservedSource(subscribable, keyPaths)) }

/// Publishes the changes of an object, and finally its deletion.
///
/// - Parameters:
///   - object: an object of a Realm.
///   - keyPaths: the observed properties; nil for the properties of the object itself.
public func changesetPublisher<Observed: KeyPathObservable & RealmSubscribable>(
    _ object: Observed, keyPaths: [String]? = nil
) -> RealmPublishers.ObjectChangeset<Observed> {
    RealmPublishers.Changeset(source: ObservedSource(object, keyPaths)) {
        .error($0)
    } observe: { object, keyPaths, notify in
        object.observe(keyPaths: keyPaths) { notify($0, $0.isDeletion) }
    }
}

/// Publishes the changes of the projected properties, and finally the deletion of the object.
///
/// - Parameters:
///   - projection: a projection of an object of a Realm.
///   - keyPaths: the observed properties of the projection, by their names in the projection; nil for all.
public func changesetPublisher<Observed: ObservableProjection & RealmSubscribable>(
    _ projection: Observed, keyPaths: [String]? = nil
) -> RealmPublishers.ObjectChangeset<Observed> {
    RealmPublishers.Changeset(source: ObservedSource(projection, keyPaths)) {
        .error($0)
    } observe: { projection, keyPaths, notify in
        projection.observe(keyPaths: keyPaths) { notify($0, $0.isDeletion) }
    }
}

/// Publishes the changes of a collection, starting with `.initial`.
///
/// - Parameters:
///   - collection: a collection of a Realm.
///   - keyPaths: the properties whose changes are reported as modifications; nil for the properties that `observe`
///     observes by default.
public func changesetPublisher<Collection: ObservableCollection & RealmSubscribable>(
    _ collection: Collection, keyPaths: [String]? = nil
) -> RealmPublishers.CollectionChangeset<Collection> { collection.changesetPublisher(keyPaths: keyPaths) }

extension ObjectChange {
    fileprivate var isDeletion: Bool { if case .deleted = self { true } else { false } }
}

// MARK: Observable objects

extension Realm {
    /// Despite its name, this publisher publishes a value after each change of the Realm, not before the change.
    public var objectWillChange: RealmPublishers.RealmWillChange {
        RealmPublishers.RealmWillChange(source: ObservedSource(self))
    }
}

extension Object: ObservableObject {
    /// Despite its name, this publisher publishes a value after the object was changed or deleted, not before the
    /// change. Subscribing traps if the object is unmanaged.
    public var objectWillChange: RealmPublishers.WillChange<Object> {
        RealmPublishers.WillChange(source: ObservedSource(self))
    }
}

extension EmbeddedObject: ObservableObject {
    /// Despite its name, this publisher publishes a value after the object was changed or deleted, not before the
    /// change. Subscribing traps if the object is unmanaged.
    public var objectWillChange: RealmPublishers.WillChange<EmbeddedObject> {
        RealmPublishers.WillChange(source: ObservedSource(self))
    }
}

extension List: ObservableObject {
    /// Despite its name, this publisher publishes a value after each change of the list, not before the change.
    public var objectWillChange: RealmPublishers.WillChange<List> {
        RealmPublishers.WillChange(source: ObservedSource(self))
    }
}

extension MutableSet: ObservableObject {
    /// Despite its name, this publisher publishes a value after each change of the set, not before the change.
    public var objectWillChange: RealmPublishers.WillChange<MutableSet> {
        RealmPublishers.WillChange(source: ObservedSource(self))
    }
}

extension Map: ObservableObject {
    /// Despite its name, this publisher publishes a value after each change of the map, not before the change.
    public var objectWillChange: RealmPublishers.WillChange<Map> {
        RealmPublishers.WillChange(source: ObservedSource(self))
    }
}
