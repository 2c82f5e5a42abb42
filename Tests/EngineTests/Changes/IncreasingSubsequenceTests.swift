import MartletEngine
import ModelTesting
import Testing

@Suite("IncreasingSubsequence")
struct IncreasingSubsequenceTests {
    @Test("a longest subsequence with the most preferred members is found for all orders of up to six ranks")
    func allSmallOrders() {
        for count in 0...6 {
            for ranks in permutations(of: count) {
                for preferred in [0, 0b101010, 0b11, (1 << count) - 1] {
                    let marks = IncreasingSubsequence.longest(of: ranks) { preferred >> $0 & 1 == 1 }
                    let kept = ranks.indices.filter { marks[$0] }
                    #expect(zip(kept, kept.dropFirst()).allSatisfy { ranks[$0] < ranks[$1] })
                    let best = bestChain(of: ranks, preferred: preferred)
                    #expect(kept.count == best.count)
                    #expect(kept.filter { preferred >> $0 & 1 == 1 }.count == best.preferred)
                }
            }
        }
    }

    @Test("a longest subsequence is found for random orders with gaps", arguments: 0..<50 as Range<UInt64>)
    func randomOrders(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let ranks = Array(Set((0..<random.number(0..<150)).map { _ in random.number(-1000..<1000) }))
            .shuffled(using: &random)
        let marks = IncreasingSubsequence.longest(of: ranks)
        let kept = zip(ranks, marks).filter { $0.1 }.map { $0.0 }
        #expect(kept == kept.sorted())
        #expect(kept.count == lengthOfLongestIncreasing(ranks))
    }

    /// Tries all subsequences. Returns the length of a longest increasing one, and the greatest number of preferred
    /// members.
    private func bestChain(of ranks: [Int], preferred: Int) -> (count: Int, preferred: Int) {
        var best = (count: 0, preferred: 0)
        for subset in 0..<(1 << ranks.count) {
            let chain = ranks.indices.filter { subset >> $0 & 1 == 1 }
            guard zip(chain, chain.dropFirst()).allSatisfy({ ranks[$0] < ranks[$1] }) else { continue }
            let found = (chain.count, (subset & preferred).nonzeroBitCount)
            if found > best { best = found }
        }
        return best
    }
}
