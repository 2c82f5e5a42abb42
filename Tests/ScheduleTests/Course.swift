import MartletTestSupport

/// A point where several threads could go on, and which one did.
struct Decision {
    /// Their numbers, in order.
    let able: [Int]
    /// The thread that held the baton, or, where that had to stop, the next that was able to go on.
    let usual: Int
    let chosen: Int
    /// The one that held the baton had to stop: to choose another costs no preemption.
    let isFree: Bool
}

/// Which thread goes on at each decision: as planned where that is given, and else in some manner.
struct Course {
    enum Manner {
        /// Whoever runs goes on as long as it can.
        case steady
        /// Somebody else gets the baton once in `rarity` decisions.
        case random(rarity: Int)
        /// The able thread of the highest rank goes on. Ranks are given at random, and at some decisions the highest becomes
        /// the lowest (Burckhardt et al. 2010): threads are starved for long, as an unlucky one is.
        case ranks(Set<Int>)
    }

    private let manner: Manner
    private let planned: [Int: Int]
    private var random: Seeded
    private var ranks: [Int: UInt64] = [:]

    /// The choices that are not the usual ones, by the numbers of the decisions: what a course can be told by.
    typealias Plan = [Int: Int]

    init(planned: Plan) {
        manner = .steady
        self.planned = planned
        random = Seeded(state: 0)
    }

    init(seed: UInt64) {
        var random = Seeded(state: seed)
        planned = [:]
        switch Int.random(in: 0..<4, using: &random) {
        case 0: manner = .random(rarity: 1)
        case 1: manner = .random(rarity: Int.random(in: 2...12, using: &random))
        default:
            let count = Int.random(in: 1...6, using: &random)
            manner = .ranks(Set((0..<count).map { _ in Int.random(in: 0..<120, using: &random) }))
        }
        self.random = random
    }

    mutating func choose(_ number: Int, _ able: [Int], usual: Int) -> Int {
        switch manner {
        case .steady:
            let wanted = planned[number] ?? usual
            return able.contains(wanted) ? wanted : usual
        case .random(let rarity):
            guard Int.random(in: 0..<rarity, using: &random) == 0 else { return usual }
            return able.randomElement(using: &random) ?? usual
        case .ranks(let changes):
            // Above those that lost their rank.
            for thread in able where ranks[thread] == nil { ranks[thread] = random.next() | 1 << 32 }
            let highest = { (ranks: [Int: UInt64]) in able.max { (ranks[$0] ?? 0, $0) < (ranks[$1] ?? 0, $1) } ?? usual
            }
            if changes.contains(number) { ranks[highest(ranks)] = UInt64(changes.count { $0 > number }) }
            return highest(ranks)
        }
    }
}

extension [Decision] {
    /// What makes the same course again.
    var plan: Course.Plan {
        Course.Plan(
            uniqueKeysWithValues: enumerated().filter { $1.chosen != $1.usual }.map { ($0, $1.chosen) })
    }
}
