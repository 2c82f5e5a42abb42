import Foundation

/// Parses and prints times of the form 2013-01-01T10:00:00Z. This is faster than a date formatter of Foundation.
enum UniversalTime {
    static func date(from text: String) -> Date? {
        let bytes = Array(text.utf8)
        let pattern = Array("0000-00-00T00:00:00Z".utf8)
        guard bytes.count == pattern.count else { return nil }
        for (byte, form) in zip(bytes, pattern) {
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            guard form == UInt8(ascii: "0") ? isDigit : byte == form else { return nil }
        }
        func number(_ range: Range<Int>) -> Int {
            bytes[range].reduce(0) { $0 * 10 + Int($1) - 48 }
        }
        let month = number(5..<7), day = number(8..<10), hour = number(11..<13), minute = number(14..<16)
        let second = number(17..<19)
        guard (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 60 else { return nil }
        let days = daysFromCivil(year: number(0..<4), month: month, day: day)
        return Date(timeIntervalSince1970: Double(days * 86400 + hour * 3600 + minute * 60 + second))
    }

    static func text(_ date: Date) -> String {
        let seconds = Int(date.timeIntervalSince1970)
        let days = seconds >= 0 ? seconds / 86400 : (seconds - 86399) / 86400
        let (year, month, day) = civil(fromDays: days)
        let rest = seconds - days * 86400
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(year)-\(two(month))-\(two(day))T\(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60))Z"
    }

    // Returns the days from 1970-01-01 to a date of the Gregorian calendar. Both conversions are from Howard Hinnant,
    // "chrono-Compatible Low-Level Date Algorithms".
    private static func daysFromCivil(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719468
    }

    private static func civil(fromDays days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719468
        let era = (shifted >= 0 ? shifted : shifted - 146096) / 146097
        let dayOfEra = shifted - era * 146097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }
}
