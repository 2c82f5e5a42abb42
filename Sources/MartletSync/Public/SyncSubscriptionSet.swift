public import Martlet
import MartletEngine

/// The subscriptions of a Realm: the file contains the objects of these queries.
///
/// ```swift
/// let subscriptions = realm.subscriptions
/// try await subscriptions.update {
///     subscriptions.append(QuerySubscription<Dog>(name: "all"))
///     subscriptions.first(named: "old")?.updateQuery(toType: Dog.self) { $0.age > 10 }
/// }
/// ```
///
/// The set contains the subscriptions that the file had when the set was read, or the result of its own last `update`.
/// A set must be used only on the executor of its Realm.
public struct SyncSubscriptionSet {
    let editor: SubscriptionEditor

    init(_ realm: Realm, _ store: SyncedStore) throws { editor = try SubscriptionEditor(realm, store) }

    /// The number of subscriptions.
    public var count: Int { editor.subscriptions.count }

    /// Whether the objects of the subscriptions are in the file. If the file cannot be read, the state is `.error`.
    public var state: SyncSubscriptionState {
        do {
            return try editor.state()
        } catch {
            return .error(error)
        }
    }

    // MARK: Finding

    /// The subscription with a name; nil if no subscription has the name.
    public func first(named name: String) -> SyncSubscription? {
        editor.position(named: name).map { SyncSubscription(editor: editor, stored: editor.subscriptions[$0]) }
    }

    /// The first subscription to all objects of a type, without a condition; nil if there is no such subscription.
    public func first<Element: Object>(ofType type: Element.Type) -> SyncSubscription? {
        found(editor.first(QuerySubscription<Element>()))
    }

    /// The first subscription to a type with this condition; nil if there is no such subscription.
    public func first<Element: ModelObject & Object, Condition: QueryConvertible<Element>>(
        ofType type: Element.Type, where condition: @escaping (Element.RootFields) -> Condition
    ) -> SyncSubscription? {
        found(editor.first(QuerySubscription<Element>(where: condition)))
    }

    private func found(_ stored: StoredSubscription?) -> SyncSubscription? {
        stored.map { SyncSubscription(editor: editor, stored: $0) }
    }

    // MARK: Changing

    /// Changes the subscriptions in one transaction, and returns when the transaction is committed. The client then
    /// sends the whole set to the service.
    ///
    /// While `block` runs, all other writes to the file wait, including the writes of other processes. Traps inside a
    /// write of the Realm.
    ///
    /// - Parameters:
    ///   - block: changes the subscriptions. If it throws, nothing is changed.
    ///   - onComplete: called on a background thread. The argument is nil when the objects of this set, or of a later
    ///     set, are in the file. The argument is an error if the service refuses the set, or if the file cannot be
    ///     read.
    /// - Throws: the error of `block`; `Realm.Error.subscriptionRefused` for a query that cannot be subscribed to;
    ///   `.invalidInput` for a name that is already used; errors of the file.
    public func update(_ block: () throws -> Void, onComplete: (@Sendable ((any Error)?) -> Void)? = nil) throws {
        try editor.update(block)
        guard let onComplete, let client = editor.realm.syncClient else { return }
        let number = editor.number
        Task {
            do {
                try await client.waitForSet(number, timeout: nil)
                onComplete(nil)
            } catch {
                onComplete(error)
            }
        }
    }

    /// Changes the subscriptions in one transaction, and waits until their objects are in the file.
    ///
    /// Without a connection to the service, this method waits until the client is connected, or until the task is
    /// cancelled.
    ///
    /// - Throws: the errors of `update(_:onComplete:)`; `Realm.Error.subscriptionRefused` if the service refuses the
    ///   set; `CancellationError` if the task is cancelled.
    public func update(
        _ block: () throws -> Void,
        isolation: isolated `an actor: mark the caller '@MainActor', or open the Realm in a function without 'async'` =
            #isolation
    ) async throws {
        try editor.update(block)
        try await editor.realm.syncClient?.waitForSet(editor.number, timeout: nil)
        editor.realm.showNewestVersion()
    }

    /// Adds subscriptions. Traps outside of `update`.
    ///
    /// A query without a name is not added if a subscription without a name has the same query. If a subscription has
    /// the name of a query, `update` throws.
    public func append<Element: Object>(_ queries: QuerySubscription<Element>...) {
        for query in queries { editor.append(query) }
    }

    /// Removes a subscription. Traps outside of `update`.
    public func remove(_ subscription: SyncSubscription) {
        let stored = subscription.stored
        editor.remove { $0.name == stored.name && $0.type == stored.type && $0.condition == stored.condition }
    }

    /// Removes the subscription with a name. Traps outside of `update`.
    public func remove(named name: String) { editor.remove { $0.name == name } }

    /// Removes each unnamed subscription to all objects of a type. Traps outside of `update`.
    public func remove<Element: Object>(ofType type: Element.Type) { remove(QuerySubscription<Element>()) }

    /// Removes each unnamed subscription to a type with this condition. Traps outside of `update`.
    public func remove<Element: ModelObject & Object, Condition: QueryConvertible<Element>>(
        ofType type: Element.Type, where condition: @escaping (Element.RootFields) -> Condition
    ) {
        remove(QuerySubscription<Element>(where: condition))
    }

    private func remove<Element>(_ query: QuerySubscription<Element>) {
        editor.remove {
            let condition = try editor.condition(of: query)
            return $0.name == nil && $0.isQuery(condition)
        }
    }

    /// Removes all subscriptions, or only those without a name. Traps outside of `update`.
    public func removeAll(unnamedOnly: Bool = false) { editor.remove { !unnamedOnly || $0.name == nil } }

    /// Removes all subscriptions to objects of a type, with and without a name. Traps outside of `update`.
    public func removeAll<Element: Object>(ofType type: Element.Type) {
        let name = editor.realm.objects(type).definition.type
        editor.remove { $0.type == name }
    }
}

extension SyncSubscriptionSet: Sequence {
    /// Iterates over the subscriptions in the order in which they were added.
    public func makeIterator() -> AnyIterator<SyncSubscription> {
        var iterator = editor.subscriptions.makeIterator()
        return AnyIterator { iterator.next().map { SyncSubscription(editor: editor, stored: $0) } }
    }
}

@available(*, unavailable, message: "a set of subscriptions stays with its Realm; read 'realm.subscriptions' elsewhere")
extension SyncSubscriptionSet: Sendable {}

extension Realm {
    /// The subscriptions of this Realm.
    ///
    /// Traps if the Realm is not synchronized.
    public var subscriptions: SyncSubscriptionSet {
        requireOnExecutor()
        let client = requireSyncClient()
        do {
            guard let store = client.store else { preconditionFailure("an open Realm keeps its file open") }
            return try SyncSubscriptionSet(self, store)
        } catch {
            readFailed(error)
        }
    }
}
