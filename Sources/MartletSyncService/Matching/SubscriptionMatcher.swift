package import MartletSyncProtocol

/// Identifies a subscription of a client within one instance of the service.
package struct SubscriptionID: Sendable, Hashable, Comparable {
    package let number: UInt64

    package init(_ number: UInt64) { self.number = number }

    package static func < (left: SubscriptionID, right: SubscriptionID) -> Bool { left.number < right.number }
}

/// Identifies a query of a `SubscriptionMatcher`. It is valid as long as a subscription uses the query.
package struct MatchedQueryID: Sendable, Hashable {
    package let type: Int
    package let number: Int
}

/// Whether one query matches a row before and after a change of the row.
package struct QueryMatch: Sendable, Equatable {
    package let query: MatchedQueryID
    package let matchedBefore: Bool
    package let matchesNow: Bool
}

/// The subscriptions that match a row before a change of the row, and the subscriptions that match the row after the
/// change. Both lists are in increasing order.
package struct SubscriptionMatches: Sendable, Equatable {
    package var before: [SubscriptionID] = []
    package var now: [SubscriptionID] = []
}

/// Finds the subscriptions that a changed row concerns.
///
/// Subscriptions with equal conditions share one query. The queries of a type are indexed by the values with which they
/// compare. So the matcher evaluates only the queries that the indexes find by the values of a changed row, and the
/// queries that no index can store.
///
/// A matcher is not thread-safe. Its owner guards it with a lock, or uses it on one thread only.
package struct SubscriptionMatcher: Sendable {
    private struct Place {
        let type: Int
        let query: Int
        /// The position among the subscriptions of the query.
        var position: Int
    }

    private var types: [Int: TypeMatcher] = [:]
    private var places: [SubscriptionID: Place] = [:]

    private let seed: UInt64

    /// - Parameter seed: a random number that clients do not know. Results do not depend on it.
    package init(seed: UInt64) { self.seed = seed }

    package var subscriptionCount: Int { places.count }
    package var queryCount: Int { types.values.reduce(0) { $0 + $1.queryCount } }
    /// The number of queries that no index can store. They are evaluated for every change of a row of their type.
    package var scannedQueryCount: Int { types.values.reduce(0) { $0 + $1.scannedCount } }

    // MARK: Subscriptions

    /// Adds a subscription. Replaces an earlier subscription with the same id.
    ///
    /// - Parameters:
    ///   - type: the number of the type.
    ///   - condition: a canonical condition on rows of the type.
    package mutating func add(_ id: SubscriptionID, type: Int, _ condition: SubscriptionCondition) {
        remove(id)
        let (query, position) = types[type, default: TypeMatcher(seed: seed)].add(id, condition)
        places[id] = Place(type: type, query: query, position: position)
    }

    /// Removes a subscription. Does nothing if no subscription has this id.
    package mutating func remove(_ id: SubscriptionID) {
        guard let place = places.removeValue(forKey: id) else { return }
        let moved = types[place.type]?.remove(subscriptionAt: place.position, of: place.query)
        if let moved { places[moved]?.position = place.position }
        if types[place.type]?.queryCount == 0 { types[place.type] = nil }
    }

    // MARK: Changes

    /// The queries that match the row before or after a change.
    ///
    /// - Parameters:
    ///   - old: the values before the change; nil if the row was inserted.
    ///   - new: the values after the change; nil if the row was deleted.
    package mutating func queries(matching old: RowImage?, _ new: RowImage?, type: Int) -> [QueryMatch] {
        let matches = types[type]?.matches(old, new) ?? []
        return matches.map {
            QueryMatch(
                query: MatchedQueryID(type: type, number: $0.query), matchedBefore: $0.matchedBefore,
                matchesNow: $0.matchesNow)
        }
    }

    /// The subscriptions that use a query. Their order is undefined.
    package func subscriptions(of query: MatchedQueryID) -> [SubscriptionID] {
        types[query.type]?.subscriptions(of: query.number) ?? []
    }

    /// The subscriptions that match the row before a change, and the subscriptions that match it after the change.
    package mutating func subscriptions(matching old: RowImage?, _ new: RowImage?, type: Int) -> SubscriptionMatches {
        var matches = SubscriptionMatches()
        for match in queries(matching: old, new, type: type) {
            let subscriptions = subscriptions(of: match.query)
            if match.matchedBefore { matches.before += subscriptions }
            if match.matchesNow { matches.now += subscriptions }
        }
        matches.before.sort()
        matches.now.sort()
        return matches
    }
}
