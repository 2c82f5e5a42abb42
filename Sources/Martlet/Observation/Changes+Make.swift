import MartletEngine

extension ObservableCollection {
    /// The collection once it is there, then its changes, with moves and the deleted elements as they were.
    ///
    /// - Parameter keyPaths: which properties count as modifications, as `observe` takes them.
    public func changes(keyPaths: [String]? = nil) -> Changes<DetailedCollectionChange<Self>> {
        Changes { tell in observeChanges(keyPaths: keyPaths) { tell($0, false) } }
    }
}

extension ObservableCollection where Element: ObjectBase {
    /// The same with typed key paths.
    public func changes(keyPaths: [any KeyPathDescriptor<Element>]) -> Changes<DetailedCollectionChange<Self>> {
        changes(keyPaths: keyPaths.map(\.keyPath))
    }

    /// The same with Swift key paths.
    public func changes(keyPaths: [PartialKeyPath<Element>]) -> Changes<DetailedCollectionChange<Self>> {
        changes(keyPaths: keyPaths.map { ObjectBase.path($0) })
    }
}

extension Map {
    /// The map once it is there, then its changes, by key.
    ///
    /// - Parameter keyPaths: which properties of objects count as modifications, as `observe` takes them.
    public func changes(keyPaths: [String]? = nil) -> Changes<RealmMapChange<Map>> {
        Changes { [self] tell in observe(keyPaths: keyPaths) { tell($0, false) } }
    }
}

extension ObservableSections {
    /// The sections once they are there, then their changes.
    ///
    /// - Parameter keyPaths: which properties count as modifications, as `observe` takes them.
    public func changes(keyPaths: [String]? = nil) -> Changes<RealmSectionedResultsChange<Self>> {
        Changes { [self] tell in observe(keyPaths: keyPaths) { tell($0, false) } }
    }
}

extension KeyPathObservable {
    /// The changes of the object's properties, and at last its deletion, which ends the loop.
    ///
    /// - Parameter keyPaths: which properties count, as `observe` takes them.
    public func changes(keyPaths: [String]? = nil) -> Changes<ObjectChange<Self>> {
        Changes { [self] tell in observe(keyPaths: keyPaths) { tell($0, $0.isDeletion) } }
    }

    /// The same with typed key paths.
    public func changes(keyPaths: [any KeyPathDescriptor<Self>]) -> Changes<ObjectChange<Self>> {
        changes(keyPaths: keyPaths.map(\.keyPath))
    }

    /// The same with Swift key paths.
    public func changes(keyPaths: [PartialKeyPath<Self>]) -> Changes<ObjectChange<Self>> {
        changes(keyPaths: keyPaths.map { Self.path($0) })
    }
}

extension ObjectChange {
    var isDeletion: Bool { if case .deleted = self { true } else { false } }
}

extension Realm {
    /// What happens to the Realm: commits that it makes or moves to, and newer versions where it does not refresh itself.
    /// Those of one kind that come while the loop's body is busy are one.
    public func changes() -> Changes<Notification> {
        Changes(register: { tell in observe { notification, _ in tell(notification, false) } }, isRepeated: ==)
    }
}
