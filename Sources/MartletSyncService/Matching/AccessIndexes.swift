import MartletSyncProtocol
import MartletValues

/// The queries of a type, indexed by the values that a row must have to match them.
///
/// Each operand has at most one index of each kind: for values, for elements and for intervals. Queries of different
/// forms that compare the same property share these indexes. So a client cannot slow down the service by sending
/// queries of many different forms.
struct AccessIndexes: Sendable {
    private typealias Table = [SQLValue: NumberSet]
    // Indexed by the position of the operand in the `OperandTable`. This is an array and not a dictionary, so that the
    // order of results is reproducible.
    private var values: [Table] = []
    private var elements: [Table] = []
    private var intervals: [IntervalIndex] = []
    private let seed: UInt64

    /// - Parameter seed: a random number that clients do not know.
    init(seed: UInt64) { self.seed = seed }

    /// Chooses the alternative under which the indexes store a new query (see `AccessTerm.alternatives`). Considers
    /// only the alternatives with the best rank. Of these, returns the alternative whose values have the fewest queries
    /// in the indexes so far. Nil if there is no alternative.
    ///
    /// For example, an index can find `carrier == "UA" && number == 5` by the carrier or by the number. If the indexes
    /// already store many queries with the carrier "UA", the new query is stored under its number.
    func leastCrowded(_ alternatives: [[AccessTerm]], _ operands: OperandTable) -> [AccessTerm]? {
        guard let first = alternatives.first, let rank = first.map(\.rank).max() else { return alternatives.first }
        var best = (terms: first, count: entryCount(first, operands))
        for terms in alternatives.dropFirst() where terms.map(\.rank).max() == rank {
            let count = entryCount(terms, operands)
            if count < best.count { best = (terms, count) }
        }
        return best.terms
    }

    private func entryCount(_ terms: [AccessTerm], _ operands: OperandTable) -> Int {
        terms.reduce(0) { sum, term in
            switch term {
            case .values(let operand, let keys): sum + count(keys, in: values, operands.position(of: operand))
            case .elements(let operand, let keys):
                sum + count(keys, in: elements, operands.position(ofCollection: operand))
            case .interval: sum
            }
        }
    }

    private func count(_ keys: [SQLValue], in tables: [Table], _ position: Int?) -> Int {
        guard let position, position < tables.count else { return keys.count }
        return keys.reduce(keys.count) { $0 + (tables[position][$1]?.count ?? 0) }
    }

    mutating func add(_ query: Int, _ terms: [AccessTerm], _ operands: OperandTable) {
        for term in terms {
            switch term {
            case .values(let operand, let keys):
                Self.add(query, keys, to: &values, operands.position(of: operand))
            case .elements(let operand, let keys):
                Self.add(query, keys, to: &elements, operands.position(ofCollection: operand))
            case .interval(let operand, let interval):
                guard let position = operands.position(of: operand) else { continue }
                while intervals.count <= position { intervals.append(IntervalIndex(seed: seed)) }
                intervals[position].add(query, interval)
            }
        }
    }

    private static func add(_ query: Int, _ keys: [SQLValue], to tables: inout [Table], _ position: Int?) {
        guard let position else { return }
        while tables.count <= position { tables.append([:]) }
        for key in keys { tables[position][key, default: NumberSet()].insert(query) }
    }

    mutating func remove(_ query: Int, _ terms: [AccessTerm], _ operands: OperandTable) {
        for term in terms {
            switch term {
            case .values(let operand, let keys):
                Self.remove(query, keys, from: &values, operands.position(of: operand))
            case .elements(let operand, let keys):
                Self.remove(query, keys, from: &elements, operands.position(ofCollection: operand))
            case .interval(let operand, let interval):
                guard let position = operands.position(of: operand), position < intervals.count else { continue }
                intervals[position].remove(query, interval)
            }
        }
    }

    private static func remove(_ query: Int, _ keys: [SQLValue], from tables: inout [Table], _ position: Int?) {
        guard let position, position < tables.count else { return }
        for key in keys {
            tables[position][key]?.remove(query)
            if tables[position][key]?.isEmpty == true { tables[position][key] = nil }
        }
    }

    /// Calls `body` with each query that the row may match. A query can occur several times.
    func forEachCandidate(_ row: RowOperands, _ body: (Int) -> Void) {
        for (position, table) in values.enumerated() where !table.isEmpty {
            table[row.values[position]]?.forEach(body)
        }
        for (position, table) in elements.enumerated() where !table.isEmpty {
            for element in row.collections[position] { table[element]?.forEach(body) }
        }
        for (position, index) in intervals.enumerated() where !index.isEmpty {
            let value = row.values[position]
            // Nil and NaN lie in no interval.
            if value != .null, !value.isNaN { index.forEach(containing: value, body) }
        }
    }
}

extension SQLValue {
    fileprivate var isNaN: Bool { if case .real(let number) = self { number.isNaN } else { false } }
}
