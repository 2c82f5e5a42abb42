import MartletEngine
import MartletSyncProtocol
import ModelTesting
import Testing

@testable import MartletSync

@Suite("the positions of the elements of a list during a transaction")
struct ListSlotsTests {
    private func make(_ lower: ListPosition?, _ upper: ListPosition?, _ count: Int) -> [ListPosition] {
        ListPosition.between(lower, upper, count: count, client: 7, upload: 3)
    }

    private struct Unfitting: Error {}

    private func edited(_ positions: [ListPosition], _ edits: [ListEdit]) throws -> ListSlots {
        var slots = ListSlots(positions)
        guard slots.apply(edits) else { throw Unfitting() }
        return slots
    }

    @Test("unchanged elements keep their positions, and a new position lies between the neighboring positions Y22")
    func insertion() throws {
        let known = ListPosition.between(nil, nil, count: 3, client: 1)
        var slots = try edited(known, [.insert(at: 1, count: 2), .insert(at: 5, count: 1), .remove(at: 0, count: 1)])
        let new = slots.assignPositions(known: known, make)
        #expect(new == [0, 1, 4])
        let positions = slots.slots.compactMap(\.position)
        #expect(positions == positions.sorted() && positions.count == 5)
        #expect(positions[2...3] == known[1...2] && slots.removed == [known[0]])
    }

    @Test("a move is a removal and an insertion, and a swap replaces two elements Y22")
    func moves() throws {
        let known = ListPosition.between(nil, nil, count: 4, client: 1)
        var slots = try edited(known, [.move(from: 0, to: 2), .swap(0, 3)])
        #expect(slots.removed == [known[0]])
        #expect(slots.slots.map(\.isReplaced) == [true, false, false, true])
        #expect(slots.assignPositions(known: known, make) == [2])
    }

    @Test("a new element is placed before hidden elements; at the end of the list, it is placed after them Y24")
    func hiddenElements() throws {
        let known = ListPosition.between(nil, nil, count: 4, client: 1)
        var slots = try edited([known[0], known[3]], [.insert(at: 1, count: 1)])
        _ = slots.assignPositions(known: known, make)
        #expect(slots.slots[1].position.map { known[0] < $0 && $0 < known[1] } == true)
        var last = try edited([known[0]], [.insert(at: 1, count: 1)])
        _ = last.assignPositions(known: known, make)
        #expect(last.slots[1].position.map { known[3] < $0 } == true)
    }

    @Test("edits at indexes that the list does not have are refused")
    func unfitting() {
        for edit in [
            ListEdit.insert(at: 2, count: 1), .remove(at: 0, count: 2), .replace(at: 1), .move(from: 0, to: 1),
            .swap(0, 1),
        ] {
            #expect(throws: Unfitting.self) { try edited(ListPosition.between(nil, nil, client: 1), [edit]) }
        }
    }

    @Test("in random transactions, positions stay unique and in order Y22")
    func random() throws {
        var random = SeededRandom(seed: 1)
        var known: [ListPosition] = []
        var all: Set<ListPosition> = []
        for upload in 1...200 as ClosedRange<UInt64> {
            var edits: [ListEdit] = []
            var count = known.count
            for _ in 0..<3 {
                let at = Int.random(in: 0...count, using: &random)
                let edit: ListEdit =
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0 where count > 0: .remove(at: min(at, count - 1), count: 1)
                    case 1 where count > 1: .move(from: 0, to: count - 1)
                    case 2 where count > 1: .swap(0, count - 1)
                    default: .insert(at: at, count: 2)
                    }
                edits.append(edit)
                count += edit.growth
            }
            var slots = try edited(known, edits)
            let new = slots.assignPositions(known: known) {
                ListPosition.between($0, $1, count: $2, client: 1, upload: upload)
            }
            let positions = slots.slots.compactMap(\.position)
            #expect(positions == positions.sorted() && positions.count == slots.slots.count)
            for index in new { #expect(all.insert(positions[index]).inserted, "a position is used twice") }
            known = positions
        }
    }
}
