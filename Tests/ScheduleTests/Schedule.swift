import ModelTesting

/// A point where several threads could continue, and the thread that did.
struct Decision {
    /// The numbers of the threads that could continue, in ascending order.
    let runnable: [Int]
    /// The current thread if it could continue, otherwise the next thread that could.
    let defaultChoice: Int
    let chosen: Int
    /// True if the current thread could not continue. The choice of another thread is then necessary, and not a
    /// preemption.
    let isFree: Bool
}

/// Decides which thread continues at each decision: by a plan, or by a random strategy.
struct Schedule {
    enum Strategy {
        /// The current thread continues while it can, except where the plan says otherwise.
        case planned
        /// A random thread continues, on average once in `rarity` decisions.
        case random(rarity: Int)
        /// The runnable thread with the highest rank continues. Ranks are random. At the given decisions the highest
        /// rank becomes the lowest (Burckhardt et al. 2010). Threads of low rank are delayed for a long time.
        case ranks(Set<Int>)
    }

    private let strategy: Strategy
    private let planned: [Int: Int]
    private var random: SeededRandom
    private var ranks: [Int: UInt64] = [:]

    /// The choices that differ from the default, by the number of the decision. A plan describes a schedule completely.
    typealias Plan = [Int: Int]

    init(planned: Plan) {
        strategy = .planned
        self.planned = planned
        random = SeededRandom(state: 0)
    }

    init(seed: UInt64) {
        var random = SeededRandom(state: seed)
        planned = [:]
        switch Int.random(in: 0..<4, using: &random) {
        case 0: strategy = .random(rarity: 1)
        case 1: strategy = .random(rarity: Int.random(in: 2...12, using: &random))
        default:
            let count = Int.random(in: 1...6, using: &random)
            strategy = .ranks(Set((0..<count).map { _ in Int.random(in: 0..<120, using: &random) }))
        }
        self.random = random
    }

    mutating func choose(_ number: Int, _ runnable: [Int], defaultChoice: Int) -> Int {
        switch strategy {
        case .planned:
            let wanted = planned[number] ?? defaultChoice
            return runnable.contains(wanted) ? wanted : defaultChoice
        case .random(let rarity):
            guard Int.random(in: 0..<rarity, using: &random) == 0 else { return defaultChoice }
            return runnable.randomElement(using: &random) ?? defaultChoice
        case .ranks(let changes):
            // New threads rank above the threads whose rank became the lowest.
            for thread in runnable where ranks[thread] == nil { ranks[thread] = random.next() | 1 << 32 }
            let highest = { (ranks: [Int: UInt64]) in
                runnable.max { (ranks[$0] ?? 0, $0) < (ranks[$1] ?? 0, $1) } ?? defaultChoice
            }
            if changes.contains(number) { ranks[highest(ranks)] = UInt64(changes.count { $0 > number }) }
            return highest(ranks)
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
