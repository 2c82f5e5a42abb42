import MartletEngine
package import MartletSyncProtocol
import Synchronization

/// Makes filters from the queries that clients send.
///
/// Clients are not trusted. So the compiler accepts only canonical conditions on synchronized properties of a type,
/// within the limits. It refuses other queries with a message for the developer of the client.
package struct FilterCompiler: Sendable {
    private let schema: SyncSchema
    private let tables: [Int: SyncTable]
    private let rules: [Int: ReadRule]
    private let limits: ConditionLimits

    /// - Throws: if the service cannot evaluate a rule of the schema.
    package init(_ schema: SyncSchema, limits: ConditionLimits = ConditionLimits()) throws(SyncSchemaError) {
        self.schema = schema
        self.limits = limits
        tables = try schema.tables()
        rules = try schema.readRules(tables)
    }

    /// Returns a filter for the objects that the queries contain and that the user may read.
    ///
    /// - Parameter claims: the claims of the user, as JSON.
    package func filter(
        _ queries: [SubscribedQuery], claims: String = "{}"
    ) throws(RefusedQueries) -> SubscriptionFilter {
        let user = UserClaims(claims)
        var conditions: [Int: [SubscriptionCondition]] = [:]
        var seen: Set<SubscribedQuery> = []
        for query in queries where seen.insert(query).inserted {
            let readable = try readable(query.type, user)
            conditions[query.type, default: []].append(.and([try condition(query)] + readable))
        }
        let programs = conditions.mapValues(TypeFilter.init)
        return SubscriptionFilter(queries, conditions: conditions) { address, values in
            programs[address.type]?.contains(values) ?? false
        }
    }

    /// A description of the user's rights to read objects. The descriptions of two users are equal if and only if the
    /// rules `read` have equal conditions for both users.
    package func readability(claims: String) throws(RefusedQueries) -> [UInt8] {
        let user = UserClaims(claims)
        var writer = MessageWriter()
        for type in rules.keys.sorted() {
            writer.text(schema.types[type].name)
            for condition in try readable(type, user) { writer.blob(condition.encoded()) }
        }
        return writer.bytes
    }

    private func readable(_ type: Int, _ user: UserClaims) throws(RefusedQueries) -> [SubscriptionCondition] {
        guard let rule = rules[type] else { return [] }
        do {
            return [try rule.condition(user)]
        } catch {
            // This error replaces the original error, because the message of the original error could contain a claim.
            throw RefusedQueries("the rule 'read' of '\(schema.types[type].name)' cannot be evaluated for the user")
        }
    }

    private func condition(_ query: SubscribedQuery) throws(RefusedQueries) -> SubscriptionCondition {
        let condition: SubscriptionCondition
        do {
            condition = try SubscriptionCondition(encoded: query.condition, limits: limits)
            try condition.check(type: query.type, in: schema.agreed)
        } catch {
            throw RefusedQueries("a query cannot be read: \(error)")
        }
        guard let type = schema.agreed.type(query.type), let table = tables[query.type] else {
            throw RefusedQueries("a query has the unknown type \(query.type)")
        }
        guard type.syncMode == .both else {
            throw RefusedQueries(
                "objects of '\(type.name)' are only uploaded, so a program cannot subscribe to them; write 'sync: both' "
                    + "into the YAML of the type")
        }
        var refusal: RefusedQueries?
        condition.forEachTest { test, _ in
            for operand in test.operands where refusal == nil {
                let property = operand.path.first
                guard table.position(of: property) == nil else { continue }
                let reason =
                    table.collection(of: property) == nil
                    ? "which is not synchronized" : "which is a collection, and cannot be part of a subscription yet"
                refusal = RefusedQueries(
                    "a query compares '\(type.name).\(type.properties[property].name)', \(reason); compare another property"
                )
            }
        }
        if let refusal { throw refusal }
        return condition
    }
}

/// Tests whether an object of one type satisfies at least one of several conditions.
private struct TypeFilter: Sendable {
    private struct Query {
        let program: ConditionProgram
        let parameters: [ConditionParameter]
    }

    /// An index for the conditions of a filter with many conditions.
    private final class Index: Sendable {
        private let matcher: Mutex<SubscriptionMatcher>

        init(_ conditions: [SubscriptionCondition]) {
            var matcher = SubscriptionMatcher(seed: .random(in: .min ... .max))
            for (number, condition) in conditions.enumerated() {
                matcher.add(SubscriptionID(UInt64(number)), type: 0, condition)
            }
            self.matcher = Mutex(matcher)
        }

        func contains(_ row: RowImage) -> Bool {
            matcher.withLock { !$0.queries(matching: nil, row, type: 0).isEmpty }
        }
    }

    /// With fewer conditions, evaluating all of them is faster than the index.
    private static let minimumIndexedCount = 8

    private let operands: OperandTable
    private let queries: [Query]
    private let index: Index?

    init(_ conditions: [SubscriptionCondition]) {
        var operands = OperandTable()
        if conditions.count >= Self.minimumIndexedCount {
            (queries, index) = ([], Index(conditions))
        } else {
            queries = conditions.map { condition in
                Query(
                    program: ConditionProgram(condition, &operands), parameters: ConditionParameter.all(of: condition))
            }
            index = nil
        }
        self.operands = operands
    }

    func contains(_ values: [ValuePath: SyncValue]) -> Bool {
        let image = RowImage(values)
        if let index { return index.contains(image) }
        let row = RowOperands(image, operands)
        return queries.contains { $0.program.matches(row, $0.parameters) }
    }
}
