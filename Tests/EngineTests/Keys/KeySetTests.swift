import MartletEngine
import ModelTesting
import Testing

@Suite("KeySet")
struct KeySetTests {
    @Test("a million consecutive keys are one run")
    func consecutiveKeysAreOneRun() {
        var set = KeySet()
        for key in 1...1_000_000 as ClosedRange<ObjectKey> { set.insert(key) }
        #expect(set.ranges == [1...1_000_000])
        #expect(set.count == 1_000_000)
    }

    @Test("set operations on all pairs of sets over six keys give the same results as with Swift's Set")
    func algebraAgreesOnAllSmallSets() {
        for left in subsets(of: 6) {
            let leftKeys = KeySet(left)
            leftKeys.checkInvariants()
            #expect(Array(leftKeys) == left.sorted())
            for right in subsets(of: 6) {
                let rightKeys = KeySet(right)
                let results = [
                    (leftKeys.union(rightKeys), left.union(right)),
                    (leftKeys.subtracting(rightKeys), left.subtracting(right)),
                    (leftKeys.intersection(rightKeys), left.intersection(right)),
                ]
                for (result, expected) in results {
                    result.checkInvariants()
                    #expect(result == KeySet(expected))
                }
                var formed = leftKeys
                formed.formUnion(rightKeys)
                #expect(formed == leftKeys.union(rightKeys))
                #expect(leftKeys.isDisjoint(with: rightKeys) == left.isDisjoint(with: right))
                #expect(leftKeys.isSubset(of: rightKeys) == left.isSubset(of: right))
            }
        }
    }

    @Test("random insertions and removals give the same result as with Swift's Set", arguments: 0..<20 as Range<UInt64>)
    func randomEditsAgree(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var set = KeySet()
        var model = Set<ObjectKey>()
        for _ in 0..<500 {
            let key = ObjectKey(random.number(-40..<40))
            if random.isTrue(oneIn: 2) {
                #expect(set.insert(key) == model.insert(key).inserted)
            } else {
                #expect(set.remove(key) == (model.remove(key) != nil))
            }
            set.checkInvariants()
            let probe = ObjectKey(random.number(-45..<45))
            #expect(set.contains(probe) == model.contains(probe))
            #expect(set.count == model.count)
            #expect(set.first == model.min() && set.last == model.max())
        }
        #expect(Array(set) == model.sorted())
        #expect(KeySet(sorted: model.sorted()) == set)
        #expect(KeySet(model.shuffled(using: &random)) == set)
    }

    @Test("the minimum and maximum keys can be stored like all other keys")
    func extremeKeys() {
        var set: KeySet = [.max, .min, 0]
        set.checkInvariants()
        #expect(Array(set) == [.min, 0, .max])
        #expect(set.insert(.max - 1) && set.insert(.min + 1))
        #expect(set.ranges == [ObjectKey.min...(.min + 1), 0...0, (ObjectKey.max - 1)...(.max)])
        #expect(set.remove(.max) && set.remove(.min))
        set.checkInvariants()
        #expect(set.subtracting([.min + 1, .max - 1]) == [0])
        #expect(!set.contains(.max))
    }

    @Test("appended runs are joined with adjacent and overlapping runs")
    func appendedRunsJoin() {
        var set = KeySet(1...5)
        set.append(6...7)
        set.append(3...4)
        set.append(9...12)
        set.append(10...20)
        set.checkInvariants()
        #expect(set.ranges == [1...7, 9...20])
        #expect(set.count == 19)
    }

    private func subsets(of size: Int) -> [Set<ObjectKey>] {
        (0..<(1 << size)).map { bits in Set((0..<size).filter { bits >> $0 & 1 == 1 }.map { ObjectKey($0) }) }
    }
}
