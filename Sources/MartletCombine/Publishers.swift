public import Martlet

#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

extension ObservableCollection where Self: RealmSubscribable {
    /// Publishes that the collection has changed: in spite of its name, after the change.
    public var objectWillChange: RealmPublishers.WillChange<Self> {
        RealmPublishers.WillChange(origin: Origin(self))
    }

    /// Publishes the collection once it is there, and after each change.
    public var collectionPublisher: RealmPublishers.Value<Self> { collectionPublisher(keyPaths: nil) }

    /// Publishes the collection once it is there, and after changes of its membership and of the named properties.
    public func collectionPublisher(keyPaths: [String]?) -> RealmPublishers.Value<Self> {
        RealmPublishers.Value(origin: Origin(self, keyPaths))
    }

    /// Publishes what changed, beginning with `.initial`.
    public var changesetPublisher: RealmPublishers.CollectionChangeset<Self> { changesetPublisher(keyPaths: nil) }

    /// The same where only the named properties count as modifications.
    public func changesetPublisher(keyPaths: [String]?) -> RealmPublishers.CollectionChangeset<Self> {
        RealmPublishers.Changeset(origin: Origin(self, keyPaths)) {
            .error($0)
        } observe: { collection, keyPaths, tell in
            collection.observe(keyPaths: keyPaths) { tell($0, false) }
        }
    }
}

extension ObservableCollection where Self: RealmSubscribable, Element: ObjectBase {
    /// The same with typed key paths.
    public func collectionPublisher(keyPaths: [any KeyPathDescriptor<Element>]) -> RealmPublishers.Value<Self> {
        collectionPublisher(keyPaths: keyPaths.map { $0.keyPath })
    }

    /// The same with typed key paths.
    public func changesetPublisher(
        keyPaths: [any KeyPathDescriptor<Element>]
    ) -> RealmPublishers.CollectionChangeset<Self> { changesetPublisher(keyPaths: keyPaths.map { $0.keyPath }) }
}

extension ObservableSections where Self: RealmSubscribable {
    /// Publishes that the sections have changed: in spite of its name, after the change.
    public var objectWillChange: RealmPublishers.WillChange<Self> {
        RealmPublishers.WillChange(origin: Origin(self))
    }

    /// Publishes the sections once they are there, and after each change.
    public var collectionPublisher: RealmPublishers.Value<Self> { collectionPublisher(keyPaths: nil) }

    /// The same where only the named properties count as modifications.
    public func collectionPublisher(keyPaths: [String]?) -> RealmPublishers.Value<Self> {
        RealmPublishers.Value(origin: Origin(self, keyPaths))
    }

    /// Publishes what changed, beginning with `.initial`.
    public var changesetPublisher: RealmPublishers.SectionChangeset<Self> { changesetPublisher(keyPaths: nil) }

    /// The same where only the named properties count as modifications.
    public func changesetPublisher(keyPaths: [String]?) -> RealmPublishers.SectionChangeset<Self> {
        RealmPublishers.Changeset(origin: Origin(self, keyPaths)) {
            .error($0)
        } observe: { sections, keyPaths, tell in
            sections.observe(keyPaths: keyPaths) { tell($0, false) }
        }
    }
}

extension Map {
    /// Publishes the map once it is there, and after each change.
    public var collectionPublisher: RealmPublishers.Value<Map> { collectionPublisher(keyPaths: nil) }

    /// The same where only the named properties of objects count as modifications.
    public func collectionPublisher(keyPaths: [String]?) -> RealmPublishers.Value<Map> {
        RealmPublishers.Value(origin: Origin(self, keyPaths))
    }

    /// Publishes what changed by key, beginning with `.initial`.
    public var changesetPublisher: RealmPublishers.MapChangeset<Map> { changesetPublisher(keyPaths: nil) }

    /// The same where only the named properties of objects count as modifications.
    public func changesetPublisher(keyPaths: [String]?) -> RealmPublishers.MapChangeset<Map> {
        RealmPublishers.Changeset(origin: Origin(self, keyPaths)) {
            .error($0)
        } observe: { map, keyPaths, tell in
            map.observe(keyPaths: keyPaths) { tell($0, false) }
        }
    }
}

