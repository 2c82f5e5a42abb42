import ModelTesting
import Testing

@testable import Martlet
@testable import MartletEngine

/// `SectionUpdate` must compute the same sections and differences as a grouping of all elements.
@Suite("updates of sections")
struct SectionUpdateTests {
    /// Elements with section keys. The elements of a section are next to each other if `isAdjacent` is true.
    private struct Model {
        var random: SeededRandom
        let isAdjacent: Bool
        let sectionCount: Int
        var results: [ObjectKey] = []
        var sectionOf: [ObjectKey: Double] = [:]
        var nextKey: ObjectKey = 1

        mutating func sectionKey() -> Double {
            let number = Int.random(in: 0..<sectionCount, using: &random)
            return number == 0 ? .nan : Double(number)
        }

        /// A random position for an element with this section key. If `isAdjacent` is true, the position is in its
        /// section.
        mutating func position(_ key: Double) -> Int {
            let same = results.indices.filter { SectionPositions.areEqual(sectionOf[results[$0]]!, key) }
            guard isAdjacent, let first = same.first, let last = same.last else {
                return Int.random(in: 0...results.count, using: &random)
            }
            return Int.random(in: first...last + 1, using: &random)
        }

        mutating func insert(_ member: ObjectKey) {
            let key = sectionKey()
            sectionOf[member] = key
            results.insert(member, at: position(key))
        }

        var sections: Sections<Double> {
            var builder = Sections<Double>.Builder()
            for member in results { builder.append(member, sectionOf[member]!) }
            return builder.finish()
        }
    }

    /// Makes random changes. Returns the changed elements and the replaced elements.
    private func change(_ model: inout Model) -> (changed: KeySet, replaced: KeySet) {
        var (changed, replaced) = (KeySet(), KeySet())
        for _ in 0..<Int.random(in: 1...6, using: &model.random) {
            switch Int.random(in: 0..<7, using: &model.random) {
            case 0, 1:
                model.insert(model.nextKey)
                changed.insert(model.nextKey)
                model.nextKey += Int64.random(in: 1...3, using: &model.random)
            case _ where model.results.isEmpty: break
            case 2:
                let position = Int.random(in: 0..<model.results.count, using: &model.random)
                model.sectionOf[model.results.remove(at: position)] = nil
            case 3:
                // The element moves in the results and perhaps to another section.
                let member = model.results.remove(at: Int.random(in: 0..<model.results.count, using: &model.random))
                model.insert(member)
                changed.insert(member)
            case 4:
                // The element keeps its place in the results, but may get another section.
                let member = model.results.randomElement(using: &model.random)!
                if !model.isAdjacent { model.sectionOf[member] = model.sectionKey() }
                changed.insert(member)
            case 5:
                let member = model.results.randomElement(using: &model.random)!
                replaced.insert(member)
                changed.insert(member)
            default:
                // A changed row that is not an element.
                changed.insert(1_000_000 + model.nextKey)
            }
        }
        return (changed, replaced)
    }

    @Test(
        "random changes give the same sections and differences as grouping all elements N60",
        arguments: [false, true], [1, 2, 4, 30])
    func random(_ isAdjacent: Bool, _ sectionCount: Int) throws {
        for seed in 0..<40 {
            let random = SeededRandom(seed: UInt64(seed))
            var model = Model(random: random, isAdjacent: isAdjacent, sectionCount: sectionCount)
            for _ in 0..<(seed % 4 == 0 ? 0 : 40 * (seed % 4) * (seed % 4)) {
                model.insert(model.nextKey)
                model.nextKey += 1
            }
            var known = model.sections
            for step in 0..<25 {
                let old = KeySequence(model.results)
                let (changed, replaced) = change(&model)
                let new = KeySequence(model.results)
                // Some changes are not reported, because the observer has key paths.
                let modified = step % 3 == 0 ? KeySet(changed.filter { $0 % 2 == 0 }) : changed
                let positions = CollectionDiff.change(from: old, to: new, modified: modified, replaced: replaced)
                let change = ResultsTracker.Change(
                    positions: positions, changed: changed, modified: modified, replaced: replaced)
                let update = try #require(
                    SectionUpdate(known, change, from: old, to: new) { model.sectionOf[$0] })
                let expected = model.sections
                #expect(same(update.sections, expected), "seed \(seed), step \(step)")
                let fast = SectionDifference(
                    known, update.sections, modified: modified, replaced: replaced, touched: update.touched)
                let full = SectionDifference(known, expected, modified: modified, replaced: replaced)
                #expect(same(fast, full), "seed \(seed), step \(step)")
                for key in known.keys {
                    let one = SectionDifference(
                        key, known, update.sections, modified: modified, replaced: replaced, touched: update.touched)
                    #expect(same(one, SectionDifference(key, known, expected, modified: modified, replaced: replaced)))
                }
                known = update.sections
            }
        }
    }

    private func same(_ left: Sections<Double>, _ right: Sections<Double>) -> Bool {
        left.members == right.members && zip(left.keys, right.keys).allSatisfy { SectionPositions.areEqual($0, $1) }
            && left.keys.allSatisfy { left.positions[$0] == right.positions[$0] }
    }

    private func same(_ left: SectionDifference<Double>, _ right: SectionDifference<Double>) -> Bool {
        left.deletions == right.deletions && left.insertions == right.insertions
            && left.modifications == right.modifications && left.sectionsToInsert == right.sectionsToInsert
            && left.sectionsToDelete == right.sectionsToDelete
    }

    @Test("sections are grouped again after many changes, or if an element has no section key")
    func refused() {
        let old = KeySequence(Array(1...1_000))
        var builder = Sections<Int>.Builder()
        for member in old { builder.append(member, Int(member) % 3) }
        let sections = builder.finish()
        func update(_ changed: ClosedRange<ObjectKey>, _ key: (ObjectKey) -> Int?) -> SectionUpdate<Int>? {
            let positions = CollectionDiff.change(from: old, to: old, modified: KeySet(changed))
            let change = ResultsTracker.Change(
                positions: positions, changed: KeySet(changed), modified: KeySet(changed), replaced: [])
            return SectionUpdate(sections, change, from: old, to: old, key)
        }
        #expect(update(1...256) { Int($0) % 3 }?.touched == [0, 1, 2])
        #expect(update(1...257) { Int($0) % 3 } == nil)
        #expect(update(1...2) { $0 == 1 ? 1 : nil } == nil)
        #expect(update(1...1) { _ in 7 }?.sections.keys == [7, 2, 0, 1])
    }
}
