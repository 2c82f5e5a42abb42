public import Foundation
public import Martlet
import MartletEngine

/// Determines when `subscribe` waits for the objects of the query.
public enum WaitForSyncMode: Sendable {
    /// Waits if this call adds the subscription or replaces its query.
    case onCreation
    /// Always waits until the objects are in the file, and until the file contains everything that was committed in the
    /// database before the call.
    case always
    /// Does not wait.
    case never
}

/// Results that can be subscribed to.
public protocol RealmSubscribable {
    /// Subscribes to the query, and waits for its objects according to `waitForSync`.
    func subscribe(
        name: String?, waitForSync: WaitForSyncMode, timeout: TimeInterval?,
        isolation: isolated `an actor: mark the caller '@MainActor', or open the Realm in a function without 'async'`
    ) async throws -> Self

    /// Removes the subscription.
    func unsubscribe()
}

extension Results: RealmSubscribable where Element: Object {
    /// Subscribes to the query of these results: the objects of the query are downloaded and kept up to date.
    ///
    /// ```swift
    /// let dogs = try await realm.objects(Dog.self).where { $0.age > 1 }.subscribe(name: "adults")
    /// ```
    ///
    /// | `name` | existing subscription | `subscribe` |
    /// |---|---|---|
    /// | nil | has no name, and the same query | uses it |
    /// | not nil | has this name and the same query | uses it |
    /// | not nil | has this name and another query | replaces its query |
    /// | any value | there is no such subscription | adds a subscription |
    ///
    /// This method ignores the sort order of the results. Each call that changes the subscriptions is a transaction. To
    /// change several subscriptions in one transaction, use `SyncSubscriptionSet.update`. Traps inside a write of the
    /// Realm.
    ///
    /// - Parameters:
    ///   - name: the name of the subscription.
    ///   - waitForSync: whether to wait until the objects of the query are in the file. Without a connection to the
    ///     service, the call waits until the client is connected.
    ///   - timeout: the longest time to wait, in seconds; nil or zero for no limit.
    /// - Returns: These results. Their `unsubscribe` removes this subscription.
    /// - Throws: `Realm.Error.subscriptionRefused` for a query that cannot be subscribed to, or that the service
    ///   refuses; `.syncTimedOut` after the timeout; `CancellationError` if the task is cancelled. After a timeout or a
    ///   cancellation, the subscription remains.
    public func subscribe(
        name: String? = nil, waitForSync: WaitForSyncMode = .onCreation, timeout: TimeInterval? = nil,
        isolation: isolated `an actor: mark the caller '@MainActor', or open the Realm in a function without 'async'` =
            #isolation
    ) async throws -> Results {
        let (realm, client, editor) = try subscriptions()
        let condition = try SubscribedCondition(self, realm, editor.store.schema)
        let isNew = try editor.subscribe(condition, name: name)
        let number = editor.number
        switch waitForSync {
        case .never: break
        case .onCreation: if isNew { try await client.waitForSet(number, timeout: timeout) }
        case .always: try await client.waitForDownload(set: number, timeout: timeout)
        }
        if waitForSync != .never { realm.showNewestVersion() }
        return subscribed(as: name)
    }

    /// Removes the subscription of these results. For results that `subscribe` has returned, this is the subscription
    /// of that call. For other results, it is the subscription that has the same query and no name. If there is no such
    /// subscription, this method does nothing.
    ///
    /// This method does not wait. After the service has answered, objects that no other subscription contains are
    /// deleted from the file. If the file cannot be written, the `errorHandler` of the configuration is called. Traps
    /// inside a write of the Realm.
    public func unsubscribe() {
        guard let realm else { preconditionFailure("results have a Realm") }
        do {
            let (realm, _, editor) = try subscriptions()
            let condition = try SubscribedCondition(self, realm, editor.store.schema)
            try editor.update {
                editor.remove { stored in
                    // The outer optional of `subscriptionName` is nil for results that `subscribe` has not returned.
                    if let name = subscriptionName, let name { return stored.name == name }
                    return stored.name == nil && stored.isQuery(condition)
                }
            }
        } catch let error as Realm.Error where error.code == .subscriptionRefused {
            // A query that cannot be subscribed to has no subscription, so there is nothing to remove.
        } catch {
            realm.requireSyncClient().report(.file(error))
        }
    }

    private func subscriptions() throws -> (Realm, SyncClient, SubscriptionEditor) {
        guard let realm else { preconditionFailure("results have a Realm") }
        realm.requireOnExecutor()
        let client = realm.requireSyncClient()
        guard let store = client.store else { preconditionFailure("an open Realm keeps its file open") }
        return (realm, client, try SubscriptionEditor(realm, store))
    }
}
