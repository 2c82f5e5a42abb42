import MartletEngine
import ModelTesting
import Testing

/// A collection to which edits are applied one by one.
private struct EditedCollection {
    let old: [ReplayElement]
    var elements: [ReplayElement]
    var moved = Set<Int>()
    private var nextID: Int

    init(count: Int) {
        old = (0..<count).map { ReplayElement(id: $0) }
        elements = old
        nextID = 1000
    }

    mutating func apply(_ edit: ListEdit) {
        switch edit {
        case .insert(let at, let count):
            for offset in 0..<count {
                elements.insert(ReplayElement(id: nextID), at: at + offset)
                nextID += 1
            }
        case .remove(let at, let count): elements.removeSubrange(at..<(at + count))
        case .replace(let at, let count): for position in at..<(at + count) { elements[position].content += 1 }
        case .move(let from, let to):
            let element = elements.remove(at: from)
            elements.insert(element, at: to)
            if from != to { moved.insert(element.id) }
        case .clear: elements = []
        case .swap(let left, let right):
            moved.formUnion(left == right ? [] : [elements[left].id, elements[right].id])
            elements.swapAt(left, right)
        }
    }

    /// All edits of one or two elements that are possible now. Used for small collections only.
    var possibleEdits: [ListEdit] {
        let count = elements.count
        var edits: [ListEdit] = [.clear(oldCount: count)]
        for at in 0...count { edits += [.insert(at: at, count: 1), .insert(at: at, count: 2)] }
        for at in 0..<count {
            edits += [.remove(at: at, count: 1), .replace(at: at)]
            if at + 2 <= count { edits += [.remove(at: at, count: 2), .replace(at: at, count: 2)] }
            for to in 0..<count where to != at { edits += [.move(from: at, to: to), .swap(at, to)] }
        }
        return edits
    }

    func randomEdit(_ random: inout SeededRandom) -> ListEdit {
        let count = elements.count
        let at = count == 0 ? 0 : random.number(0..<count)
        let length = count == 0 ? 0 : random.number(1..<(min(count - at, 6) + 1))
        switch count == 0 ? 0 : random.number(0..<40) {
        case 0..<14: return .insert(at: random.number(0..<(count + 1)), count: random.number(1..<4))
        case 14..<26: return .remove(at: at, count: length)
        case 26..<34: return .replace(at: at, count: length)
        case 34..<37: return .move(from: at, to: random.number(0..<count))
        case 37..<39: return .swap(at, random.number(0..<count))
        default: return random.isTrue(oneIn: 5) ? .clear(oldCount: count) : .replace(at: at)
        }
    }

    /// Checks a change from the initial elements to the current ones.
    func check(_ change: CollectionChange) {
        expectReplay(change, from: old, to: elements)
        let survivors = Set(elements.map(\.id))
        let moves = Set(change.moves.map(\.from))
        #expect(moves.isSubset(of: moved), "only moved elements are reported as moved")
        #expect(Set(change.deletions) == Set(old.map(\.id).filter { !survivors.contains($0) }).union(moves))
        let modified = elements.filter { $0.id < 1000 && $0.content > 0 && !moves.contains($0.id) }
        #expect(
            change.modifications == modified.map(\.id),
            "the modifications are the replaced elements that still exist and did not move")
        let replaced = elements.filter { $0.content > 0 && moves.contains($0.id) }
        #expect(Set(change.moves.filter(\.isReplaced).map(\.from)) == Set(replaced.map(\.id)))
    }
}

@Suite("CollectionChangeBuilder")
struct CollectionChangeBuilderTests {
    @Test(
        "all scripts of up to three edits (for three initial elements, up to two) can be replayed N47",
        arguments: 0...3)
    func allShortScripts(count: Int) {
        explore(EditedCollection(count: count), script: ListEditScript(), separateEdits: [], depth: count == 3 ? 2 : 3)
    }

