/// Computes the time that a client waits before it connects again. The time is random, between 0.5 and 60 seconds, so
/// that many clients do not connect at the same moment after a failure of the service. If the service asks for a longer
/// delay, the client waits that long, but at most one hour.
///
/// The algorithm is exponential backoff with decorrelated jitter (Brooker, "Exponential Backoff And Jitter", 2015).
package struct ReconnectDelay: Sendable {
    // All delays are in milliseconds.
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

    /// Begins with short delays again. The client calls this method after a connection in which the service has
    /// accepted the client.
    package mutating func reset() { last = Self.least }
}
