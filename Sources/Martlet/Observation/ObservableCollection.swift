public import Dispatch
import MartletEngine

/// A live collection of a Realm that can be observed.
public protocol ObservableCollection<Element> {
    associatedtype Element
    /// Registers an observer. All variants of `observe` call this method. If `keepsDeleted` is true, deleted elements
    /// can be read as they were before the change.
    func _observe(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, keepsDeleted: Bool,
        _ notify: @escaping (_CollectionEvent, Self) -> Void
    ) -> NotificationToken
}

extension ObservableCollection {
    func _observe(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, _ notify: @escaping (_CollectionEvent, Self) -> Void
    ) -> NotificationToken { _observe(keyPaths, queue, keepsDeleted: false, notify) }
}

extension ObservableCollection {
    /// Calls `block` with the initial collection, and after each change of the collection or its elements.
    ///
    /// `block` is called on the executor of the Realm (its run loop, queue or actor), also inside `refresh()` and
    /// `beginWrite()`. The observation ends when the token is released. Until then, the token keeps the collection
    /// alive.
    ///
    /// - Parameters:
    ///   - keyPaths: the properties whose changes are reported as modifications. A key path may lead through links. Nil
    ///     for all properties of the elements and of objects up to three links away.
    ///   - queue: a serial queue on which `block` is called instead. The collection that the block receives can be used
    ///     on this queue only.
    ///   - block: the closure that is called with each change.
    /// - Complexity: a notification costs time in proportion to the changed rows, not to the size of the collection.
    ///   Two kinds of results are queried again and compared completely: results with `distinct` or `limit`, and
    ///   results with very many rows that changed since the last call. If the change sets since the last call are no
    ///   longer stored in the file, all remaining elements are reported as modified.
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

    /// Calls `block` with the initial collection and after each change, as `observe` does. In addition to positions,
    /// changes include moves, the new positions of modified elements, and the deleted elements as they were before the
    /// change.
    ///
    /// The version of the last call is pinned until the next call. Deleted elements can therefore be read, even after
    /// `realm.invalidate()`.
    public func observeChanges(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (DetailedCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        _observe(keyPaths, queue, keepsDeleted: true) { event, collection in
            switch event {
            case .initial: block(.initial(collection))
            case .update(let change): block(.update(collection, change))
            case .failure(let error): block(.error(error))
            }
        }
    }
}

extension ObservableCollection where Element: ObjectBase {
    /// Observes the collection. Typed key paths name the properties whose changes are reported as modifications.
    public func observe(
        keyPaths: [any KeyPathDescriptor<Element>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map(\.keyPath), on: queue, block)
    }

    /// Observes the collection. Changes at Swift key paths are reported as modifications. A key path through a
    /// collection applies to all of its elements: `\.siblings[0].name` and `\.siblings.first?.name` both mean the names
    /// of all siblings.
    public func observe(
        keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { ObjectBase.path($0) }, on: queue, block)
    }
}
