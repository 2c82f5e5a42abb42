import MartletEngine
import Testing

/// An element of a test collection: its identity and its content.
struct ReplayElement: Equatable, CustomStringConvertible {
    var id: Int
    var content = 0

    var description: String { content == 0 ? "\(id)" : "\(id)'\(content)" }
}

/// Checks that a change is well formed, and that it turns the old collection into the new collection (N47).
func expectReplay(
    _ change: CollectionChange, from old: [ReplayElement], to new: [ReplayElement],
    sourceLocation: SourceLocation = #_sourceLocation
) {
    func ascend(_ positions: [Int], below count: Int) -> Bool {
        zip(positions, positions.dropFirst()).allSatisfy { $0 < $1 } && positions.allSatisfy { 0..<count ~= $0 }
    }
    let isWellFormed =
        ascend(change.deletions, below: old.count) && ascend(change.insertions, below: new.count)
        && ascend(change.modifications, below: old.count) && ascend(change.modificationsNew, below: new.count)
        && change.modifications.count == change.modificationsNew.count
        && ascend(change.moves.map(\.from), below: old.count)
        && old.count - change.deletions.count + change.insertions.count == new.count
        && Set(change.modifications).isDisjoint(with: change.deletions)
        && Set(change.modificationsNew).isDisjoint(with: change.insertions)
    #expect(isWellFormed, "\(old) to \(new): \(change)", sourceLocation: sourceLocation)
    if !isWellFormed { return }

    var replayed = old
    for position in change.deletions.reversed() { replayed.remove(at: position) }
    for position in change.insertions { replayed.insert(new[position], at: position) }
    for (from, to) in zip(change.modifications, change.modificationsNew) {
        #expect(old[from].id == new[to].id, sourceLocation: sourceLocation)
        replayed[to] = new[to]
    }
    #expect(replayed == new, "\(old) to \(new): \(change)", sourceLocation: sourceLocation)

    let deletions = Set(change.deletions)
    let insertions = Set(change.insertions)
    for move in change.moves {
        #expect(old[move.from].id == new[move.to].id, sourceLocation: sourceLocation)
        #expect(deletions.contains(move.from) && insertions.contains(move.to), sourceLocation: sourceLocation)
    }
}

/// The length of a longest increasing subsequence, in O(n²).
func lengthOfLongestIncreasing(_ ranks: [Int]) -> Int {
    var lengths: [Int] = []
    for (index, rank) in ranks.enumerated() {
        lengths.append(1 + (ranks[..<index].indices.filter { ranks[$0] < rank }.map { lengths[$0] }.max() ?? 0))
    }
    return lengths.max() ?? 0
}

/// All permutations of the numbers below a count.
func permutations(of count: Int) -> [[Int]] {
    if count == 0 { return [[]] }
    return permutations(of: count - 1).flatMap { shorter in
        (0...shorter.count).map { position in
            var longer = shorter
            longer.insert(count - 1, at: position)
            return longer
        }
    }
}
