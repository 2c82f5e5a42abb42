package import MartletSyncProtocol

/// The objects that a set of subscriptions contains.
package struct SubscriptionFilter: Sendable {
    package let queries: [SubscribedQuery]
    /// The conditions of the queries, by the numbers of their types.
    package let conditions: [Int: [SubscriptionCondition]]
    /// Whether the subscriptions contain an object with these values.
    package let contains: @Sendable (ObjectAddress, [ValuePath: SyncValue]) -> Bool

    package init(
        _ queries: [SubscribedQuery], conditions: [Int: [SubscriptionCondition]] = [:],
        contains: @escaping @Sendable (ObjectAddress, [ValuePath: SyncValue]) -> Bool
    ) {
        self.queries = queries
        self.conditions = conditions
        self.contains = contains
    }

    /// Whether the subscriptions contain the object before or after the change. The values of an entry with `isUnseen`
    /// are not known yet, so such an entry concerns all subscriptions to the type of its object.
    func concerns(_ entry: LogEntry) -> Bool {
        if entry.isUnseen { return conditions[entry.address.type] != nil }
        return [entry.old, entry.new].contains { $0.map { contains(entry.address, $0) } ?? false }
    }
}

/// The error for a refused set of subscriptions. Its message is written for the developer of the client.
package struct RefusedQueries: Error {
    package let message: String

    package init(_ message: String) { self.message = message }
}
