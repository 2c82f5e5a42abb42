// Measures the matcher of the sync service:
//
//     swift build -c release --product MatcherBenchmark && .build/release/MatcherBenchmark
//
// A change is an update of a flight with 20 properties. The values of the rows are chosen from the values that the
// subscriptions compare. Therefore the average number of recipients of a change does not depend on the number of
// subscriptions. The time of a change is the CPU time of the fastest of nine runs, because other processes can only
// make a run slower. The runs with different numbers of subscriptions alternate.

import Foundation
import MartletEngine
import MartletSyncProtocol
import MartletSyncService
import MartletValues
import ModelTesting

/// The flights of the measurement. The subscriptions compare only the first six properties.
enum Flight {
    static let number = ConditionOperand(ValuePath(0), .integer)
    static let carrier = ConditionOperand(ValuePath(1), .text)
    static let origin = ConditionOperand(ValuePath(2), .text)
    static let delay = ConditionOperand(ValuePath(3), .floating)
    static let departure = ConditionOperand(ValuePath(4), .date)
    static let note = ConditionOperand(ValuePath(5), .text)

    /// Returns the row of a flight.
    ///
    /// - Parameter range: the number of different flight numbers, and of different airports. Departures lie within
    ///   `range` × 90 seconds.
    static func row(_ number: Int, _ range: Int, _ random: inout SeededRandom) -> RowImage {
        var values: [ValuePath: SyncValue] = [:]
        for property in 5..<20 { values[ValuePath(property)] = .scalar(.text("value \(property)")) }
        values[Self.number.path] = .scalar(.integer(Int64(number % range)))
        values[carrier.path] = .scalar(.text("carrier \(number % 16)"))
        values[origin.path] = .link(ObjectAddress(type: 1, key: airport(Int.random(in: 0..<range, using: &random))))
        values[delay.path] = .scalar(.real(Double.random(in: 0..<1_000, using: &random)))
        values[departure.path] = .scalar(.real(Double.random(in: 0..<Double(range) * 90, using: &random)))
        return RowImage(values)
    }

    static func airport(_ number: Int) -> SQLValue { .text("airport \(number)") }
}

struct Measurement {
    var nanosecondsPerChange = Double.infinity
    var recipientsPerChange = 0.0

    static func all(
        _ inputs: [(matcher: SubscriptionMatcher, changes: [(RowImage, RowImage)])]
    ) -> [Measurement] {
        var matchers = inputs.map(\.matcher)
        var measurements = inputs.map { _ in Measurement() }
        for _ in 0..<9 {
            for (position, input) in inputs.enumerated() {
                var recipients = 0
                let start = cpuNanoseconds()
                for (old, new) in input.changes {
                    recipients += matchers[position].subscriptions(matching: old, new, type: 0).now.count
                }
                let duration = (cpuNanoseconds() - start) / Double(input.changes.count)
                let best = min(duration, measurements[position].nanosecondsPerChange)
                measurements[position].nanosecondsPerChange = best
                measurements[position].recipientsPerChange = Double(recipients) / Double(input.changes.count)
            }
        }
        return measurements
    }

    var text: String {
        "\(tenths(nanosecondsPerChange / 1_000)) µs a change, \(Int(1e9 / nanosecondsPerChange)) changes/s, "
            + "\(tenths(recipientsPerChange)) recipients a change"
    }
}

func cpuNanoseconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

func tenths(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }

func test(_ test: ConditionTest) -> SubscriptionCondition { test.canonical }

/// A kind of subscription. `condition(_:)` returns the condition of the subscription with this number.
enum Mix: String, CaseIterable {
    case equality = "equality of one property"
    case conjunction = "equality of two properties"
    case range = "a range"
    case threeShapes = "equality, range and set"
    case unindexed = "without an index"

