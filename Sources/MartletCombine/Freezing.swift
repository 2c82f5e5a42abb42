public import Martlet

#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

extension Publisher where Output: ThreadConfined {
    /// Freezes the published values: a frozen value never changes, and any thread may read it. A list, set or map whose
    /// owner was deleted is published unchanged, because it has no contents to freeze.
    ///
    /// ```swift
    /// dogs.collectionPublisher
    ///     .freeze()
    ///     .receive(on: background)
    ///     .sink { completion in } receiveValue: { dogs in export(dogs) }
    /// ```
    public func freeze() -> Publishers.Map<Self, Output> { map { $0.frozenUnlessInvalidated } }
}

extension Publisher {
    /// Freezes the object in each change, and the objects among the old and new values of the change. A deleted object
    /// is published unchanged, because it has no contents to freeze.
    public func freeze<Observed: ThreadConfined>() -> Publishers.Map<Self, Output>
    where Output == ObjectChange<Observed> {
        map { change in
            if case .change(let object, let properties) = change {
                .change(object.frozenUnlessInvalidated, properties.map { $0.frozen })
            } else {
                change
            }
        }
    }

    /// Freezes the collection in each change. The frozen collection shows the state directly after the change, even if
    /// another observer has already written to the Realm again.
    ///
    /// There is one exception: a write with `withoutNotifying` begins while the subscriber has no outstanding demand.
    /// The publisher then stores the change that precedes this write until the subscriber requests a value. The frozen
    /// collection shows a state that is newer than the stored change.
    public func freeze<Collection: ThreadConfined>() -> Publishers.Map<Self, Output>
    where Output == RealmCollectionChange<Collection> { map { $0.mapped { $0.frozenUnlessInvalidated } } }

    /// Freezes the map in each change.
    public func freeze<Collection: ThreadConfined>() -> Publishers.Map<Self, Output>
    where Output == RealmMapChange<Collection> { map { $0.mapped { $0.frozenUnlessInvalidated } } }

    /// Freezes the sections in each change.
    public func freeze<Sections: ThreadConfined>() -> Publishers.Map<Self, Output>
    where Output == RealmSectionedResultsChange<Sections> { map { $0.mapped { $0.frozenUnlessInvalidated } } }
}

extension ThreadConfined {
    // An invalidated object or collection cannot be frozen, so it is published unchanged.
    fileprivate var frozenUnlessInvalidated: Self { isInvalidated ? self : frozenAtDeliveredVersion() }
}

extension PropertyChange {
    fileprivate var frozen: PropertyChange {
        let makeChange = transferring { value in
            let frozen: any ThreadConfined = value.realm == nil ? value : value.frozenUnlessInvalidated
            return { _ in frozen }
        }
        return makeChange(nil)
    }
}

extension RealmCollectionChange {
    /// Returns the change with a transformed collection.
    func mapped(_ transform: (Collection) -> Collection) -> RealmCollectionChange {
        switch self {
        case .initial(let collection): .initial(transform(collection))
        case .update(let collection, let deletions, let insertions, let modifications):
            .update(
                transform(collection), deletions: deletions, insertions: insertions, modifications: modifications)
        case .error: self
        }
    }
}

extension RealmMapChange {
    /// Returns the change with a transformed map.
    func mapped(_ transform: (Collection) -> Collection) -> RealmMapChange {
        switch self {
        case .initial(let map): .initial(transform(map))
        case .update(let map, let deletions, let insertions, let modifications):
            .update(transform(map), deletions: deletions, insertions: insertions, modifications: modifications)
        case .error: self
        }
    }
}

extension RealmSectionedResultsChange {
    /// Returns the change with transformed sections.
    func mapped(_ transform: (Collection) -> Collection) -> RealmSectionedResultsChange {
        switch self {
        case .initial(let sections): .initial(transform(sections))
        case .update(
            let sections, let deletions, let insertions, let modifications, let sectionsToInsert, let sectionsToDelete):
            .update(
                transform(sections), deletions: deletions, insertions: insertions, modifications: modifications,
                sectionsToInsert: sectionsToInsert, sectionsToDelete: sectionsToDelete)
        case .error: self
        }
    }
}
