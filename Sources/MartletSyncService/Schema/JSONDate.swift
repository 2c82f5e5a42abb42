/// Converts dates, which are seconds since 2001-01-01T00:00:00Z, to JSON and back.
///
/// A date in the years 1 to 9999 that is a whole number of microseconds becomes a text such as
/// `2024-05-01T12:30:00.25Z`. Every other finite date becomes a JSON number of seconds.
enum JSONDate {
    private static let secondsPerDay: Int64 = 86_400
    /// 2001-01-01 is day 11,323 after 1970-01-01.
    private static let daysBetweenEpochs: Int64 = 11_323

    /// The text of a date. Nil for a date that is not a whole number of microseconds, or that is not in the years 1 to
    /// 9999.
    static func text(_ seconds: Double) -> String? {
        guard abs(seconds) < 1e12, !(seconds == 0 && seconds.sign == .minus) else { return nil }
        let microseconds = Int64((seconds * 1_000_000).rounded())
        guard Double(microseconds) / 1_000_000 == seconds else { return nil }
        let (whole, fraction) = microseconds.dividedRoundingDown(by: 1_000_000)
        let (day, time) = whole.dividedRoundingDown(by: secondsPerDay)
        let date = CivilDate(days: day + daysBetweenEpochs)
        guard 1...9999 ~= date.year else { return nil }
        let clock = [time / 3_600, time / 60 % 60, time % 60].map { padded($0, 2) }.joined(separator: ":")
        var digits = fraction == 0 ? "" : "." + padded(fraction, 6)
        if fraction != 0 { while digits.hasSuffix("0") { digits.removeLast() } }
        return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))T\(clock)\(digits)Z"
    }

    /// Parses the texts that `text` returns, and the texts that PostgreSQL writes, which may have an offset such as
    /// `+02:00`. Returns nil for other texts.
    static func seconds(_ text: String) -> Double? {
        var scanner = DateScanner(Array(text.utf8))
        guard let year = scanner.number(4), scanner.skips("-"), let month = scanner.number(2), scanner.skips("-"),
            let day = scanner.number(2), scanner.skips("T") || scanner.skips(" "), let hour = scanner.number(2),
            scanner.skips(":"), let minute = scanner.number(2), scanner.skips(":"), let second = scanner.number(2)
        else { return nil }
        var microseconds: Int64 = 0
        if scanner.skips(".") {
            guard let fraction = scanner.fraction() else { return nil }
            microseconds = fraction
        }
        let date = CivilDate(year: year, month: month, day: day)
        // The conversion would turn a day that does not exist, such as April 31, into another date.
        guard year >= 1, CivilDate(days: date.days) == date, hour < 24, minute < 60, second < 60,
            let offset = scanner.offset(), scanner.isAtEnd
        else { return nil }
        let whole = (date.days - daysBetweenEpochs) * secondsPerDay + hour * 3_600 + minute * 60 + second - offset
        return Double(whole * 1_000_000 + microseconds) / 1_000_000
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

private struct DateScanner {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { index == bytes.count }

    mutating func skips(_ character: Unicode.Scalar) -> Bool {
        guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func digit() -> Int64? {
        guard index < bytes.count, 48...57 ~= bytes[index] else { return nil }
        index += 1
        return Int64(bytes[index - 1]) - 48
    }

    mutating func number(_ count: Int) -> Int64? {
        var number: Int64 = 0
        for _ in 0..<count {
            guard let digit = digit() else { return nil }
            number = number * 10 + digit
        }
        return number
    }

    /// Reads one to six digits after the decimal point. Returns the fraction in microseconds.
    mutating func fraction() -> Int64? {
        guard var number = digit() else { return nil }
        var count = 1
        while count < 6, let next = digit() { (number, count) = (number * 10 + next, count + 1) }
        for _ in count..<6 { number *= 10 }
        return number
    }

    /// Reads the offset from UTC: `Z`, or a sign with hours and optional minutes, such as `+02:00`. Returns the offset
    /// in seconds.
    mutating func offset() -> Int64? {
        if skips("Z") { return 0 }
        let isNegative = skips("-")
        guard isNegative || skips("+"), let hours = number(2) else { return nil }
        _ = skips(":")
        let minutes = isAtEnd ? 0 : number(2)
        guard let minutes, hours < 24, minutes < 60 else { return nil }
        return (isNegative ? -1 : 1) * (hours * 3_600 + minutes * 60)
    }
}

/// A date of the proleptic Gregorian calendar. The conversions are from Howard Hinnant's article "chrono-Compatible
/// Low-Level Date Algorithms".
struct CivilDate: Equatable {
    let year: Int64
    let month: Int64
    let day: Int64

    init(year: Int64, month: Int64, day: Int64) { (self.year, self.month, self.day) = (year, month, day) }

    /// - Parameter days: the number of days since 1970-01-01.
    init(days: Int64) {
        let (era, dayOfEra) = (days + 719_468).dividedRoundingDown(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    }

    /// The number of days since 1970-01-01.
    var days: Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = shiftedYear.dividedRoundingDown(by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

extension Int64 {
    func dividedRoundingDown(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
