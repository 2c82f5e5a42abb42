public import Dispatch
import MartletEngine

/// A live collection of a Realm that can be observed.
public protocol ObservableCollection<Element> {
    associatedtype Element
    /// What all variants of `observe` come to. With `keepsPast` deleted elements can be read as they were.
    func _observe(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, keepsPast: Bool,
        _ tell: @escaping (_CollectionEvent, Self) -> Void
    ) -> NotificationToken
}

extension ObservableCollection {
    func _observe(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, _ tell: @escaping (_CollectionEvent, Self) -> Void
    ) -> NotificationToken { _observe(keyPaths, queue, keepsPast: false, tell) }
}

extension ObservableCollection {
    /// Calls `block` with the collection once it is there, and after each change of what it holds.
    ///
    /// Calls come on the executor of the Realm: its run loop or queue, and inside `refresh()` and `beginWrite()`. The
    /// observation lasts as long as the token, and keeps the collection alive.
    ///
    /// - Parameters:
    ///   - keyPaths: which properties count as modifications, through links too; nil for all, up to four objects deep.
    ///   - queue: a serial queue to observe on instead; the collection given to the block then belongs to it.
    ///   - block: is told of each change.
    /// - Complexity: what a change costs goes with the rows that changed, not with the collection. Only results with
    ///   `distinct` or `limit`, and those of which very many rows changed at once, are asked for and compared as a whole;
    ///   and whoever falls behind by more versions than the file remembers is told that everything it still has changed.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        _observe(keyPaths, queue) { event, collection in
            switch event {
            case .initial: block(.initial(collection))
            case .update(let change):
                block(
                    .update(
                        collection, deletions: change.deletions, insertions: change.insertions,
                        modifications: change.modifications))
            case .failure(let error): block(.error(error))
            }
        }
    }

    /// As `observe`, with moves, the new positions of modified elements, and the deleted elements as they were.
    ///
    /// For the sake of the latter the version of the last call stays readable until the next, after `realm.invalidate()`
    /// too.
    public func observeChanges(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (DetailedCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        _observe(keyPaths, queue, keepsPast: true) { event, collection in
            switch event {
            case .initial: block(.initial(collection))
            case .update(let change): block(.update(collection, change))
            case .failure(let error): block(.error(error))
            }
        }
    }
}

extension ObservableCollection where Element: ObjectBase {
    /// The same with typed key paths.
    public func observe(
        keyPaths: [any KeyPathDescriptor<Element>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map(\.keyPath), on: queue, block)
    }

    /// The same with Swift key paths. Through a collection they lead by any element: `\.siblings[0].name` means the names
    /// of all, and `\.siblings.first?.name` as well.
    public func observe(
        keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { ObjectBase.path($0) }, on: queue, block)
    }
}
