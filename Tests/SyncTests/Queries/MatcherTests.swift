import MartletEngine
import MartletSyncProtocol
import MartletValues
import ModelTesting
import Testing

@testable import MartletSyncService

/// Compares the matcher with an evaluation of every subscription. `MARTLET_MATCHER` is the number of seeds.
@Suite("subscriptions that match a changed row")
struct MatcherTests {
    private typealias Known = (type: Int, condition: SubscriptionCondition)

    @Test("the matcher finds the same subscriptions as an evaluation of every subscription")
    func bruteForce() throws {
        let campaign = Campaign("MARTLET_MATCHER", count: 2)
        let failure = try campaign.firstFailure { seed in try Self.difference(seed: seed) }
        if let failure { Issue.record("MARTLET_MATCHER_SEED=\(failure.seed): \(failure.failure)") }
    }

    // Adds, replaces and removes random subscriptions between 400 changes of rows. Returns the first difference; nil if
    // the matcher always finds the right subscriptions.
    private static func difference(seed: UInt64) throws -> String? {
        var random = SeededRandom(seed: seed)
        var predicates = RandomPredicate(seed: seed &* 41, airportKeys: Array(1...6))
        let builder = ConditionBuilder(type: 0, schema: SampleSchema.agreed) { _, key in
            SampleSchema.airports.indices.contains(Int(key)) ? .text(SampleSchema.airports[Int(key)]) : nil
        }
        var matcher = SubscriptionMatcher(seed: 1)
        var known: [SubscriptionID: Known] = [:]
        let conditions = try (0..<300).map { try builder.condition(predicates.tree(depth: $0 % 3)) }
        for _ in 0..<400 {
            for _ in 0..<Int.random(in: 0...8, using: &random) {
                let id = SubscriptionID(UInt64.random(in: 0..<600, using: &random))
                if Int.random(in: 0..<3, using: &random) == 0 {
                    matcher.remove(id)
                    known[id] = nil
                } else if let condition = conditions.randomElement(using: &random) {
                    let type = Int.random(in: 0..<10, using: &random) == 0 ? 3 : 0
                    matcher.add(id, type: type, condition)
                    known[id] = (type, condition)
                }
            }
            if let problem = Self.problem(matcher, known) { return problem }
            let images = Self.change(&random)
            let found = matcher.subscriptions(matching: images.old, images.new, type: 0)
            let expected = Self.expected(images, known)
            guard found != expected else { continue }
            let wrong = Set(found.before).symmetricDifference(expected.before)
                .union(Set(found.now).symmetricDifference(expected.now))
            let texts = wrong.compactMap { known[$0]?.condition.text(type: 0, in: SampleSchema.agreed) }
            return "wrong: \(texts), images \(images)"
        }
        for id in known.keys { matcher.remove(id) }
        return matcher.subscriptionCount == 0 && matcher.queryCount == 0 ? nil : "subscriptions remain"
    }

    private static func problem(_ matcher: SubscriptionMatcher, _ known: [SubscriptionID: Known]) -> String? {
        let queries = Set(known.values.map { [UInt8($0.type)] + $0.condition.encoded() })
        guard matcher.subscriptionCount == known.count else { return "\(matcher.subscriptionCount) subscriptions" }
        return matcher.queryCount == queries.count ? nil : "\(matcher.queryCount) queries, not \(queries.count)"
    }

    // Returns the images of a random insertion, deletion or update. An update changes all values, a few values or none.
    private static func change(_ random: inout SeededRandom) -> (old: RowImage?, new: RowImage?) {
        let old = SampleRow(id: Int64.random(in: 0...3, using: &random), &random)
        let other = SampleRow(id: 1, &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return (nil, old.image())
        case 1: return (old.image(), nil)
        case 2: return (old.image(), old.image(nested: false))
        case 3: return (old.image(), other.image())
        default:
            var new = old
            for _ in 0..<2 {
                let number = Int.random(in: 1..<30, using: &random)
                new.values[number] = other.values[number]
                new.collections[number] = other.collections[number]
            }
            return (old.image(), new.image())
        }
    }

    private static func expected(
        _ images: (old: RowImage?, new: RowImage?), _ known: [SubscriptionID: Known]
    ) -> SubscriptionMatches {
        var matches = SubscriptionMatches()
        for (id, entry) in known where entry.type == 0 {
            if let old = images.old, entry.condition.matches(old) { matches.before.append(id) }
            if let new = images.new, entry.condition.matches(new) { matches.now.append(id) }
        }
        matches.before.sort()
        matches.now.sort()
        return matches
    }

