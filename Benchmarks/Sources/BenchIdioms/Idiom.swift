/// The permitted growth of an idiom's time with the number of rows.
enum Growth: String, Codable, CaseIterable {
    /// The answer does not depend on the number of rows, and requires no search.
    case constant
    /// The answer requires a search in an index or in a tree.
    case logarithmic
    /// The answer depends on all rows, or on a fixed fraction of all rows.
    case linear

    /// The largest allowed ratio of the times at two sizes. `ratio` is the ratio of the sizes.
    func limit(ratio: Double) -> Double {
        switch self {
        case .constant: 2
        case .logarithmic: 4
        case .linear: ratio * 1.3
        }
    }
}

/// One common way to write an operation, and the permitted growth of its time.
struct Idiom: Sendable {
    let name: String
    let growth: Growth
    let measure: @Sendable (Context) throws -> Measurement

    init(_ name: String, _ growth: Growth, _ measure: @escaping @Sendable (Context) throws -> Measurement) {
        self.name = name
        self.growth = growth
        self.measure = measure
    }

    static var all: [Idiom] {
        loops + positions + searches + queries + counts + aggregates + lists + largeLists + sets + maps + links
            + writes + collectionWrites + deletions + collectionObservers + otherObservers + firstCalls
            + sections + isolations + keyedAccess
    }
}

/// The time of an idiom at one size.
struct Measurement: Codable {
    /// The time of one execution: the smallest median of several rounds.
    var nanoseconds: Double
    /// The number of executions that were measured.
    var executions: Int
    /// The expected check value, which `Population` computes without the database.
    var expected: Int
    /// The first check value that differs from `expected`; nil if there is none.
    var found: Int?
}
