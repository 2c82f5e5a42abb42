import MartletEngine

extension ObservableCollection {
    /// A sequence of the initial collection and its changes. A change includes moves, and the deleted elements as they
    /// were before the change. The sequence ends when the object that owns the collection is deleted.
    ///
    /// - Parameter keyPaths: the properties whose changes are reported as modifications, as in `observe`.
    public func changes(keyPaths: [String]? = nil) -> Changes<DetailedCollectionChange<Self>> {
        Changes { notify in observeChanges(keyPaths: keyPaths) { notify($0) } }
    }
}

extension ObservableCollection where Element: ObjectBase {
    /// A sequence of the initial collection and its changes. Typed key paths name the properties whose changes are
    /// reported as modifications.
    public func changes(keyPaths: [any KeyPathDescriptor<Element>]) -> Changes<DetailedCollectionChange<Self>> {
        changes(keyPaths: keyPaths.map(\.keyPath))
    }

    /// A sequence of the initial collection and its changes. Swift key paths name the properties whose changes are
    /// reported as modifications.
    public func changes(keyPaths: [PartialKeyPath<Element>]) -> Changes<DetailedCollectionChange<Self>> {
        changes(keyPaths: keyPaths.map { ObjectBase.path($0) })
    }
}

extension Map {
    /// A sequence of the initial map and its changes, which are reported by key.
    ///
    /// - Parameter keyPaths: the properties whose changes are reported as modifications, as in `observe`.
    public func changes(keyPaths: [String]? = nil) -> Changes<RealmMapChange<Map>> {
        Changes { [self] notify in observe(keyPaths: keyPaths) { notify($0) } }
    }
}

extension ObservableSections {
    /// A sequence of the initial sections and their changes.
    ///
    /// - Parameter keyPaths: the properties whose changes are reported as modifications, as in `observe`.
    public func changes(keyPaths: [String]? = nil) -> Changes<RealmSectionedResultsChange<Self>> {
        Changes { [self] notify in observe(keyPaths: keyPaths) { notify($0) } }
    }
}

extension KeyPathObservable {
    /// A sequence of the changes of the object's properties. The deletion of the object is the last element.
    ///
    /// - Parameter keyPaths: the observed properties, as in `observe`.
    public func changes(keyPaths: [String]? = nil) -> Changes<ObjectChange<Self>> {
        Changes { [self] notify in observe(keyPaths: keyPaths) { notify($0) } }
    }

    /// A sequence of the changes of the properties at typed key paths. The deletion of the object is the last element.
    public func changes(keyPaths: [any KeyPathDescriptor<Self>]) -> Changes<ObjectChange<Self>> {
        changes(keyPaths: keyPaths.map(\.keyPath))
    }

    /// A sequence of the changes of the properties at Swift key paths. The deletion of the object is the last element.
    public func changes(keyPaths: [PartialKeyPath<Self>]) -> Changes<ObjectChange<Self>> {
        changes(keyPaths: keyPaths.map { Self.path($0) })
    }
}

extension Realm {
    /// A sequence of the Realm's notifications.
    ///
    /// The Realm notifies after it commits or moves to another version. If it does not refresh automatically, it also
    /// notifies when a newer version exists. While the loop body runs, equal notifications are merged.
    public func changes() -> Changes<Notification> {
        Changes(register: { notify in observe { notification, _ in notify(notification) } }, isRepeated: ==)
    }
}
