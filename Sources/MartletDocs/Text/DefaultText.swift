import MartletSchema

/// Formats a default in the syntax of a schema, with two exceptions. Data that is not empty is shown as its number of
/// bytes. A date that is 10^12 seconds or more before or after 2001 is shown as a number of seconds.
enum DefaultText {
    static func text(_ value: DefaultModel) -> String {
        switch value {
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .floating(let value): "\(value)"
        case .string(let value): quoted(value)
        case .data(let bytes): bytes.isEmpty ? "\"\"" : "\(bytes.count) bytes"
        case .date(let seconds): date(seconds)
        case .now: "now"
        case .uuid(let bytes): uuid(bytes)
        case .objectId(let bytes): hexadecimal(bytes)
        case .newUUID, .newObjectId: "new"
        case .decimal128(let text): text
        case .enumCase(let name): name
        }
    }

    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func uuid(_ bytes: [UInt8]) -> String {
        guard bytes.count == 16 else { return hexadecimal(bytes) }
        return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { hexadecimal(bytes[$0]) }.joined(separator: "-")
    }

    /// A date in UTC, with milliseconds if they are not zero.
    private static func date(_ seconds: Double) -> String {
        guard seconds.magnitude < 1e12 else { return "\(seconds) seconds since 2001" }
        let milliseconds = Int((seconds * 1000).rounded())
        let (days, rest) = divided(milliseconds, by: 86_400_000)
        let (year, month, day) = calendarDate(daysSince2001: days)
        let time = [rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60].map { padded($0, 2) }.joined(separator: ":")
        let fraction = rest % 1000 == 0 ? "" : "." + padded(rest % 1000, 3)
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T\(time)\(fraction)Z"
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number.magnitude)
        return (number < 0 ? "-" : "") + String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    /// Floored division: the remainder is never negative.
    private static func divided(_ number: Int, by divisor: Int) -> (quotient: Int, remainder: Int) {
        let remainder = ((number % divisor) + divisor) % divisor
        return ((number - remainder) / divisor, remainder)
    }

    /// Converts a number of days to a date of the Gregorian calendar.
    ///
    /// The calculation uses years that begin in March, so that a leap day is the last day of a year, and eras of 400
    /// years. 2001-01-01 is 730,791 days after March 1 of the year 0.
    private static func calendarDate(daysSince2001 days: Int) -> (year: Int, month: Int, day: Int) {
        let (era, dayOfEra) = divided(days + 730_791, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}
