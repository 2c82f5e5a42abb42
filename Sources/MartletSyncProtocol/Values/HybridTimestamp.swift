/// The time of a write: milliseconds since 1970, and a counter that orders the writes of the same millisecond.
///
/// A hybrid clock (Kulkarni and others, "Logical Physical Clocks", 2014) follows the wall clock, but never goes back
/// and never repeats a time stamp. After the clock has received a time stamp of another machine, it assigns only
/// greater time stamps, even if the wall clocks of the two machines differ.
package struct HybridTimestamp: Sendable, Hashable, Comparable {
    /// The upper 48 bits are milliseconds since 1970, the lower 16 bits are the counter.
    package let rawValue: UInt64

    package static let zero = HybridTimestamp(rawValue: 0)
    /// The greatest time stamp.
    package static let limit = HybridTimestamp(rawValue: .max)

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package init(milliseconds: UInt64, counter: UInt16 = 0) {
        rawValue = min(milliseconds, Self.greatestMilliseconds) << 16 | UInt64(counter)
    }

    package var milliseconds: UInt64 { rawValue >> 16 }
    package var counter: UInt16 { UInt16(truncatingIfNeeded: rawValue) }

    /// The greatest number of milliseconds that fits into 48 bits. It is in the year 10,889.
    static let greatestMilliseconds: UInt64 = 1 << 48 - 1

    package static func < (left: HybridTimestamp, right: HybridTimestamp) -> Bool { left.rawValue < right.rawValue }
}

/// Assigns time stamps to the writes of one client.
///
/// The wall clock of a client may be off by days. When a session begins, the service sends its time, and the client
/// corrects its clock by the difference.
package struct HybridClock: Sendable, Equatable {
    /// The greatest time stamp that was assigned or received.
    package private(set) var last: HybridTimestamp
    /// Milliseconds to add to the wall clock of this machine to get the time of the service.
    package private(set) var offsetMilliseconds: Int64

    package init(last: HybridTimestamp = .zero, offsetMilliseconds: Int64 = 0) {
        self.last = last
        self.offsetMilliseconds = offsetMilliseconds
    }

    /// Sets the correction of the wall clock.
    ///
    /// - Parameters:
    ///   - service: the time of the service, in milliseconds since 1970.
    ///   - wall: the wall clock of this machine at the same moment.
    package mutating func synchronize(service: UInt64, wall: UInt64) {
        offsetMilliseconds = Int64(clamping: service) - Int64(clamping: wall)
    }

    /// Returns the time stamp of a new write. The time stamp is greater than `last`, except if `last` is `.limit`.
    ///
    /// - Parameter wall: the wall clock of this machine, in milliseconds since 1970.
    package mutating func next(wall: UInt64) -> HybridTimestamp {
        let corrected = max(0, Int64(clamping: wall).addingClamped(offsetMilliseconds))
        let now = HybridTimestamp(milliseconds: UInt64(corrected))
        // If the counter overflows, the addition increases the milliseconds.
        last = now > last || last == .limit ? now : HybridTimestamp(rawValue: last.rawValue + 1)
        return last
    }

    /// Accepts a time stamp that was assigned earlier or by another machine. The time stamps that this clock assigns
    /// from now on are greater.
    package mutating func receive(_ stamp: HybridTimestamp) { last = max(last, stamp) }
}

extension Int64 {
    fileprivate func addingClamped(_ other: Int64) -> Int64 {
        let (sum, isOverflow) = addingReportingOverflow(other)
        return isOverflow ? (other > 0 ? .max : .min) : sum
    }
}
