/// Parses ISO 8601 dates: `2024-05-31`, `2024-05-31T12:00:00.5Z`, `2024-05-31T14:00+02:00`.
enum DateText {
    enum Outcome {
        /// Seconds since 2001-01-01T00:00:00Z.
        case seconds(Double)
        /// A date with a time of day but without a time zone.
        case noZone
        /// The text is not a date.
        case none
    }

    static func parse(_ text: String) -> Outcome {
        var reader = Reader(bytes: Array(text.utf8))
        guard let year = reader.digits(4), reader.take("-"), let month = reader.digits(2), reader.take("-"),
            let day = reader.digits(2), (1...12).contains(month), day >= 1, day <= daysIn(month, of: year)
        else { return .none }
        let days = Double(daysSince2001(year, month, day))
        if reader.isAtEnd { return .seconds(days * 86_400) }
        guard reader.take("T") || reader.take("t"), let hour = reader.digits(2), reader.take(":"),
            let minute = reader.digits(2), hour < 24, minute < 60
        else { return .none }
        var seconds = days * 86_400 + Double(hour * 3600 + minute * 60)
        if reader.take(":") {
            guard let second = reader.digits(2), second < 60 else { return .none }
            seconds += Double(second)
            if reader.take(".") {
                guard let fraction = reader.fraction() else { return .none }
                seconds += fraction
            }
        }
        if reader.isAtEnd { return .noZone }
        if reader.take("Z") || reader.take("z") { return reader.isAtEnd ? .seconds(seconds) : .none }
        let isEast = reader.take("+")
        guard isEast || reader.take("-"), let hours = reader.digits(2), hours < 24 else { return .none }
        _ = reader.take(":")
        guard let minutes = reader.digits(2), minutes < 60, reader.isAtEnd else { return .none }
        let offset = Double(hours * 3600 + minutes * 60)
        return .seconds(isEast ? seconds - offset : seconds + offset)
    }

    private static func daysIn(_ month: Int, of year: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return switch month {
        case 2: isLeap ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The number of days since 2001-01-01 in the proleptic Gregorian calendar. In this computation, each year begins
    /// in March, so that a leap day is the last day of its year.
    private static func daysSince2001(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 + 400 : year + 400
        let monthOfYear = (month + 9) % 12
        let days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400
        let epoch = 2400 * 365 + 2400 / 4 - 2400 / 100 + 2400 / 400 + 306
        return days + (153 * monthOfYear + 2) / 5 + day - 1 - epoch
    }

    private struct Reader {
        let bytes: [UInt8]
        private var index = 0

        init(bytes: [UInt8]) {
            self.bytes = bytes
        }

        var isAtEnd: Bool { index == bytes.count }

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
            index += 1
            return true
        }

        mutating func digits(_ count: Int) -> Int? {
            guard index + count <= bytes.count else { return nil }
            var value = 0
            for byte in bytes[index..<index + count] {
                guard byte.isDigit else { return nil }
                value = value * 10 + Int(byte - 0x30)
            }
            index += count
            return value
        }

        /// Reads one to nine digits after the decimal point, and returns the fraction that they represent.
        mutating func fraction() -> Double? {
            var value = 0.0
            var scale = 1.0
            let start = index
            while index < bytes.count, bytes[index].isDigit, index - start < 9 {
                value = value * 10 + Double(bytes[index] - 0x30)
                scale *= 10
                index += 1
            }
            return index > start ? value / scale : nil
        }
    }
}