    private func explore(
        _ collection: EditedCollection, script: ListEditScript, separateEdits: [ListEdit], depth: Int
    ) {
        let change = CollectionChangeBuilder.change(replaying: script, oldCount: collection.old.count)
        collection.check(change)
        #expect(collection.old.count + script.growth == collection.elements.count)
        #expect(
            change == self.change(of: separateEdits, oldCount: collection.old.count),
            "the joined edits of the script give the same change as the separate edits")
        if depth == 0 { return }
        for edit in collection.possibleEdits {
            var next = collection
            next.apply(edit)
            var nextScript = script
            nextScript.append(edit)
            explore(next, script: nextScript, separateEdits: separateEdits + [edit], depth: depth - 1)
        }
    }

    private func change(of edits: [ListEdit], oldCount: Int) -> CollectionChange {
        var builder = CollectionChangeBuilder(oldCount: oldCount)
        for edit in edits { builder.apply(edit) }
        return builder.finish()
    }

    @Test(
        "long random scripts can be replayed, and merging the scripts of single versions gives the same change N47",
        arguments: 0..<60 as Range<UInt64>)
    func randomScripts(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var collection = EditedCollection(count: random.number(0..<300))
        var whole = ListEditScript()
        var merged = ListEditScript()
        var version = ListEditScript()
        for _ in 0..<random.number(1..<400) {
            let edit = collection.randomEdit(&random)
            collection.apply(edit)
            whole.append(edit)
            version.append(edit)
            if random.isTrue(oneIn: 10) {
                merged.append(contentsOf: version)
                version = ListEditScript()
            }
        }
        merged.append(contentsOf: version)
        let change = CollectionChangeBuilder.change(replaying: whole, oldCount: collection.old.count)
        collection.check(change)
        #expect(CollectionChangeBuilder.change(replaying: merged, oldCount: collection.old.count) == change)
    }

    @Test("insert, remove and replace report their index N56")
    func simpleEdits() {
        #expect(change(of: [.insert(at: 1, count: 1)], oldCount: 3) == CollectionChange(insertions: [1]))
        #expect(change(of: [.remove(at: 1, count: 1)], oldCount: 3) == CollectionChange(deletions: [1]))
        let replaced = CollectionChange(modifications: [2], modificationsNew: [2])
        #expect(change(of: [.replace(at: 2)], oldCount: 3) == replaced)
    }

    @Test("a move is a deletion and an insertion; a move to the same index, or away and back, is no change N57")
    func moves() {
        let moved = CollectionChange(deletions: [5], insertions: [0], moves: [.init(from: 5, to: 0)])
        #expect(change(of: [.move(from: 5, to: 0)], oldCount: 8) == moved)
        #expect(change(of: [.move(from: 3, to: 3)], oldCount: 8).isEmpty)
        #expect(change(of: [.move(from: 5, to: 0), .move(from: 0, to: 5)], oldCount: 8).isEmpty)
        #expect(change(of: [.swap(1, 6), .swap(6, 1)], oldCount: 8).isEmpty)
        let swapped = CollectionChange(
            deletions: [1, 6], insertions: [1, 6], moves: [.init(from: 1, to: 6), .init(from: 6, to: 1)])
        #expect(change(of: [.swap(1, 6)], oldCount: 8) == swapped)
        let next = CollectionChange(deletions: [1], insertions: [0], moves: [.init(from: 1, to: 0)])
        #expect(change(of: [.swap(0, 1)], oldCount: 2) == next)
    }

    @Test("a replaced element that moves is marked as replaced, and a modified element that moves is not N47 N57")
    func replacedAndMoved() {
        let replaced = CollectionChange(
            deletions: [2], insertions: [0], moves: [.init(from: 2, to: 0, isReplaced: true)])
        #expect(change(of: [.replace(at: 2), .move(from: 2, to: 0)], oldCount: 3) == replaced)
        #expect(change(of: [.move(from: 2, to: 0), .replace(at: 0)], oldCount: 3) == replaced)
        var builder = CollectionChangeBuilder(oldCount: 3)
        builder.apply(.move(from: 2, to: 0))
        builder.modify(at: 0)
        #expect(builder.finish() == CollectionChange(deletions: [2], insertions: [0], moves: [.init(from: 2, to: 0)]))
        builder.apply(.replace(at: 0))
        #expect(builder.finish() == replaced)
    }

    @Test("clear, insert and clear report only the deletion of the initial elements, if there are any N50 N59")
    func clearing() {
        let script = ListEditScript([
            .insert(at: 3, count: 2), .clear(oldCount: 5), .insert(at: 0, count: 4), .clear(oldCount: 4),
        ])
        #expect(script.edits == [.clear(oldCount: 3)])
        let change = CollectionChangeBuilder.change(replaying: script, oldCount: 3)
        #expect(change == CollectionChange(deletions: [0, 1, 2]))
        let onEmpty = ListEditScript([.insert(at: 0, count: 2), .clear(oldCount: 2)])
        #expect(onEmpty.isEmpty)
        #expect(self.change(of: [.clear(oldCount: 0)], oldCount: 0).isEmpty)
    }

    @Test("appending 100,000 elements one by one records one edit")
    func appendsJoin() {
        var script = ListEditScript()
        for position in 0..<100_000 { script.append(.insert(at: position, count: 1)) }
        #expect(script.edits == [.insert(at: 0, count: 100_000)])
    }

    @Test("edits outside of the collection are clamped to the collection, or are ignored")
    func damagedScriptsDoNotTrap() {
        let edits: [ListEdit] = [
            .remove(at: 9, count: 4), .insert(at: 90, count: 1), .replace(at: 3, count: 90), .move(from: 80, to: 1),
            .swap(1, 99), .swap(-1, 0), .remove(at: 2, count: 900), .remove(at: -1, count: 1),
        ]
        var builder = CollectionChangeBuilder(oldCount: 4)
        for edit in edits { builder.apply(edit) }
        #expect(builder.count == 2)
        #expect(builder.finish() == CollectionChange(deletions: [2, 3]))
    }
}