extension ObservableProjection where Self: RealmSubscribable {
    /// Publishes that what the projection shows has changed: in spite of its name, after the change.
    public var objectWillChange: RealmPublishers.WillChange<Self> {
        RealmPublishers.WillChange(origin: Origin(self))
    }
}

/// Publishes an object, projection or collection after each change; collections at the beginning too. Finishes when an
/// object is deleted.
///
/// - Parameters:
///   - subscribable: what is published; it is in a Realm.
///   - keyPaths: which properties count; nil for what `observe` takes without.
public func valuePublisher<Subscribable: RealmSubscribable>(
    _ subscribable: Subscribable, keyPaths: [String]? = nil
) -> RealmPublishers.Value<Subscribable> { RealmPublishers.Value(origin: Origin(subscribable, keyPaths)) }

/// Publishes what changed of an object, and at last its deletion.
///
/// - Parameters:
///   - object: an object of a Realm.
///   - keyPaths: which properties count; nil for the object's own.
public func changesetPublisher<Observed: KeyPathObservable & RealmSubscribable>(
    _ object: Observed, keyPaths: [String]? = nil
) -> RealmPublishers.ObjectChangeset<Observed> {
    RealmPublishers.Changeset(origin: Origin(object, keyPaths)) {
        .error($0)
    } observe: { object, keyPaths, tell in
        object.observe(keyPaths: keyPaths) { tell($0, $0.isDeletion) }
    }
}

/// Publishes what changed of what a projection shows, and at last the deletion of its object.
///
/// - Parameters:
///   - projection: a projection of an object of a Realm.
///   - keyPaths: which labels count; nil for all.
public func changesetPublisher<Observed: ObservableProjection & RealmSubscribable>(
    _ projection: Observed, keyPaths: [String]? = nil
) -> RealmPublishers.ObjectChangeset<Observed> {
    RealmPublishers.Changeset(origin: Origin(projection, keyPaths)) {
        .error($0)
    } observe: { projection, keyPaths, tell in
        projection.observe(keyPaths: keyPaths) { tell($0, $0.isDeletion) }
    }
}

/// Publishes what changed of a collection, beginning with `.initial`.
///
/// - Parameters:
///   - collection: a collection of a Realm.
///   - keyPaths: which properties count as modifications; nil for all.
public func changesetPublisher<Collection: ObservableCollection & RealmSubscribable>(
    _ collection: Collection, keyPaths: [String]? = nil
) -> RealmPublishers.CollectionChangeset<Collection> { collection.changesetPublisher(keyPaths: keyPaths) }

extension ObjectChange {
    fileprivate var isDeletion: Bool { if case .deleted = self { true } else { false } }
}

// MARK: What views observe

extension Realm {
    /// Publishes that the Realm shows something else: in spite of its name, after the change.
    public var objectWillChange: RealmPublishers.RealmWillChange {
        RealmPublishers.RealmWillChange(origin: Origin(self))
    }
}

extension Object: ObservableObject {
    /// Publishes that the object has changed or is deleted: in spite of its name, after the change. Traps when it is
    /// subscribed to and the object is in no Realm.
    public var objectWillChange: RealmPublishers.WillChange<Object> {
        RealmPublishers.WillChange(origin: Origin(self))
    }
}

extension EmbeddedObject: ObservableObject {
    /// Publishes that the object has changed or is deleted: in spite of its name, after the change. Traps when it is
    /// subscribed to and the object is in no Realm.
    public var objectWillChange: RealmPublishers.WillChange<EmbeddedObject> {
        RealmPublishers.WillChange(origin: Origin(self))
    }
}

extension List: ObservableObject {
    /// Publishes that the list has changed: in spite of its name, after the change.
    public var objectWillChange: RealmPublishers.WillChange<List> {
        RealmPublishers.WillChange(origin: Origin(self))
    }
}

extension MutableSet: ObservableObject {
    /// Publishes that the set has changed: in spite of its name, after the change.
    public var objectWillChange: RealmPublishers.WillChange<MutableSet> {
        RealmPublishers.WillChange(origin: Origin(self))
    }
}

extension Map: ObservableObject {
    /// Publishes that the map has changed: in spite of its name, after the change.
    public var objectWillChange: RealmPublishers.WillChange<Map> {
        RealmPublishers.WillChange(origin: Origin(self))
    }
}
