import Foundation
import MartletEngine
import Testing

@testable import Martlet

/// The judge itself: what is wrong, too much or missing must not pass.
@Suite("judging changes")
struct JudgeTests {
    private func item(_ number: Int, written: Int = 0, key: String = "") -> Item {
        Item(identity: .number(Double(number)), key: key, written: written, view: nil, text: "\(number)")
    }

    private func verdict(
        _ old: [Item], _ new: [Item], deletions: [Int] = [], insertions: [Int] = [], modifications: [Int] = [],
        in now: [Int] = [], moves: [CollectionChange.Move] = [], isStable: Bool = false
    ) -> String? {
        let change = CollectionChange(
            deletions: deletions, insertions: insertions, modifications: modifications, modificationsNew: now,
            moves: moves)
        return Judge.elements(old, new, CollectionChangeSet(change), isStable: isStable)
    }

    @Test("what is exact passes") func exact() {
        let (a, b, c) = (item(1), item(2), item(3))
        #expect(verdict([a, b], [a, c, b], insertions: [1]) == nil)
        #expect(verdict([a, b, c], [a, c], deletions: [1]) == nil)
        #expect(verdict([a, b], [b, a], deletions: [0], insertions: [1], moves: [.init(from: 0, to: 1)]) == nil)
        #expect(verdict([a, b], [item(1, written: 1), b], modifications: [0], in: [0]) == nil)
    }

    @Test("what is missing, wrong or too much does not") func wrong() {
        let (a, b, c) = (item(1), item(2), item(3))
        #expect(verdict([a, b], [a, c, b]) != nil)
        #expect(verdict([a, b], [a, c, b], insertions: [0]) != nil)
        #expect(verdict([a, b], [a, c], modifications: [0], in: [0]) != nil)
        #expect(verdict([a, b], [a, b], modifications: [0], in: [0]) != nil)
        #expect(verdict([a, b], [a, b]) != nil)
        #expect(verdict([a, b], [a, b], deletions: [0], insertions: [0], isStable: true) != nil)
        #expect(verdict([a, b], [b, a], deletions: [0], insertions: [1], moves: [.init(from: 1, to: 1)]) != nil)
        #expect(verdict([a, b, c], [c], deletions: [1, 0]) != nil)
        #expect(verdict([a], [item(1, written: 1)], modifications: [0], in: [1]) != nil)
    }

    @Test("entries of maps") func entries() {
        let (old, new) = ([item(1, key: "a"), item(2, key: "b")], [item(1, key: "a"), item(3, written: 1, key: "b")])
        func verdict(_ deletions: [String], _ insertions: [String], _ modifications: [String]) -> String? {
            Judge.entries(old, new, deletions: deletions, insertions: insertions, modifications: modifications)
        }
        #expect(verdict([], [], ["b"]) == nil)
        #expect(verdict([], [], ["a", "b"]) != nil)
        #expect(verdict([], [], ["a"]) != nil)
        #expect(verdict(["b"], ["b"], []) != nil)
        #expect(verdict([], [], []) != nil)
    }

    @Test("sections") func sections() {
        let old = [Judge.Section(key: "a", items: [item(1), item(2)]), Judge.Section(key: "b", items: [item(3)])]
        let new = [Judge.Section(key: "a", items: [item(2)]), Judge.Section(key: "c", items: [item(3)])]
        func verdict(_ deletions: [IndexPath], _ insertions: [IndexPath], _ inserted: IndexSet, _ deleted: IndexSet)
            -> String?
        {
            Judge.sections(
                old, new,
                .init(
                    deletions: deletions, insertions: insertions, modifications: [], inserted: inserted,
                    deleted: deleted))
        }
        #expect(verdict([[0, 0]], [[1, 0]], [1], [1]) == nil)
        #expect(verdict([[0, 0], [1, 0]], [[1, 0]], [1], [1]) != nil)
        #expect(verdict([[0, 0]], [], [1], [1]) != nil)
        #expect(verdict([[0, 1]], [[1, 0]], [1], [1]) != nil)
        #expect(verdict([[0, 0]], [[1, 0]], [], []) != nil)
    }
}
