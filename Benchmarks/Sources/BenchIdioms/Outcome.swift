import Foundation

/// The measurements of one idiom at all sizes.
struct Outcome: Codable {
    let idiom: String
    let growth: Growth
    let sizes: [Int]
    /// The smallest time at each size in nanoseconds; nil if there is none.
    private(set) var nanoseconds: [Double?]
    /// The reason why the idiom could not be measured, or the wrong check value that it returned; nil if there was no
    /// failure.
    private(set) var failure: String?

    init(idiom: String, growth: Growth, sizes: [Int]) {
        self.idiom = idiom
        self.growth = growth
        self.sizes = sizes
        nanoseconds = sizes.map { _ in nil }
    }

    mutating func add(_ result: Result<Measurement, Failure>, _ size: Int) {
        guard let index = sizes.firstIndex(of: size) else { return }
        switch result {
        case .failure(let error): failure = failure ?? "at \(grouped(size)): \(error.text)"
        case .success(let measurement):
            nanoseconds[index] = min(nanoseconds[index] ?? .infinity, measurement.nanoseconds)
            if let found = measurement.found {
                failure =
                    failure ?? "at \(grouped(size)): the check value is \(found) instead of \(measurement.expected)"
            }
        }
    }

    /// The time at the last size, divided by the time at the first size; nil if one of these times is missing.
    var ratio: Double? {
        guard let first = nanoseconds.first ?? nil, let last = nanoseconds.last ?? nil else { return nil }
        return last / first
    }

    var limit: Double { growth.limit(ratio: Double(sizes.last ?? 1) / Double(sizes.first ?? 1)) }

    /// Whether the idiom has a failure, or its growth is above the limit. The limit does not apply to an idiom that
    /// takes less than a microsecond at the last size, because a few cache misses can change this time by a larger
    /// factor.
    var fails: Bool { failure != nil || !isShort && (ratio ?? .infinity) > limit }

    private var isShort: Bool { (nanoseconds.last ?? nil).map { $0 < 1000 } ?? false }

    /// The growth, divided by its limit; infinite if the idiom has a failure.
    var excess: Double { failure == nil ? (ratio ?? .infinity) / limit : .infinity }

    /// One line for the terminal.
    var line: String {
        let times = nanoseconds.map { $0.map(duration) ?? "–" }.joined(separator: "  ")
        let growth = "× \(ratio.map(factor) ?? "–") of \(factor(limit)) (\(growth.rawValue))"
        return "\(fails ? "FAILS" : "ok   ")  \(idiom)  \(times)  \(growth)\(failure.map { "  \($0)" } ?? "")"
    }

    /// The cells of a row in a Markdown table.
    var row: [String] {
        ["`\(idiom.replacingOccurrences(of: "|", with: "\\|"))`", growth.rawValue]
            + nanoseconds.map { $0.map(duration) ?? "–" } + [ratio.map(factor) ?? "–", factor(limit), failure ?? ""]
    }
}

/// A time with three significant digits.
func duration(_ nanoseconds: Double) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")]
    let unit = units.first { nanoseconds >= $0.0 * 0.9995 } ?? (1, "ns")
    return significant(nanoseconds / unit.0) + " " + unit.1
}

func factor(_ ratio: Double) -> String { ratio >= 1000 ? grouped(Int(ratio)) : significant(ratio) }

private func significant(_ value: Double) -> String {
    String(format: value >= 99.95 ? "%.0f" : value >= 9.995 ? "%.1f" : "%.2f", value)
}

/// A number with commas between groups of three digits.
func grouped(_ number: Int) -> String {
    let digits = Array(String(number))
    return digits.indices.map { index in
        (index > 0 && (digits.count - index) % 3 == 0 ? "," : "") + String(digits[index])
    }.joined()
}
