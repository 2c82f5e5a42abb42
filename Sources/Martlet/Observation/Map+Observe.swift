public import Dispatch
import MartletEngine

/// What happened to a map.
public enum RealmMapChange<Collection> {
    /// The map is there; always the first call.
    case initial(Collection)
    /// Keys that are gone, that are new, and whose values were overwritten or, where they are objects, changed. A key that
    /// was removed and set again counts as overwritten.
    case update(Collection, deletions: [String], insertions: [String], modifications: [String])
    case error(any Error)
}

extension Map {
    /// Calls `block` with the map once it is there, and after each change, by key.
    ///
    /// ```swift
    /// token = dog.weights.observe { change in
    ///     guard case .update(let weights, _, let days, _) = change else { return }
    ///     for day in days { print(day, weights[day] ?? 0) }
    /// }
    /// ```
    ///
    /// Calls come as those of lists and results do. The deletion of an object that is a value makes the value nil, which is
    /// a modification.
    ///
    /// - Parameters:
    ///   - keyPaths: which properties of objects count as modifications, through links too; nil for all, up to four
    ///     objects deep. Traps where no value can be an object.
    ///   - queue: a serial queue to observe on instead; the map given to the block then belongs to it.
    ///   - block: is told of each change.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (RealmMapChange<Map>) -> Void
    ) -> NotificationToken {
        observe("map", keyPaths, queue) { id, paths, schema throws(ResolvedPath.Failure) in
            try MapTracker(id, keyPaths: paths, schema)
        } tell: { event, _, map in
            switch event {
            case .initial: block(.initial(map))
            case .update(let change, _):
                block(
                    .update(
                        map, deletions: change.deletions, insertions: change.insertions,
                        modifications: change.modifications))
            case .quiet: break
            case .failure(let error): block(.error(error))
            }
        }
    }

    /// The same with typed key paths of the objects that are values.
    public func observe<Model: ObjectBase>(
        keyPaths: [any KeyPathDescriptor<Model>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmMapChange<Map>) -> Void
    ) -> NotificationToken where Value == Model? {
        observe(keyPaths: keyPaths.map(\.keyPath), on: queue, block)
    }

    /// The same with Swift key paths of the objects that are values.
    public func observe<Model: ObjectBase>(
        keyPaths: [PartialKeyPath<Model>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmMapChange<Map>) -> Void
    ) -> NotificationToken where Value == Model? {
        observe(keyPaths: keyPaths.map { ObjectBase.path($0) }, on: queue, block)
    }
}
