import MartletEngine
import ModelTesting
import Testing

@Suite("KeySequence")
struct KeySequenceTests {
    @Test("random insertions and removals agree with an array", arguments: 0..<8 as Range<UInt64>)
    func randomEditsAgree(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var model = (0..<ObjectKey(random.number(0..<2200))).shuffled(using: &random)
        var sequence = KeySequence(model)
        var nextKey: ObjectKey = 10_000
        let growing = random.isTrue(oneIn: 2)
        for _ in 0..<500 {
            if model.isEmpty || random.isTrue(oneIn: growing ? 2 : 4) {
                let position = random.number(0..<(model.count + 1))
                model.insert(nextKey, at: position)
                sequence.insert(nextKey, at: position)
                nextKey += 1
            } else {
                let position = random.isTrue(oneIn: 3) ? model.count - 1 : random.number(0..<model.count)
                #expect(sequence.remove(at: position) == model.remove(at: position))
            }
            sequence.checkInvariants()
            if !model.isEmpty {
                let probe = random.number(0..<model.count)
                #expect(sequence[probe] == model[probe])
            }
        }
        #expect(Array(sequence) == model)
    }

    @Test("batches of insertions and removals agree with an array", arguments: 0..<40 as Range<UInt64>)
    func batchesAgree(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var model: [ObjectKey] = []
        var sequence = KeySequence()
        var nextKey: ObjectKey = 0
        for _ in 0..<20 {
            let density = random.number(1..<60)
            let removed = model.indices.filter { _ in random.isTrue(oneIn: density) }
            for position in removed.reversed() { model.remove(at: position) }
            sequence.removeAll(at: removed)
            sequence.checkInvariants()
            #expect(sequence.elementsEqual(model))

            var inserted: [(position: Int, key: ObjectKey)] = []
            var position = random.number(0..<(model.count + 1))
            let longest = random.isTrue(oneIn: 4) ? 4000 : 20
            for _ in 0..<random.number(0..<longest) where position <= model.count {
                inserted.append((position, nextKey))
                model.insert(nextKey, at: position)
                nextKey += 1
                position += random.number(1..<(random.isTrue(oneIn: 8) ? 200 : 3))
            }
            sequence.insertAll(inserted)
            sequence.checkInvariants()
            #expect(sequence.elementsEqual(model))
        }
    }

    @Test("changing a copy does not change the original")
    func copiesAreValues() {
        let original = KeySequence(Array(0..<5000))
        var copy = original
        copy.remove(at: 2500)
        copy.insert(9999, at: 0)
        copy.removeAll(at: Array(stride(from: 0, to: 4000, by: 7)))
        #expect(original.elementsEqual(0..<5000))
        #expect(original != copy)
    }

    @Test("sequences with the same keys are equal, independent of their blocks")
    func equalityIgnoresBlocks() {
        let whole = KeySequence(Array(0..<4000))
        var grown = KeySequence()
        for key in 0..<4000 as Range<ObjectKey> { grown.insert(key, at: Int(key)) }
        #expect(whole == grown)
        grown.remove(at: 3999)
        #expect(whole != grown)
        grown.insert(5000, at: 3999)
        #expect(whole != grown)
    }

    @Test("the partition point is found with a logarithmic number of calls")
    func partitionPoint() {
        for count in [0, 1, 2, 127, 1024, 1025, 70_000] {
            let sequence = KeySequence((0..<ObjectKey(count)).map { $0 * 2 })
            for target in Set([0, 1, count / 3, count - 1, count].filter { 0...count ~= $0 }) {
                var calls = 0
                let position = sequence.position { key in
                    calls += 1
                    return key >= ObjectKey(target) * 2
                }
                #expect(position == target)
                #expect(calls <= 20)
                for start in [0, target / 2, target] {
                    #expect(sequence.position(from: start) { $0 >= ObjectKey(target) * 2 } == target)
                }
            }
        }
    }

    @Test("an error of the predicate is rethrown")
    func predicateErrorsAreRethrown() {
        struct Refusal: Error {}
        let sequence = KeySequence(Array(0..<10))
        #expect(throws: Refusal.self) { try sequence.position { _ in throw Refusal() } }
    }

    @Test("positions are found by key, by set and by binary search")
    func lookups() {
        let keys = (0..<3000).map { ObjectKey($0 * 3) }
        let sequence = KeySequence(keys)
        #expect(sequence.firstPosition(of: 2997) == 999)
        #expect(sequence.firstPosition(of: 2998) == nil)
        #expect(sequence.positionAscending(of: 2997) == 999)
        #expect(sequence.positionAscending(of: 2998) == nil)
        #expect(sequence.positionAscending(of: 100_000) == nil)
        #expect(sequence.insertionPositionAscending(for: 2998) == 1000)
        #expect(sequence.insertionPositionAscending(for: -1) == 0)
        #expect(sequence.positions(of: [3, 4, 8997, 9, 50_000]) == [1, 3, 2999])
        #expect(sequence.positions(of: []) == [])
        #expect(KeySequence([5, 3, 5, 9, 3]).positions(of: [3, 5], areKeysDistinct: false) == [0, 1, 2, 4])
        #expect(sequence.positions(of: [], areKeysDistinct: false) == [])
        #expect(sequence.keys(in: 500..<1700) == Array(keys[500..<1700]))
        #expect(sequence.keys(in: 0..<0) == [])
        #expect(KeySequence().keys(in: 0..<0) == [])
        #expect(sequence.isAscending)
        #expect(!KeySequence([2, 1]).isAscending)
    }
}
