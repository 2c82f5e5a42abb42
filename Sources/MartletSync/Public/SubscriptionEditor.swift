import Foundation
import Martlet
import MartletEngine
import MartletSyncProtocol

/// The subscriptions of a Realm, as they were read or as the last `update` changed them. Must be used only on the
/// executor of the Realm.
final class SubscriptionEditor {
    let realm: Realm
    let store: SyncedStore
    /// The number of the set of subscriptions.
    private(set) var number: UInt64
    private(set) var subscriptions: [StoredSubscription]
    /// The first error of a change inside `update`. `update` throws this error.
    private var failure: (any Error)?
    private var isUpdating = false

    init(_ realm: Realm, _ store: SyncedStore) throws {
        self.realm = realm
        self.store = store
        (number, subscriptions) = try Realm.Error.translating {
            try store.read { tables in
                let number = try tables.record().wantedSet
                return (number, try tables.subscriptions(of: number))
            }
        }
    }

    private static var now: Double { Date().timeIntervalSinceReferenceDate }

    // MARK: Changing

    /// Reads the newest subscriptions under the write lock, calls `body`, and commits the subscriptions if `body` has
    /// changed them.
    func update(_ body: () throws -> Void) throws {
        realm.requireOnExecutor()
        realm.requireNoWrite()
        if isUpdating { return try body() }
        let former = subscriptions
        defer { isUpdating = false }
        do {
            number = try Realm.Error.translating {
                try store.changeSubscriptions { newest in
                    subscriptions = newest
                    failure = nil
                    isUpdating = true
                    try body()
                    if let failure { throw failure }
                    try requireFitting(newest)
                    return subscriptions == newest ? nil : subscriptions
                }
            }
        } catch {
            subscriptions = former
            throw error
        }
    }

    // The client sends all subscriptions in one message of limited size. If the subscriptions already exceed the limit,
    // a change that does not enlarge them is still permitted.
    private func requireFitting(_ former: [StoredSubscription]) throws {
        func size(_ subscriptions: [StoredSubscription]) -> Int {
            subscriptions.reduce(0) { $0 + $1.condition.count + 16 }
        }
        let bytes = size(subscriptions)
        guard bytes > Self.maximumBytes, bytes > size(former) else { return }
        throw Realm.Error(
            synchronization: .subscriptionRefused,
            message:
                "the queries of all subscriptions have \(bytes) bytes, and at most \(Self.maximumBytes) can be sent; "
                + "nothing was changed; use shorter lists of values")
    }

    private static let maximumBytes = SyncOperation.maximumBytes

    private func change(_ body: () throws -> Void) {
        if !isUpdating { Realm.trapSubscriptionsOutsideUpdate() }
        do {
            try body()
        } catch {
            if failure == nil { failure = error }
        }
    }

    func condition<Element>(of query: QuerySubscription<Element>) throws -> SubscribedCondition {
        try SubscribedCondition(try query.results(realm), realm, store.schema)
    }

    /// Adds a subscription. A query without a name is not added if a subscription without a name has the same query.
    func append<Element>(_ query: QuerySubscription<Element>) {
        change {
            let condition = try condition(of: query)
            if let name = query.name {
                guard position(named: name) == nil else { throw Self.duplicate(name) }
            } else if position(unnamed: condition) != nil {
                return
            }
            add(condition, query.name)
        }
    }

    private static func duplicate(_ name: String) -> Realm.Error {
        Realm.Error(
            synchronization: .invalidInput,
            message: "there is a subscription with the name '\(name)'; nothing was changed; replace its query with "
                + "'first(named:)?.updateQuery(…)', or use another name")
    }

    private func add(_ condition: SubscribedCondition, _ name: String?) {
        let now = Self.now
        subscriptions.append(
            StoredSubscription(
                type: condition.type, condition: condition.condition, name: name, created: now, updated: now))
    }

    func replace<Element>(_ old: StoredSubscription, by query: QuerySubscription<Element>) {
        change {
            let condition = try condition(of: query)
            guard let position = subscriptions.firstIndex(where: { $0.isSame(as: old) }) else { return }
            replace(position, by: condition)
        }
    }

    private func replace(_ position: Int, by condition: SubscribedCondition) {
        subscriptions[position].type = condition.type
        subscriptions[position].condition = condition.condition
        subscriptions[position].updated = Self.now
    }

    func remove(where isRemoved: (StoredSubscription) throws -> Bool) {
        change { try subscriptions.removeAll(where: isRemoved) }
    }

    /// Adds or changes a subscription, as described at `Results.subscribe`.
    ///
    /// - Returns: True if this method has added a subscription or replaced a query.
    func subscribe(_ condition: SubscribedCondition, name: String?) throws -> Bool {
        var isNew = false
        try update {
            if let name, let known = position(named: name) {
                let stored = subscriptions[known]
                isNew = stored.type != condition.type || stored.condition != condition.condition
                if isNew { replace(known, by: condition) }
            } else if name != nil || position(unnamed: condition) == nil {
                isNew = true
                add(condition, name)
            }
        }
        return isNew
    }

    // MARK: Finding

    func position(named name: String) -> Int? { subscriptions.firstIndex { $0.name == name } }

    func position(unnamed condition: SubscribedCondition) -> Int? {
        subscriptions.firstIndex { $0.name == nil && $0.isQuery(condition) }
    }

    func first<Element>(_ query: QuerySubscription<Element>) -> StoredSubscription? {
        guard let condition = try? condition(of: query) else { return nil }
        return subscriptions.first { $0.isQuery(condition) }
    }

    func text(of stored: StoredSubscription) -> String {
        guard let type = store.schema.number(of: stored.type),
            let condition = try? SubscriptionCondition(encoded: stored.condition)
        else { return "" }
        return condition.text(type: type, in: store.schema.agreed)
    }

    // MARK: State

    func state() throws -> SyncSubscriptionState {
        let record = try Realm.Error.translating { try store.read { try $0.record() } }
        if record.wantedSet > number { return .superseded }
        if record.shownSet >= number { return .complete }
        if record.refusedSet >= number { return .error(Self.refusal(record.refusal)) }
        return .pending
    }

    static func refusal(_ message: String) -> Realm.Error {
        Realm.Error(
            synchronization: .subscriptionRefused, message: "the sync service has refused the subscriptions: \(message)"
        )
    }
}

extension StoredSubscription {
    func isQuery(_ condition: SubscribedCondition) -> Bool {
        type == condition.type && self.condition == condition.condition
    }

    /// True if both values describe the same subscription. The query of a named subscription may have been replaced in
    /// the meantime.
    fileprivate func isSame(as other: StoredSubscription) -> Bool {
        name == other.name && created == other.created && (name != nil || condition == other.condition)
    }
}
