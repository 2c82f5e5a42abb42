/// How the time of an idiom may grow with the number of rows.
enum Growth: String, Codable, CaseIterable {
    /// What is asked does not depend on the number of rows.
    case constant
    /// A place in an index or in a tree is searched.
    case logarithmic
    /// The answer depends on all rows, or contains a share of them.
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

/// One natural way to write something, with the growth that it may have.
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
    /// The check value that the generator expects, and the first different value that was found, if any.
    var expected: Int
    var found: Int?
}
