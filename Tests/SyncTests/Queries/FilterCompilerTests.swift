import MartletEngine
import MartletValues
import Testing

@testable import MartletSyncProtocol
@testable import MartletSyncService

@Suite("filters of subscriptions")
struct FilterCompilerTests {
    private static let facts = """
        object Dog
        primaryKey id
        sync both
        property id Int
        property name String
        property nick String sync=none
        property tags List<String>

        object Report
        primaryKey id
        sync upload
        property id Int
        """

    private func compiler(_ limits: ConditionLimits = ConditionLimits()) throws -> FilterCompiler {
        try FilterCompiler(SyncSchema(facts: Self.facts), limits: limits)
    }

    private func isIn(_ property: Int, _ kind: ConditionKind, _ values: [SQLValue]) -> SubscriptionCondition {
        .test(.isIn(ConditionOperand(ValuePath(property), kind), values), isNegated: false)
    }

    private func query(_ condition: SubscriptionCondition, type: Int = 0) -> SubscribedQuery {
        SubscribedQuery(type: type, condition: condition.encoded())
    }

    private func contains(_ filter: SubscriptionFilter, _ id: Int64, _ name: String, type: Int = 0) -> Bool {
        filter.contains(
            ObjectAddress(type: type, key: .integer(id)),
            [ValuePath(0): .scalar(.integer(id)), ValuePath(1): .scalar(.text(name))])
    }

    @Test("a filter contains the objects that satisfy one of its queries, and no objects of other types")
    func contents() throws {
        let queries = [query(isIn(1, .text, [.text("Rex")])), query(isIn(0, .integer, [.integer(7)]))]
        let filter = try compiler().filter(queries)
        #expect(contains(filter, 1, "Rex") && contains(filter, 7, "Max") && !contains(filter, 8, "Max"))
        #expect(!contains(filter, 7, "Rex", type: 1))
        #expect(try !contains(compiler().filter([]), 7, "Rex"))
    }

    @Test("equal queries share one condition")
    func equalQueries() throws {
        let same = query(isIn(0, .integer, [.integer(7)]))
        let filter = try compiler().filter([same, same])
        #expect(filter.queries.count == 2 && filter.conditions[0]?.count == 1)
    }

    private func message(_ query: SubscribedQuery, _ limits: ConditionLimits = ConditionLimits()) throws -> String {
        let compiler = try compiler(limits)
        return try #require(#expect(throws: RefusedQueries.self) { try compiler.filter([query]) }).message
    }

    @Test("invalid queries, and queries of types and properties that cannot be downloaded, are refused with a reason")
    func refusals() throws {
        #expect(try message(SubscribedQuery(type: 0, condition: [9, 9])).contains("a query cannot be read"))
        #expect(try message(query(.constant(true), type: 5)).contains("unknown type 5"))
        #expect(try message(query(isIn(1, .integer, [.integer(1)]))).contains("of 'Dog'"))
        #expect(try message(query(isIn(2, .text, [.text("a")]))).contains("'Dog.nick', which is not synchronized"))
        let tags = ConditionTest.containsAny(ConditionOperand(ValuePath(3), .text), [.text("a")])
        #expect(try message(query(.test(tags, isNegated: false))).contains("'Dog.tags', which is a collection"))
        #expect(try message(query(.constant(true), type: 1)).contains("objects of 'Report' are only uploaded"))
        var limits = ConditionLimits()
        limits.tests = 0
        #expect(try message(query(isIn(0, .integer, [.integer(7)])), limits).contains("a query cannot be read"))
    }
}