    // MARK: Indexes

    private func condition(_ predicate: Predicate) throws -> SubscriptionCondition {
        try ConditionBuilder(type: 0, schema: SampleSchema.agreed) { _, _ in nil }.condition(predicate)
    }

    private func compare(_ name: String, _ comparison: Predicate.Comparison, _ value: SQLValue) -> Predicate {
        .comparison(.path(PropertyPath(name)), comparison, .value(value))
    }

    @Test("a query is evaluated for every change only if it has no equality, set, range or prefix for an index")
    func scanned() throws {
        let name = Predicate.Operand.path(PropertyPath("name"))
        let indexed: [Predicate] = [
            compare("number", .equal, .integer(1)), compare("number", .less, .integer(1)),
            .contained(name, [.text("a"), .text("b")]), .text(name, .begins, .value(.text("a")), []),
            compare("maybeName", .equal, .null), compare("tags", .equal, .text("a")),
            compare("extra", .equal, .integer(1)), compare("origin.iata", .equal, .text("JFK")),
            .and([.not(compare("number", .equal, .integer(1))), compare("flag", .equal, .integer(1))]),
            .or([compare("number", .equal, .integer(1)), compare("ratio", .greater, .real(5))]),
            .constant(false),
        ]
        let unindexed: [Predicate] = [
            .constant(true), compare("number", .notEqual, .integer(1)), compare("extra", .less, .integer(1)),
            .text(name, .contains, .value(.text("a")), []),
            .or([compare("number", .equal, .integer(1)), compare("number", .notEqual, .null)]),
            .comparison(name, .less, .path(PropertyPath("maybeName"))),
        ]
        var matcher = SubscriptionMatcher(seed: 1)
        for (number, predicate) in indexed.enumerated() {
            matcher.add(SubscriptionID(UInt64(number)), type: 0, try condition(predicate))
            #expect(matcher.scannedQueryCount == 0, "\(predicate)")
        }
        for (number, predicate) in unindexed.enumerated() {
            matcher.add(SubscriptionID(UInt64(1_000 + number)), type: 0, try condition(predicate))
            #expect(matcher.scannedQueryCount == number + 1, "\(predicate)")
        }
    }

    @Test("the matcher evaluates equal queries once, and finds exactly the subscriptions that were not removed")
    func sharing() throws {
        var matcher = SubscriptionMatcher(seed: 1)
        let query = try condition(compare("number", .equal, .integer(7)))
        for number in 0..<5 { matcher.add(SubscriptionID(UInt64(number)), type: 0, query) }
        #expect(matcher.queryCount == 1)
        matcher.remove(SubscriptionID(0))
        matcher.remove(SubscriptionID(0))
        matcher.remove(SubscriptionID(4))
        let row = RowImage([SampleSchema.path("number"): .scalar(.integer(7))])
        let found = matcher.queries(matching: nil, row, type: 0)
        #expect(found.map(\.matchedBefore) == [false])
        #expect(found.map(\.matchesNow) == [true])
        #expect(found.flatMap { matcher.subscriptions(of: $0.query) }.sorted() == [1, 2, 3].map { SubscriptionID($0) })
        for number in 1...3 { matcher.remove(SubscriptionID(UInt64(number))) }
        #expect(matcher.queries(matching: nil, row, type: 0).isEmpty)
        #expect(matcher.queryCount == 0)
    }

    @Test("the index finds the same intervals for a value as a scan", arguments: 0..<20 as Range<UInt64>)
    func intervals(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var index = IntervalIndex(seed: seed)
        var known: [Int: ValueInterval] = [:]
        for number in 0..<400 {
            if Int.random(in: 0..<3, using: &random) == 0, let (old, interval) = known.min(by: { $0.key < $1.key }) {
                index.remove(old, interval)
                known[old] = nil
            } else {
                func bound() -> ValueInterval.Bound? {
                    Int.random(in: 0..<6, using: &random) == 0
                        ? nil
                        : ValueInterval.Bound(
                            .integer(Int64.random(in: 0..<30, using: &random)), isIncluded: Bool.random(using: &random))
                }
                let interval = ValueInterval(lower: bound(), upper: bound())
                index.add(number, interval)
                known[number] = interval
            }
            let value = SQLValue.integer(Int64.random(in: -1...30, using: &random))
            var found: [Int] = []
            index.forEach(containing: value) { found.append($0) }
            #expect(found.sorted() == known.filter { $0.value.contains(value) }.keys.sorted())
        }
        for (number, interval) in known { index.remove(number, interval) }
        #expect(index.isEmpty)
    }
}
