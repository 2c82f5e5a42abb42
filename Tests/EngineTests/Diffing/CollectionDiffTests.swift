import MartletEngine
import ModelTesting
import Testing

@Suite("CollectionDiff")
struct CollectionDiffTests {
    @Test("the diff of any two orders of up to four keys is correct and has the fewest moves")
    func allSmallOrders() {
        let orders = (0..<16).flatMap { subset -> [[ObjectKey]] in
            let members = (0..<4).filter { subset >> $0 & 1 == 1 }
            return permutations(of: members.count).map { $0.map { ObjectKey(members[$0]) } }
        }
        for old in orders {
            for new in orders {
                check(old, new, modified: [])
                check(old, new, modified: [1, 3])
                check(old, new, modified: [0], replaced: [0, 2])
            }
        }
    }

    @Test("the diff of two random orders is correct and has the fewest moves", arguments: 0..<150 as Range<UInt64>)
    func randomOrders(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let count = ObjectKey(random.number(0..<80))
        var old = Array(0..<count).filter { _ in !random.isTrue(oneIn: 5) }
        if random.isTrue(oneIn: 2) { old.shuffle(using: &random) }
        var new = old.filter { _ in !random.isTrue(oneIn: 6) }
        for key in count..<(count + 10) where random.isTrue(oneIn: 2) {
            new.insert(key, at: random.number(0..<(new.count + 1)))
        }
        for _ in 0..<random.number(0..<6) where !new.isEmpty {
            new.insert(new.remove(at: random.number(0..<new.count)), at: random.number(0..<new.count))
        }
        if random.isTrue(oneIn: 3) { new.sort() }
        let modified = KeySet(new.filter { _ in random.isTrue(oneIn: 4) })
        let replaced = KeySet(new.filter { _ in random.isTrue(oneIn: 12) })
        check(old, new, modified: modified, replaced: replaced)
    }

    @Test("of two rows that exchange places, the modified row is reported as moved N48")
    func theModifiedRowMoves() {
        for modified in [1, 2] as [ObjectKey] {
            let change = CollectionDiff.change(from: [1, 2], to: [2, 1], modified: [modified])
            let from = modified == 1 ? 0 : 1
            let to = 1 - from
            let moved = CollectionChange(deletions: [from], insertions: [to], moves: [.init(from: from, to: to)])
            #expect(change == moved)
        }
    }

    @Test("deletions report only the deleted positions N49 N50")
    func deletionsOnly() {
        let old = KeySequence([5, 3, 9, 1])
        #expect(CollectionDiff.change(from: old, to: [5, 9]) == CollectionChange(deletions: [1, 3]))
        #expect(CollectionDiff.change(from: old, to: []) == CollectionChange(deletions: [0, 1, 2, 3]))
    }

    @Test("a replaced row is a deletion and an insertion, not a move N52")
    func replacedRows() {
        for keys in [[1, 2, 3], [3, 1, 2]] as [KeySequence] {
            let change = CollectionDiff.change(from: keys, to: keys, modified: [1], replaced: [1])
            let position = keys.firstPosition(of: 1) ?? -1
            #expect(change == CollectionChange(deletions: [position], insertions: [position]))
        }
    }

    @Test("equal orders without modifications have no change N65")
    func equalOrders() {
        let keys = KeySequence([4, 2, 8])
        #expect(CollectionDiff.change(from: keys, to: keys, modified: [99]).isEmpty)
    }

    private func check(_ old: [ObjectKey], _ new: [ObjectKey], modified: KeySet, replaced: KeySet = []) {
        let change = CollectionDiff.change(
            from: KeySequence(old), to: KeySequence(new), modified: modified, replaced: replaced)
        // A replaced row is a different element with the same key.
        let oldElements = old.map { ReplayElement(id: Int($0)) }
        let newElements = new.map { key in
            ReplayElement(
                id: replaced.contains(key) ? Int(key) + 10_000 : Int(key), content: modified.contains(key) ? 1 : 0)
        }
        expectReplay(change, from: oldElements, to: newElements)
        let survivors = new.filter { old.contains($0) && !replaced.contains($0) }
        let staying = lengthOfLongestIncreasing(survivors.compactMap { old.firstIndex(of: $0) })
        #expect(change.moves.count == survivors.count - staying, "the number of moves is minimal")
        #expect(change.deletions.count == old.count - staying)
        let moved = Set(change.moves.map { old[$0.from] })
        let modifiedStaying = survivors.filter { modified.contains($0) && !moved.contains($0) }
        #expect(change.modificationsNew.map { new[$0] } == modifiedStaying)
    }
}
