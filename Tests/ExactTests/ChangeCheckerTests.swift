import Foundation
import MartletEngine
import Testing

@testable import Martlet

/// Tests the checker itself: wrong, superfluous and missing changes must not pass.
@Suite("checks of changes")
struct ChangeCheckerTests {
    private func item(_ number: Int, written: Int = 0, key: String = "") -> Item {
        Item(identity: .number(Double(number)), key: key, written: written, view: nil, text: "\(number)")
    }

    private func error(
        _ old: [Item], _ new: [Item], deletions: [Int] = [], insertions: [Int] = [], modifications: [Int] = [],
        modificationsNew: [Int] = [], moves: [CollectionChange.Move] = [], keepsOrder: Bool = false
    ) -> String? {
        let change = CollectionChange(
            deletions: deletions, insertions: insertions, modifications: modifications,
            modificationsNew: modificationsNew,
            moves: moves)
        return ChangeChecker.elements(old, new, CollectionChangeSet(change), keepsOrder: keepsOrder)
    }

    @Test("exact changes pass") func exact() {
        let (a, b, c) = (item(1), item(2), item(3))
        #expect(error([a, b], [a, c, b], insertions: [1]) == nil)
        #expect(error([a, b, c], [a, c], deletions: [1]) == nil)
        #expect(error([a, b], [b, a], deletions: [0], insertions: [1], moves: [.init(from: 0, to: 1)]) == nil)
        #expect(error([a, b], [item(1, written: 1), b], modifications: [0], modificationsNew: [0]) == nil)
    }

    @Test("missing, wrong and superfluous changes fail") func wrong() {
        let (a, b, c) = (item(1), item(2), item(3))
        #expect(error([a, b], [a, c, b]) != nil)
        #expect(error([a, b], [a, c, b], insertions: [0]) != nil)
        #expect(error([a, b], [a, c], modifications: [0], modificationsNew: [0]) != nil)
        #expect(error([a, b], [a, b], modifications: [0], modificationsNew: [0]) != nil)
        #expect(error([a, b], [a, b]) != nil)
        #expect(error([a, b], [a, b], deletions: [0], insertions: [0], keepsOrder: true) != nil)
        #expect(error([a, b], [b, a], deletions: [0], insertions: [1], moves: [.init(from: 1, to: 1)]) != nil)
        #expect(error([a, b, c], [c], deletions: [1, 0]) != nil)
        #expect(error([a], [item(1, written: 1)], modifications: [0], modificationsNew: [1]) != nil)
    }

    @Test("changes of maps are checked by key") func entries() {
        let (old, new) = ([item(1, key: "a"), item(2, key: "b")], [item(1, key: "a"), item(3, written: 1, key: "b")])
        func error(_ deletions: [String], _ insertions: [String], _ modifications: [String]) -> String? {
            ChangeChecker.entries(old, new, deletions: deletions, insertions: insertions, modifications: modifications)
        }
        #expect(error([], [], ["b"]) == nil)
        #expect(error([], [], ["a", "b"]) != nil)
        #expect(error([], [], ["a"]) != nil)
        #expect(error(["b"], ["b"], []) != nil)
        #expect(error([], [], []) != nil)
    }

    @Test("changes of sections are checked by section and row") func sections() {
        let old = [
            ChangeChecker.Section(key: "a", items: [item(1), item(2)]),
            ChangeChecker.Section(key: "b", items: [item(3)]),
        ]
        let new = [
            ChangeChecker.Section(key: "a", items: [item(2)]), ChangeChecker.Section(key: "c", items: [item(3)]),
        ]
        func error(_ deletions: [IndexPath], _ insertions: [IndexPath], _ inserted: IndexSet, _ deleted: IndexSet)
            -> String?
        {
            ChangeChecker.sections(
                old, new,
                .init(
                    deletions: deletions, insertions: insertions, modifications: [], inserted: inserted,
                    deleted: deleted))
        }
        #expect(error([[0, 0]], [[1, 0]], [1], [1]) == nil)
        #expect(error([[0, 0], [1, 0]], [[1, 0]], [1], [1]) != nil)
        #expect(error([[0, 0]], [], [1], [1]) != nil)
        #expect(error([[0, 1]], [[1, 0]], [1], [1]) != nil)
        #expect(error([[0, 0]], [[1, 0]], [], []) != nil)
    }
}
