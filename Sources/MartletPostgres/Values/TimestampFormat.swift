/// Converts between dates and the binary format of `timestamptz`. The format is the number of microseconds since
/// 2000-01-01T00:00:00Z. The greatest `Int64` is infinity, and the least `Int64` is negative infinity.
///
/// A date here is a `Double`: the seconds since 2001-01-01T00:00:00Z, as in Foundation. Between the years 1729 and
/// 2273, a whole number of microseconds survives a round trip. In other years, two neighboring microseconds can have
/// the same `Double`.
enum TimestampFormat {
    /// The microseconds between the two reference dates, which are one year apart. The year 2000 had 366 days.
    private static let offset: Int64 = 366 * 86_400 * 1_000_000
    /// PostgreSQL's range of timestamps, from the year 4713 BC to 294276 AD, as in its header `datatype/timestamp.h`.
    private static let range: Range<Int64> = -211_813_488_000_000_000..<9_223_371_331_200_000_000

    static func encode(_ seconds: Double) throws(UnencodableValue) -> Int64 {
        if seconds.isInfinite { return seconds > 0 ? .max : .min }
        // `whole` is exact. `seconds - whole` is exact too, except if `seconds` is between -0.5 and 0. In this range,
        // the error is far below a microsecond, and the rounding to whole microseconds removes it.
        let whole = seconds.rounded(.down)
        let rest = ((seconds - whole) * 1_000_000).rounded()
        guard !seconds.isNaN, let exact = Int64(exactly: whole) else {
            throw UnencodableValue("a date is not between the years -4712 and 294276")
        }
        let (product, isLarge) = exact.multipliedReportingOverflow(by: 1_000_000)
        let (sum, isLarger) = product.addingReportingOverflow(Int64(rest) + offset)
        guard !isLarge, !isLarger, range.contains(sum) else {
            throw UnencodableValue("a date is not between the years -4712 and 294276")
        }
        return sum
    }

    static func decode(_ microseconds: Int64) -> Double {
        switch microseconds {
        case .max: .infinity
        case .min: -.infinity
        default: Double(microseconds.subtractingReportingOverflow(offset).partialValue) / 1_000_000
        }
    }
}
