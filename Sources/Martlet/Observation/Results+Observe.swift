public import Dispatch
import MartletEngine

extension Results: ObservableCollection {
    /// Registers an observer. All variants of `observe` call this method.
    public func _observe(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, keepsDeleted: Bool,
        _ notify: @escaping (_CollectionEvent, Results) -> Void
    ) -> NotificationToken {
        storage.observe(keyPaths, queue, keepsDeleted: keepsDeleted) { event, storage in
            // `storage` belongs to the executor of the observer. It is the observed storage if the observer runs on the
            // current executor.
            notify(event, Results(storage))
        }
    }
}

extension LinkingObjects: ObservableCollection {
    /// Registers an observer. All variants of `observe` call this method.
    public func _observe(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, keepsDeleted: Bool,
        _ notify: @escaping (_CollectionEvent, LinkingObjects) -> Void
    ) -> NotificationToken {
        guard let results else { Misuse.observeUnmanaged("LinkingObjects<\(Element.self)>") }
        if results.isInvalidated { Misuse.observeInvalidated("LinkingObjects<\(Element.self)>") }
        return results._observe(keyPaths, queue, keepsDeleted: keepsDeleted) { event, results in
            notify(event, LinkingObjects(results: results))
        }
    }
}

extension ResultsStorage {
    func observe(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, keepsDeleted: Bool,
        _ notify: @escaping (_CollectionEvent, ResultsStorage) -> Void
    ) -> NotificationToken {
        let elements = DeletedElement.ElementSchema(type: table.type, element: .link(table.type.name))
        return observe(keyPaths, queue, tracksAll: false, keepsDeleted: keepsDeleted) { event, storage, _ in
            switch event {
            case .initial: notify(.initial, storage)
            case .update(let change, let past):
                notify(.update(CollectionChangeSet(change.positions, past, elements)), storage)
            case .stateOnly: break
            case .failure(let error): notify(.failure(error), storage)
            }
        }
    }

    /// Checks that the results can be observed, then registers an observer on the current executor or on a queue. The
    /// observer receives the keys of the reported version. The keys are also installed in the storage if its Realm
    /// shows that version.
    func observe(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, tracksAll: Bool, keepsDeleted: Bool = false,
        _ notify: @escaping (TrackedEvent<ResultsTracker.Change>, ResultsStorage, KeySequence?) -> Void
    ) -> NotificationToken {
        context.requireObservable("a collection of '\(table.type.name)'", onQueue: queue != nil)
        let paths = context.requireKeyPaths(keyPaths, table.id)
        let (plan, owner) = (plan, owner.map { CollectionOwner(table: $0._table?.id ?? 0, key: $0._key) })
        let version = queue == nil ? 0 : context.version
        return context.observe(on: queue, { [self] in notify(.failure($0), self, nil) }) {
            [self] context, registration in
            var observed = self
            if context !== self.context {
                // The owner may have been deleted before the queue looks it up. Then the observer is never called.
                if let owner, !context.hasKept(RowID(table: owner.table, key: owner.key), since: version) { return }
                let origin = owner.map { context.table($0.table).object($0.key) }
                observed = ResultsStorage(context, context.table(plan.table), plan, owner: origin)
            }
            let storage = observed
            storage.requireExecutable()
            func show(_ keys: KeySequence, ownerIsDeleted: Bool, _ version: UInt64) {
                if context.shows(version) { storage.install(keys, ownerIsDeleted: ownerIsDeleted) }
            }
            if let source = plan.source {
                let tracker = context.tracker { () throws(ResolvedPath.Failure) in
                    try OccurrencesTracker(
                        plan, from: source, owner: owner, keyPaths: paths, tracksAll: tracksAll, context.schema)
                }
                return context.registerObserver(tracker, registration, keepsDeleted: keepsDeleted) {
                    event, state, version in
                    if let state { show(state.keys, ownerIsDeleted: state.isInvalidated, version) }
                    notify(event, storage, state?.keys)
                }
            }
            let tracker = context.tracker { () throws(ResolvedPath.Failure) in
                try ResultsTracker(
                    plan, owner: owner, keyPaths: paths, tracksAll: tracksAll,
                    keysScannedPerSearch: context.coordinator.environment.keysScannedPerSearch, context.schema)
            }
            context.registerObserver(tracker, registration, keepsDeleted: keepsDeleted) { event, state, version in
                if let state { show(state.keys, ownerIsDeleted: state.isInvalidated, version) }
                notify(event, storage, state?.keys)
            }
        }
    }
}
