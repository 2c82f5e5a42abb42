public import Martlet

#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

extension Publisher where Output: ThreadConfined {
    /// Freezes what is published: it never changes, and any thread may read it. A list, set or map whose owner was deleted
    /// has ended, and comes as it is: there is nothing to freeze, and nothing to read.
    ///
    /// ```swift
    /// dogs.collectionPublisher
    ///     .freeze()
    ///     .receive(on: background)
    ///     .sink { completion in } receiveValue: { dogs in export(dogs) }
    /// ```
    public func freeze() -> Publishers.Map<Self, Output> { map { $0.frozenUnlessGone } }
}

extension Publisher {
    /// Freezes the object in each change, and the objects among its old and new values. An object that was deleted comes as
    /// it is: there is nothing to freeze, and nothing to read.
    public func freeze<Observed: ThreadConfined>() -> Publishers.Map<Self, Output>
    where Output == ObjectChange<Observed> {
        map { change in
            if case .change(let object, let properties) = change {
                .change(object.frozenUnlessGone, properties.map { $0.frozen })
            } else {
                change
            }
        }
    }

    /// Freezes the collection in each change: what is read of it is exactly what the change leads to, also when an observer
    /// that was told before has written since. What was kept from before a silent write, until it was asked for, is newer.
    public func freeze<Collection: ThreadConfined>() -> Publishers.Map<Self, Output>
    where Output == RealmCollectionChange<Collection> { map { $0.mapped { $0.frozenUnlessGone } } }

    /// Freezes the map in each change.
    public func freeze<Collection: ThreadConfined>() -> Publishers.Map<Self, Output>
    where Output == RealmMapChange<Collection> { map { $0.mapped { $0.frozenUnlessGone } } }

    /// Freezes the sections in each change.
    public func freeze<Sections: ThreadConfined>() -> Publishers.Map<Self, Output>
    where Output == RealmSectionedResultsChange<Sections> { map { $0.mapped { $0.frozenUnlessGone } } }
}

extension ThreadConfined {
    // A collection that ended comes with its last change.
    fileprivate var frozenUnlessGone: Self { isInvalidated ? self : frozenAsTold() }
}

extension PropertyChange {
    fileprivate var frozen: PropertyChange {
        let change = passing { thing in
            let frozen: any ThreadConfined = thing.realm == nil ? thing : thing.frozenUnlessGone
            return { _ in frozen }
        }
        return change(nil)
    }
}

extension RealmCollectionChange {
    /// The same change of another collection.
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
    /// The same change of another map.
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
    /// The same change of other sections.
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
