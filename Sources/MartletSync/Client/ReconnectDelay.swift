/// How long a client waits before it connects again: between 0.5 and 60 seconds, at random, so that many clients do not
/// connect at the same time after a failure of the service. The client waits longer, up to an hour, if the service asks
/// for it. (Exponential backoff with decorrelated jitter; Brooker, "Exponential Backoff And Jitter", 2015.)
package struct ReconnectDelay: Sendable {
    private static let least = 500.0
    private static let greatest = 60_000.0
    private var last = Self.least

    package init() {}

    /// - Parameter requested: the delay that the service has asked for, in milliseconds.
    /// - Returns: The delay in milliseconds.
    package mutating func next(requested: UInt64 = 0) -> UInt64 {
        last = min(Self.greatest, Double.random(in: Self.least...max(Self.least, last * 3)))
        return max(UInt64(last), min(requested, 3_600_000))
    }

    /// Called after a connection that worked.
    package mutating func reset() { last = Self.least }
}
