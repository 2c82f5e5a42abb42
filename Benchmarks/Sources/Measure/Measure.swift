import CWorkload

/// The parameters of one run, from the command line.
public struct Job: Sendable {
    public let workload: String
    /// The path of the database.
    public let file: String
    /// The number of people in the database.
    public let count: Int
    /// The folder of the CSV files that the workload `import` reads.
    public let folder: String?

    public init?(arguments: [String]) {
        guard arguments.count >= 4, let count = Int(arguments[3]) else { return nil }
        workload = arguments[1]
        file = arguments[2]
        self.count = count
        folder = arguments.count > 4 ? arguments[4] : nil
    }
}

/// Prints the measurements of a peer, which is one of the compared libraries. The C program `yardstick`, which runs the
/// same workloads on SQLite, prints its measurements in the same format.
public struct Reporter: Sendable {
    let peer: String
    let file: String

    public init(peer: String, file: String) {
        self.peer = peer
        self.file = file
    }

    public func report(_ workload: String, n: Int, nanoseconds: Double, check: Int) {
        workload_report(peer, workload, Int64(n), nanoseconds, Int64(check), file)
    }
}

/// A sequence of pseudo-random numbers. Equal seeds produce equal numbers in all peers.
public struct RandomSequence {
    var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next(below bound: Int) -> Int {
        Int(workload_random(&state) % UInt64(bound))
    }
}

@inline(__always)
public func nanoseconds() -> UInt64 { workload_nanoseconds() }

public func median(_ durations: [UInt64]) -> Double {
    Double(durations.sorted()[durations.count / 2])
}

/// Measures the duration of a closure in nanoseconds.
@inline(__always)
public func duration(_ body: () throws -> Void) rethrows -> UInt64 {
    let start = nanoseconds()
    try body()
    return nanoseconds() - start
}

/// Returns the person that the change with the given number modifies or deletes. The person matches the observed query
/// `age < limit`.
public func observedPerson(_ number: Int, of count: Int, ageBelow limit: Int) -> PersonValues {
    var sequence = RandomSequence(seed: UInt64(number) * 77 + 3)
    while true {
        let person = PersonValues(number: sequence.next(below: count))
        if person.age < limit { return person }
    }
}

/// Returns the numbers of the thousand people that change in one round.
public func thousandPeople(round: Int, of count: Int) -> [Int] {
    (0..<1000).map { Int(workload_changed_person($0, Int64(round), Int64(count))) }
}

/// Returns a person that is not stored yet. At age 0, this person matches every observed query `age < limit`.
public func newPerson(_ number: Int, storedCount count: Int) -> PersonValues {
    var person = PersonValues(number: count * 2 + number)
    person.age = 0
    return person
}
