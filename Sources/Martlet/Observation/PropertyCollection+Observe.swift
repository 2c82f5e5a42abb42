public import Dispatch
import MartletEngine

extension List: ObservableCollection {
    /// Registers an observer. All variants of `observe` call this method.
    public func _observe(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, keepsDeleted: Bool,
        _ notify: @escaping (_CollectionEvent, List) -> Void
    ) -> NotificationToken { observeElements("list", keyPaths, queue, keepsDeleted, notify) }
}

extension MutableSet: ObservableCollection {
    /// Registers an observer. All variants of `observe` call this method.
    public func _observe(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, keepsDeleted: Bool,
        _ notify: @escaping (_CollectionEvent, MutableSet) -> Void
    ) -> NotificationToken { observeElements("set", keyPaths, queue, keepsDeleted, notify) }
}

extension ManagedCollection {
    fileprivate func observeElements(
        _ kind: String, _ keyPaths: [String]?, _ queue: DispatchQueue?, _ keepsDeleted: Bool,
        _ notify: @escaping (_CollectionEvent, Self) -> Void
    ) -> NotificationToken {
        let elements = core.map { DeletedElement.ElementSchema(type: $0.target?.type, element: $0.property.element) }
        return observe(kind, keyPaths, queue, keepsDeleted: keepsDeleted) {
            id, paths, schema throws(ResolvedPath.Failure) in
            try ElementsTracker(id, keyPaths: paths, schema)
        } notify: { event, _, collection in
            if let elements, let event = _CollectionEvent(event, elements) { notify(event, collection) }
        }
    }

    /// Checks that the collection can be observed, then registers an observer on the current executor or on a queue.
    func observe<Tracker: CollectionTracker>(
        _ kind: String, _ keyPaths: [String]?, _ queue: DispatchQueue?, keepsDeleted: Bool = false,
        _ tracker: @escaping (CollectionID, [PropertyPath]?, DatabaseSchema) throws(ResolvedPath.Failure) -> Tracker,
        notify: @escaping (TrackedEvent<Tracker.Change>, Tracker.State?, Self) -> Void
    ) -> NotificationToken {
        guard let core else { Misuse.observeUnmanaged("\(Self.self)") }
        let context = core.context
        context.requireObservable("the \(kind) '\(core.name)'", onQueue: queue != nil)
        core.requireValid()
        let paths = core.requireKeyPaths(keyPaths)
        let (id, version) = (core.id, context.version)
        return context.observe(on: queue, { [self] in notify(.failure($0), nil, self) }) {
            [self] context, registration in
            var observed = self
            if core.context !== context {
                let table = context.table(id.table)
                // The owner may have been deleted before the queue looks it up. Then the observer is never called.
                guard context.hasKept(RowID(table: id.table, key: id.owner), since: version) else { return }
                observed = Self(core: context.core(table, id.property, id.owner))
            }
            let collection = observed
            let collectionTracker = context.tracker { () throws(ResolvedPath.Failure) in
                try tracker(id, paths, context.schema)
            }
            context.registerObserver(collectionTracker, registration, keepsDeleted: keepsDeleted) { event, state, _ in
                // After `invalidate()`, reading the collection traps. But if the owner was deleted, the observer must
                // be able to read the collection, which is then empty.
                if state?.isInvalidated == true { collection.core?.ownerWasDeleted() }
                notify(event, state, state?.isInvalidated == true ? collection : collection.current)
            }
        }
    }

    // This instance, or a new instance if the Realm was invalidated and shows the owner again.
    private var current: Self {
        guard let core, core.isOwnerDeleted, core.table.exists(core.owner) else { return self }
        return Self(core: core.context.core(core.table, core.property.index, core.owner))
    }
}

extension CollectionCore {
    fileprivate func requireKeyPaths(_ keyPaths: [String]?) -> [PropertyPath]? {
        guard let keyPaths else { return nil }
        if property.isAny { return context.requireAnyKeyPaths(keyPaths, name) }
        guard let target = property.element.target.flatMap({ context.schema[$0] }) else {
            Misuse.unknownKeyPath(keyPaths.first ?? "", component: keyPaths.first ?? "", type: name)
        }
        return context.requireKeyPaths(keyPaths, target.id)
    }
}
