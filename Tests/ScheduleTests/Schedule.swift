import ModelTesting

/// A point at which several threads could continue, and the thread that was chosen.
struct Decision {
    /// The numbers of the threads that could continue, in ascending order.
    let runnable: [Int]
    /// The current thread if it could continue, otherwise the next thread that could.
    let defaultChoice: Int
    let chosen: Int
    /// True if the current thread could not continue. The switch to another thread is then forced, and does not count
    /// as a preemption.
    let isForcedSwitch: Bool
}

/// Decides which thread continues at each decision: by a plan, or by a random strategy.
struct Schedule {
    enum Strategy {
        /// The current thread continues while it can, except where the plan says otherwise.
        case planned
        /// On average, a random thread continues at one of `averageInterval` decisions. The default choice continues at
        /// the other decisions.
        case random(averageInterval: Int)
        /// The runnable thread with the highest priority continues. Priorities are random. At the given decisions, the
        /// thread with the highest priority gets the lowest priority (Burckhardt et al. 2010). So threads of low
        /// priority are delayed for a long time.
        case priorities(Set<Int>)
    }

    private let strategy: Strategy
    private let planned: [Int: Int]
    private var random: SeededRandom
    private var priorities: [Int: UInt64] = [:]

    /// The choices that differ from the default, by the number of the decision. A plan describes a schedule completely.
    typealias Plan = [Int: Int]

    init(planned: Plan) {
        strategy = .planned
        self.planned = planned
        random = SeededRandom(seed: 0)
    }

    init(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        planned = [:]
        switch Int.random(in: 0..<4, using: &random) {
        case 0: strategy = .random(averageInterval: 1)
        case 1: strategy = .random(averageInterval: Int.random(in: 2...12, using: &random))
        default:
            let count = Int.random(in: 1...6, using: &random)
            strategy = .priorities(Set((0..<count).map { _ in Int.random(in: 0..<120, using: &random) }))
        }
        self.random = random
    }

    mutating func choose(_ number: Int, _ runnable: [Int], defaultChoice: Int) -> Int {
        switch strategy {
        case .planned:
            let wanted = planned[number] ?? defaultChoice
            return runnable.contains(wanted) ? wanted : defaultChoice
        case .random(let averageInterval):
            guard Int.random(in: 0..<averageInterval, using: &random) == 0 else { return defaultChoice }
            return runnable.randomElement(using: &random) ?? defaultChoice
        case .priorities(let changes):
            // New threads get higher priorities than the threads whose priority was lowered.
            for thread in runnable where priorities[thread] == nil { priorities[thread] = random.next() | 1 << 32 }
            let highest = { (priorities: [Int: UInt64]) in
                runnable.max { (priorities[$0] ?? 0, $0) < (priorities[$1] ?? 0, $1) } ?? defaultChoice
            }
            if changes.contains(number) { priorities[highest(priorities)] = UInt64(changes.count { $0 > number }) }
            return highest(priorities)
        }
    }
}

extension [Decision] {
    /// The plan that repeats these decisions.
    var plan: Schedule.Plan {
        Schedule.Plan(
            uniqueKeysWithValues: enumerated().filter { $1.chosen != $1.defaultChoice }.map { ($0, $1.chosen) })
    }
}
