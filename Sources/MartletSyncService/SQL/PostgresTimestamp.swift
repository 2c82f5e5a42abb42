/// A value of the type `timestamp with time zone`, which counts microseconds.
///
/// A date of the runtime is a `Double` with the seconds since 2001. Far from 2001, several timestamps have the same
/// date, and most dates are not whole microseconds. So a comparison with a date is converted to a comparison with
/// timestamps that selects exactly the same rows.
package enum PostgresTimestamp: Equatable {
    case beforeAll
    /// Microseconds since 2001-01-01T00:00:00Z.
    case microseconds(Int64)
    case afterAll

    // The seconds between 2000, the epoch of PostgreSQL, and 2001.
    private static let secondsBetweenEpochs: Int64 = 366 * 86_400
    // PostgreSQL's range begins on 4714-11-24 BC, which has the Julian day number 0, and includes the year 294276.
    package static let least = -211_813_488_000_000_000 - secondsBetweenEpochs * 1_000_000
    package static let greatest = 9_223_371_331_200_000_000 - secondsBetweenEpochs * 1_000_000 - 1

    /// The date of a timestamp.
    package static func seconds(_ microseconds: Int64) -> Double { Double(microseconds) / 1_000_000 }

    /// The first timestamp with a date that is not before `seconds`. `seconds` must not be NaN.
    package static func firstNotBefore(_ seconds: Double) -> PostgresTimestamp { first { $0 >= seconds } }

    /// The first timestamp with a date after `seconds`; nil if there is none.
    package static func firstAfter(_ seconds: Double) -> PostgresTimestamp? {
        seconds == .infinity ? nil : first { $0 > seconds }
    }

    /// The first timestamp with a date that satisfies `isReached`.
    ///
    /// - Parameter isReached: false for all dates before a certain date, true for this date and all later dates, and
    ///   true for infinity.
    private static func first(_ isReached: (Double) -> Bool) -> PostgresTimestamp {
        if isReached(-.infinity) { return .beforeAll }
        guard isReached(seconds(greatest)) else { return .afterAll }
        var (low, high) = (least, greatest)
        while low < high {
            let middle = (low >> 1) + (high >> 1) + (low & high & 1)
            if isReached(seconds(middle)) { high = middle } else { low = middle + 1 }
        }
        return .microseconds(low)
    }

    /// The previous timestamp; nil for minus infinity.
    var previous: PostgresTimestamp? {
        switch self {
        case .beforeAll: nil
        case .microseconds(let number): number == Self.least ? .beforeAll : .microseconds(number - 1)
        case .afterAll: .microseconds(Self.greatest)
        }
    }

    /// The text that PostgreSQL parses.
    package var text: String {
        switch self {
        case .beforeAll: "-infinity"
        case .afterAll: "infinity"
        case .microseconds(let number): Self.text(number)
        }
    }

    private static func text(_ microseconds: Int64) -> String {
        let (day, time) = microseconds.dividedRoundingDown(by: 86_400_000_000)
        // 2001-01-01 is day 11,323 after 1970-01-01.
        let date = CivilDate(days: day + 11_323)
        let (seconds, fraction) = (time / 1_000_000, time % 1_000_000)
        let clock = [seconds / 3_600, seconds / 60 % 60, seconds % 60].map { padded($0, 2) }.joined(separator: ":")
        // The year before year 1 is 1 BC, so year 0 is shown as 1 BC.
        let shownYear = date.year > 0 ? date.year : 1 - date.year
        return
            "\(padded(shownYear, 4))-\(padded(date.month, 2))-\(padded(date.day, 2)) \(clock).\(padded(fraction, 6))+00"
            + (date.year > 0 ? "" : " BC")
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
