import MartletSyncProtocol
import MartletValues

/// The queries on the rows of one type, and the indexes that find them.
struct TypeMatcher: Sendable {
    struct Match {
        let query: Int
        var matchedBefore: Bool
        var matchesNow: Bool
    }

    /// A group of conditions that differ only in the values with which they compare.
    private struct Shape {
        let program: ConditionProgram
        var queryCount: Int
    }

    private struct Query {
        let condition: SubscriptionCondition
        let shape: Int
        let parameters: [ConditionParameter]
        /// The terms under which the indexes store this query. Nil if the query is evaluated for every change.
        let terms: [AccessTerm]?
        var subscriptions: [SubscriptionID]
    }

    private var operands = OperandTable()
    private var shapes: [Shape] = []
    private var shapeNumbers: [[UInt8]: Int] = [:]
    private var unusedShapes: [Int] = []
    private var queries: [Query?] = []
    private var unusedQueries: [Int] = []
    private var queryNumbers: [SubscriptionCondition: Int] = [:]
    private var indexes: AccessIndexes
    private var scanned = NumberSet()
    /// For each query, the number of the last search that found it.
    private var lastSearches: [UInt64] = []
    private var searchCount: UInt64 = 0

    init(seed: UInt64) { indexes = AccessIndexes(seed: seed) }

    var queryCount: Int { queryNumbers.count }
    var scannedCount: Int { scanned.count }

    func subscriptions(of query: Int) -> [SubscriptionID] {
        queries.indices.contains(query) ? queries[query]?.subscriptions ?? [] : []
    }

    // MARK: Subscriptions

    /// Adds a subscription. Returns the number of its query, and its position among the subscriptions of the query.
    mutating func add(_ id: SubscriptionID, _ condition: SubscriptionCondition) -> (query: Int, position: Int) {
        let number = queryNumbers[condition] ?? addQuery(condition)
        queries[number]?.subscriptions.append(id)
        return (number, subscriptions(of: number).count - 1)
    }

    /// Removes a subscription. Returns the subscription that moves to the free position; nil if none moves.
    mutating func remove(subscriptionAt position: Int, of number: Int) -> SubscriptionID? {
        guard let last = queries[number]?.subscriptions.popLast() else { return nil }
        let count = subscriptions(of: number).count
        if count == 0 { removeQuery(number) }
        guard position < count else { return nil }
        queries[number]?.subscriptions[position] = last
        return last
    }

    private mutating func addQuery(_ condition: SubscriptionCondition) -> Int {
        let shape = shapeNumber(condition)
        let number = unusedQueries.popLast() ?? queries.count
        let alternatives = AccessTerm.alternatives(condition)
        let terms = indexes.leastCrowded(alternatives, operands)
        let query = Query(
            condition: condition, shape: shape, parameters: ConditionParameter.all(of: condition), terms: terms,
            subscriptions: [])
        if number == queries.count {
            queries.append(query)
            lastSearches.append(0)
        } else {
            queries[number] = query
        }
        queryNumbers[condition] = number
        if let terms { indexes.add(number, terms, operands) } else { scanned.insert(number) }
        return number
    }

    private mutating func removeQuery(_ number: Int) {
        guard let query = queries[number] else { return }
        queryNumbers[query.condition] = nil
        if let terms = query.terms { indexes.remove(number, terms, operands) } else { scanned.remove(number) }
        queries[number] = nil
        unusedQueries.append(number)
        shapes[query.shape].queryCount -= 1
        guard shapes[query.shape].queryCount == 0 else { return }
        shapeNumbers[query.condition.shape] = nil
        unusedShapes.append(query.shape)
        operands.remove(query.condition)
    }

    private mutating func shapeNumber(_ condition: SubscriptionCondition) -> Int {
        let key = condition.shape
        if let number = shapeNumbers[key] {
            shapes[number].queryCount += 1
            return number
        }
        let shape = Shape(program: ConditionProgram(condition, &operands), queryCount: 1)
        let number = unusedShapes.popLast() ?? shapes.count
        if number == shapes.count { shapes.append(shape) } else { shapes[number] = shape }
        shapeNumbers[key] = number
        return number
    }

    // MARK: Changes

    /// The queries that match the row before or after a change.
    mutating func matches(_ old: RowImage?, _ new: RowImage?) -> [Match] {
        let oldValues = old.map { RowOperands($0, operands) }
        let newValues = new.map { RowOperands($0, operands) }
        if let oldValues, oldValues == newValues {
            // The change concerns no value that a query tests, so each query matches both images or neither.
            return candidates([oldValues]).compactMap { query in
                matches(oldValues, query) ? Match(query: query, matchedBefore: true, matchesNow: true) : nil
            }
        }
        return candidates([oldValues, newValues].compactMap { $0 }).compactMap { query in
            let before = oldValues.map { matches($0, query) } ?? false
            let now = newValues.map { matches($0, query) } ?? false
            return before || now ? Match(query: query, matchedBefore: before, matchesNow: now) : nil
        }
    }

    private func matches(_ row: RowOperands, _ number: Int) -> Bool {
        guard let query = queries[number] else { return false }
        return shapes[query.shape].program.matches(row, query.parameters)
    }

    // Returns all queries that may match at least one of the rows, each query once.
    private mutating func candidates(_ rows: [RowOperands]) -> [Int] {
        searchCount += 1
        let search = searchCount
        var found = scanned.numbers
        for row in rows {
            indexes.forEachCandidate(row) { number in
                guard lastSearches[number] != search else { return }
                lastSearches[number] = search
                found.append(number)
            }
        }
        return found
    }
}
