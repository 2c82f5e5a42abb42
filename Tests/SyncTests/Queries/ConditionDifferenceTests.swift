import MartletEngine
import MartletValues
import ModelTesting
import Testing

@testable import MartletSyncProtocol

/// Compares random conditions with the engine's queries. `MARTLET_CONDITIONS` is the number of seeds.
@Suite("conditions and the engine's queries")
struct ConditionDifferenceTests {
    private static let rowCount = 120

    @Test("a condition matches exactly the rows that the engine finds")
    func sameRows() throws {
        let campaign = Campaign("MARTLET_CONDITIONS", count: 12)
        let failure = try campaign.firstFailure { seed in try Self.difference(seed: seed, conditionCount: 250) }
        if let failure { Issue.record("MARTLET_CONDITIONS_SEED=\(failure.seed): \(failure.failure)") }
    }

    // Returns the first difference for a seed; nil if all conditions match the rows that the engine finds.
    private static func difference(seed: UInt64, conditionCount: Int) throws -> String? {
        var random = SeededRandom(seed: seed)
        let database = try SampleDatabase()
        let rows = (1...Int64(rowCount)).map { SampleRow(id: $0, &random) }
        for row in rows { try database.add(row) }
        var predicates = RandomPredicate(seed: seed &* 31, airportKeys: Array(database.airportKeys.values))
        let builder = ConditionBuilder(type: 0, schema: SampleSchema.agreed) { database.primaryKey($0, $1) }
        for _ in 0..<conditionCount {
            let predicate = predicates.tree(depth: Int.random(in: 0...3, using: &random))
            let condition = try builder.condition(predicate)
            let expected = try database.ids(predicate)
            for (number, row) in rows.enumerated() {
                let matches = condition.matches(row.image(nested: number.isMultiple(of: 2)))
                guard matches != expected.contains(Int64(number + 1)) else { continue }
                let text = condition.text(type: 0, in: SampleSchema.agreed)
                return "row \(row) is \(matches ? "" : "not ")in '\(text)', unlike \(predicate)"
            }
            if let message = encodingProblem(condition) { return "\(message): \(predicate)" }
        }
        return nil
    }

    private static func encodingProblem(_ condition: SubscriptionCondition) -> String? {
        guard condition.normalized == condition else { return "not canonical" }
        let bytes = condition.encoded()
        guard let decoded = try? SubscriptionCondition(encoded: bytes), decoded == condition else {
            return "not decoded"
        }
        guard condition.negated.negated == condition else { return "not equal after two negations" }
        return (try? condition.check(type: 0, in: SampleSchema.agreed)) == nil ? "refused by the service" : nil
    }
}
