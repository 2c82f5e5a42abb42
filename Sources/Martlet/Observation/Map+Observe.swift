public import Dispatch
import MartletEngine

/// A change of a map.
public enum RealmMapChange<Collection> {
    /// The initial map; always the first call.
    case initial(Collection)
    /// The keys that were removed, added and modified. A key is modified if its value was overwritten, or if its value
    /// is an object that changed. A key that was removed and set again counts as overwritten.
    case update(Collection, deletions: [String], insertions: [String], modifications: [String])
    case error(any Error)
}

extension Map {
    /// Calls `block` with the initial map, and after each change of the map. Changes are reported by key.
    ///
    /// ```swift
    /// token = dog.weights.observe { change in
    ///     guard case .update(let weights, _, let days, _) = change else { return }
    ///     for day in days { print(day, weights[day] ?? 0) }
    /// }
    /// ```
    ///
    /// `block` is called on the executor of the Realm (its run loop, queue or actor), as for lists and results. If an
    /// object of the map is deleted, the value of its key becomes nil. This change is reported as a modification.
    ///
    /// - Parameters:
    ///   - keyPaths: the object properties whose changes are reported as modifications. A key path may lead through
    ///     links. Nil for all properties of the values and of objects up to three links away. Traps if key paths are
    ///     given and the values of the map cannot be objects.
    ///   - queue: a serial queue on which `block` is called instead. The map that the block receives can be used on
    ///     this queue only.
    ///   - block: the closure that is called with each change.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (RealmMapChange<Map>) -> Void
    ) -> NotificationToken {
        observe("map", keyPaths, queue) { id, paths, schema throws(ResolvedPath.Failure) in
            try MapTracker(id, keyPaths: paths, schema)
        } notify: { event, _, map in
            switch event {
            case .initial: block(.initial(map))
            case .update(let change, _):
                block(
                    .update(
                        map, deletions: change.deletions, insertions: change.insertions,
                        modifications: change.modifications))
            case .stateOnly: break
            case .failure(let error): block(.error(error))
            }
        }
    }

    /// Observes the map. Typed key paths name the object properties whose changes are reported as modifications.
    public func observe<Model: ObjectBase>(
        keyPaths: [any KeyPathDescriptor<Model>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmMapChange<Map>) -> Void
    ) -> NotificationToken where Value == Model? {
        observe(keyPaths: keyPaths.map(\.keyPath), on: queue, block)
    }

    /// Observes the map. Swift key paths name the object properties whose changes are reported as modifications.
    public func observe<Model: ObjectBase>(
        keyPaths: [PartialKeyPath<Model>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmMapChange<Map>) -> Void
    ) -> NotificationToken where Value == Model? {
        observe(keyPaths: keyPaths.map { ObjectBase.path($0) }, on: queue, block)
    }
}