    func condition(_ number: Int) -> SubscriptionCondition {
        let airport = test(.isIn(Flight.origin, [Flight.airport(number)]))
        let start = Double(number) * 90
        switch self {
        case .equality: return airport
        case .conjunction: return .and([test(.isIn(Flight.carrier, [.text("carrier \(number % 16)")])), airport])
        case .range:
            return .and([
                test(.order(Flight.departure, .greaterOrEqual, .real(start))),
                test(.order(Flight.departure, .less, .real(start + 90))),
            ])
        case .threeShapes:
            switch number % 3 {
            case 0: return airport
            case 1: return Mix.range.condition(number)
            default: return test(.isIn(Flight.number, [.integer(Int64(number)), .integer(Int64(number + 1))]))
            }
        case .unindexed:
            return .and([
                test(.text(Flight.note, .contains, .text("\(number)"))),
                test(.isIn(Flight.carrier, [.text("x")])).negated,
            ])
        }
    }
}

func matcher(_ mix: Mix, _ count: Int) -> SubscriptionMatcher {
    var matcher = SubscriptionMatcher(seed: 1)
    for number in 0..<count { matcher.add(SubscriptionID(UInt64(number)), type: 0, mix.condition(number)) }
    return matcher
}

/// Returns updates of flights. Each update changes the delay, and every fourth update also changes the origin.
func changes(_ count: Int, range: Int) -> [(RowImage, RowImage)] {
    var random = SeededRandom(seed: 1)
    return (0..<count).map { number in
        let old = Flight.row(number, range, &random)
        var new = old
        new.values[Flight.delay.path] = .scalar(.real(Double(number)))
        if number.isMultiple(of: 4) {
            let key = Flight.airport(Int.random(in: 0..<range, using: &random))
            new.values[Flight.origin.path] = .link(ObjectAddress(type: 1, key: key))
        }
        return (old, new)
    }
}

for mix in Mix.allCases {
    print("\(mix.rawValue):")
    let counts = [100, 1_000, 10_000]
    let measurements = Measurement.all(
        counts.map { count in
            let changeCount = mix == .unindexed ? 200_000 / count : 10_000
            return (matcher(mix, count), changes(changeCount, range: count))
        })
    for (count, measurement) in zip(counts, measurements) {
        let slowdown = measurement.nanosecondsPerChange / measurements[0].nanosecondsPerChange - 1
        print("  \(count) subscriptions: \(measurement.text), \(tenths(slowdown * 100)) % slower than with 100")
    }
}

print("recipients of one change:")
for count in [0, 1, 10, 100, 1_000, 10_000] {
    var shared = SubscriptionMatcher(seed: 1)
    var different = SubscriptionMatcher(seed: 1)
    for number in 0..<count {
        let carrier = test(.isIn(Flight.carrier, (0..<16).map { .text("carrier \($0)") }))
        let own = SubscriptionCondition.and([carrier, test(.order(Flight.delay, .greater, .real(-Double(number) - 1)))])
        shared.add(SubscriptionID(UInt64(number)), type: 0, carrier)
        different.add(SubscriptionID(UInt64(number)), type: 0, own)
    }
    let sample = changes(count > 100 ? 200 : 5_000, range: 10_000)
    let measured = Measurement.all([(shared, sample), (different, sample)])
    let (sharedResult, differentResult) = (measured[0], measured[1])
    print("  \(count) of the same query: \(tenths(sharedResult.nanosecondsPerChange / 1_000)) µs a change")
    print(
        "  \(count) of different queries: \(tenths(differentResult.nanosecondsPerChange / 1_000)) µs a change, "
            + "\(tenths(differentResult.nanosecondsPerChange / Double(max(count, 1)) / 1_000)) µs a recipient")
}

print("adding and removing:")
var growing = SubscriptionMatcher(seed: 1)
let added = ContinuousClock().measure {
    for number in 0..<10_000 { growing.add(SubscriptionID(UInt64(number)), type: 0, Mix.threeShapes.condition(number)) }
}
let removed = ContinuousClock().measure { for number in 0..<10_000 { growing.remove(SubscriptionID(UInt64(number))) } }
print("  10000 subscriptions: \(added) to add, \(removed) to remove")
