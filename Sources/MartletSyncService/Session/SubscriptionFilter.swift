package import MartletSyncProtocol

/// The objects that a set of subscriptions contains.
package struct SubscriptionFilter: Sendable {
    package let queries: [SubscribedQuery]
    /// Whether the subscriptions contain an object with these values.
    package let contains: @Sendable (ObjectAddress, [ValuePath: SyncValue]) -> Bool

    package init(
        _ queries: [SubscribedQuery], contains: @escaping @Sendable (ObjectAddress, [ValuePath: SyncValue]) -> Bool
    ) {
        self.queries = queries
        self.contains = contains
    }
}

/// Why a set of subscriptions was refused, for the developer of the client.
package struct RefusedQueries: Error {
    package let message: String

    package init(_ message: String) { self.message = message }
}
