/// In a reordered sequence, finds elements that are still in the old order, and that can therefore be reported as not
/// moved.
package enum IncreasingSubsequence {
    /// Returns one flag for each rank: true if the rank belongs to a longest increasing subsequence. The ranks are
    /// distinct. Among the longest subsequences, the method chooses one with the most members for which `isPreferred`
    /// returns true. The argument of `isPreferred` is an index into `ranks`.
    ///
    /// The algorithm is dynamic programming. For each rank, it computes the best chain (increasing subsequence) that
    /// ends at this rank. A Fenwick tree (Fenwick 1994) finds the best chain among those that end at a smaller rank.
    /// Patience sorting also finds a longest chain in O(n log n), but it cannot take preferences into account.
    ///
    /// Complexity: O(n) if the ranks ascend, otherwise O(n log n).
    package static func longest(of ranks: [Int], preferring isPreferred: (Int) -> Bool = { _ in true }) -> [Bool] {
        if !zip(ranks, ranks.dropFirst()).contains(where: { $0 > $1 }) {
            return [Bool](repeating: true, count: ranks.count)
        }
        let order = ranks.indices.sorted { ranks[$0] < ranks[$1] }
        var places = [Int](repeating: 0, count: ranks.count)
        for (place, index) in order.enumerated() { places[index] = place + 1 }

        // One additional member outweighs any number of preferred members.
        let memberScore = ranks.count + 1
        var chains = Chains(count: ranks.count)
        var previous = [Int](repeating: -1, count: ranks.count)
        for index in ranks.indices {
            previous[index] = chains.best(below: places[index])
            let score = (previous[index] < 0 ? 0 : chains.scores[previous[index]]) + memberScore
            chains.record(index, at: places[index], score: score + (isPreferred(index) ? 1 : 0))
        }

        var marks = [Bool](repeating: false, count: ranks.count)
        var index = chains.best(below: ranks.count + 1)
        while index >= 0 {
            marks[index] = true
            index = previous[index]
        }
        return marks
    }

    /// Finds the best chain that ends below a place. The place of a rank is its number in ascending order, from 1 to n.
    /// A chain is represented by the index of its last rank. The chains are stored in a Fenwick tree of maxima over the
    /// places.
    private struct Chains {
        private(set) var scores: [Int]
        private var tree: [Int]

        init(count: Int) {
            scores = [Int](repeating: 0, count: count)
            tree = [Int](repeating: -1, count: count + 1)
        }

        func best(below place: Int) -> Int {
            var best = -1
            var node = place - 1
            while node > 0 {
                let candidate = tree[node]
                if candidate >= 0, best < 0 || scores[candidate] > scores[best] { best = candidate }
                node &= node - 1
            }
            return best
        }

        mutating func record(_ index: Int, at place: Int, score: Int) {
            scores[index] = score
            var node = place
            while node < tree.count {
                if tree[node] < 0 || score > scores[tree[node]] { tree[node] = index }
                node += node & -node
            }
        }
    }
}
