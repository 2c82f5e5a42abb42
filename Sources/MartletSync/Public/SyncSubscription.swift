public import Foundation
public import Martlet
import MartletEngine

/// One subscription of a Realm. It consists of a query and an optional name.
public struct SyncSubscription {
    let editor: SubscriptionEditor
    let stored: StoredSubscription

    /// The name; nil for a subscription without a name.
    public var name: String? { stored.name }

    /// The name of the type of the objects.
    public var objectType: String { stored.type }

    /// The time at which the subscription was added, by the clock of the machine.
    public var createdAt: Date { Date(timeIntervalSinceReferenceDate: stored.created) }

    /// The time at which the query was last replaced, by the clock of the machine. If the query was never replaced, the
    /// time at which the subscription was added.
    public var updatedAt: Date { Date(timeIntervalSinceReferenceDate: stored.updated) }

    /// The condition as text, for logs.
    public var queryString: String { editor.text(of: stored) }

    /// Replaces the query, so that the subscription contains all objects of a type. Traps outside of
    /// `SyncSubscriptionSet.update`.
    public func updateQuery<Element: Object>(toType type: Element.Type) {
        editor.replace(stored, by: QuerySubscription<Element>(name: name))
    }

    /// Replaces the query. Traps outside of `SyncSubscriptionSet.update`.
    public func updateQuery<Element: ModelObject & Object, Condition: QueryConvertible<Element>>(
        toType type: Element.Type, where condition: @escaping (Element.RootFields) -> Condition
    ) {
        editor.replace(stored, by: QuerySubscription<Element>(name: name, where: condition))
    }
}

/// Whether the objects of a set of subscriptions are in the file.
public enum SyncSubscriptionState: Sendable {
    /// The objects of these subscriptions are in the file.
    case complete
    /// The service has refused the set. The objects of the previous set stay in the file and are kept up to date.
    case error(any Error)
    /// The service has not yet sent all objects.
    case pending
    /// The subscriptions have changed since the set was read. Read `realm.subscriptions` again.
    case superseded
}

extension SyncSubscriptionState: Equatable {
    /// True if both states are the same case. The errors of two `.error` states are not compared.
    public static func == (left: SyncSubscriptionState, right: SyncSubscriptionState) -> Bool {
        switch (left, right) {
        case (.complete, .complete), (.error, .error), (.pending, .pending), (.superseded, .superseded): true
        default: false
        }
    }
}
