import MartletEngine
import MartletValues
import ModelTesting
import Testing

@testable import MartletSyncProtocol

@Suite("encoding of conditions")
struct ConditionCodingTests {
    private func randomConditions(seed: UInt64, count: Int) throws -> [SubscriptionCondition] {
        var predicates = RandomPredicate(seed: seed, airportKeys: [1, 2])
        let builder = ConditionBuilder(type: 0, schema: SampleSchema.agreed) { _, key in
            key < 3 ? .text("K\(key)") : nil
        }
        return try (0..<count).map { _ in try builder.condition(predicates.tree()) }
    }

    @Test("random bytes and damaged conditions are either refused, or they are the encoding of another condition")
    func damaged() throws {
        var random = SeededRandom(seed: 3)
        let conditions = try randomConditions(seed: 4, count: 500)
        var row = SampleRow(id: 1, &random).image()
        row.values[ValuePath(12)] = .link(ObjectAddress(type: 9, key: .real(.nan)))
        var (refused, accepted) = (0, 0)
        for round in 0..<30_000 {
            var bytes = conditions[round % conditions.count].encoded()
            for _ in 0...Int.random(in: 0...2, using: &random) {
                let position = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[position] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes[position] = bytes[position] &+ 1
                case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: position)
                default: if bytes.count > 1 { bytes.remove(at: position) }
                }
            }
            if round.isMultiple(of: 10) {
                bytes =
                    [1]
                    + (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...18, using: &random) }
            }
            guard let condition = try? SubscriptionCondition(encoded: bytes) else {
                refused += 1
                continue
            }
            accepted += 1
            #expect(condition.encoded() == bytes)
            // A condition must never trap, even if the schema refuses the condition.
            _ = condition.matches(row)
            _ = condition.text(type: 0, in: SampleSchema.agreed)
            _ = try? condition.check(type: 0, in: SampleSchema.agreed)
        }
        #expect(refused > 10_000)
        #expect(accepted > 1_000)
    }

    @Test("conditions that are not canonical, too large or too deep are refused")
    func limits() throws {
        let number = ConditionOperand(ValuePath(4), .integer)
        let one = SubscriptionCondition.test(.isIn(number, [.integer(1)]), isNegated: false)
        let two = SubscriptionCondition.test(.isIn(number, [.integer(2)]), isNegated: false)
        func refusal(_ condition: SubscriptionCondition, _ limits: ConditionLimits = ConditionLimits()) -> String {
            do {
                return "accepted: \(try SubscriptionCondition(encoded: condition.encoded(), limits: limits))"
            } catch { return error.description }
        }
        let notCanonical = "a condition is not in its canonical form"
        #expect(refusal(.all([one])) == notCanonical)
        #expect(refusal(.all([])) == notCanonical)
        #expect(refusal(.any([one, two])) == notCanonical)
        #expect(refusal(.any([one, .constant(true)])) == notCanonical)
        #expect(refusal(.test(.isIn(number, []), isNegated: false)) == notCanonical)
        #expect(refusal(.test(.isIn(number, [.integer(2), .integer(1)]), isNegated: false)) == notCanonical)
        #expect(refusal(.test(.order(number, .less, .integer(5)), isNegated: false)) == notCanonical)
        let wrongValue = "a condition has a value of the wrong type"
        #expect(refusal(.test(.isIn(number, [.text("a")]), isNegated: false)) == wrongValue)
        let ratio = ConditionOperand(ValuePath(6), .floating)
        #expect(refusal(.test(.isIn(ratio, [.real(.nan)]), isNegated: false)) == wrongValue)
        #expect(refusal(.test(.order(ratio, .less, .real(-0.0)), isNegated: true)) == wrongValue)
        var deep = one
        for level in 0..<40 {
            let other = SubscriptionCondition.test(.isNil(ConditionOperand(ValuePath(level), .text)), isNegated: false)
            deep = level.isMultiple(of: 2) ? .any([deep, other]) : .all([deep, other])
        }
        #expect(refusal(deep) == "the parts of a condition are nested too deeply")
        var limits = ConditionLimits()
        limits.tests = 0
        #expect(refusal(one, limits) == "a condition has too many comparisons")
        limits.bytes = 3
        #expect(refusal(one, limits) == "a condition has 8 bytes, at most 3 are allowed")
        #expect(throws: MalformedMessage.self) { try SubscriptionCondition(encoded: [2, 1]) }
        #expect(throws: MalformedMessage.self) { try SubscriptionCondition(encoded: [1, 1, 1]) }
    }

    @Test("the service refuses conditions on properties that the type does not have")
    func foreignProperties() throws {
        func refuses(_ path: [Int], _ kind: ConditionKind, type: Int = 0) -> Bool {
            let operand = ConditionOperand(ValuePath(path), kind)
            let condition = SubscriptionCondition.test(.isNil(operand), isNegated: false)
            return (try? condition.check(type: type, in: SampleSchema.agreed)) == nil
        }
        let home = SampleSchema.path("home").properties[0]
        #expect(!refuses([4], .integer))
        #expect(!refuses([home, 0], .text))
        #expect(refuses([4], .text))
        #expect(refuses([4, 0], .integer))
        #expect(refuses([400], .integer))
        #expect(refuses([home, 9], .text))
        #expect(refuses([home, 4], .integer), "a collection is not a single value")
        #expect(refuses([0], .integer, type: 9))
        #expect(refuses([0], .text, type: 1), "embedded objects have no subscriptions")
        let tags = ConditionOperand(SampleSchema.path("tags"), .text)
        let rooms = ConditionOperand(ValuePath([home, 4]), .integer)
        for (operand, isAllowed) in [(tags, true), (rooms, false)] {
            let condition = SubscriptionCondition.test(.containsNil(operand), isNegated: true)
            #expect(((try? condition.check(type: 0, in: SampleSchema.agreed)) != nil) == isAllowed)
        }
    }
}
