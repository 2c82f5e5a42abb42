import ConformanceModels
import Foundation
import Martlet
import MartletTestSupport
import ModelTesting
import Testing

@Suite struct ListBatchTests {
    /// Applies each change to `list` and to an array, and then compares their elements.
    private func change(_ list: List<Int>) {
        var model: [Int] = []
        var generator = SeededRandom(seed: 9)
        func expectSame(_ step: String) { #expect(Array(list) == model, Comment(rawValue: step)) }
        list += 0..<1_500
        model += 0..<1_500
        expectSame("+=")
        list.replaceSubrange(400..<1_100, with: [-1, -2, -3])
        model.replaceSubrange(400..<1_100, with: [-1, -2, -3])
        expectSame("replaceSubrange")
        list.insert(contentsOf: 0..<1_200, at: 7)
        model.insert(contentsOf: 0..<1_200, at: 7)
        expectSame("insert(contentsOf:)")
        list.removeAll { $0.isMultiple(of: 3) }
        model.removeAll { $0.isMultiple(of: 3) }
        expectSame("removeAll(where:)")
        list.sort(by: >)
        model.sort(by: >)
        expectSame("sort(by:)")
        list.reverse()
        model.reverse()
        expectSame("reverse")
        let offsets = IndexSet(integersIn: 3...20).union([0, 30, 500])
        list.remove(atOffsets: offsets)
        model = model.enumerated().filter { !offsets.contains($0.offset) }.map(\.element)
        expectSame("remove(atOffsets:)")
        list.shuffle(using: &generator)
        #expect(Array(list) != model && list.sorted() == model.sorted())
        list.sort()
        model.sort()
        expectSame("sort")
        let front = model.filter { $0 % 2 != 0 }
        #expect(list.partition { $0.isMultiple(of: 2) } == front.count)
        model = front + model.filter { $0.isMultiple(of: 2) }
        expectSame("partition")
        list.swapAt(0, 5)
        model.swapAt(0, 5)
        list.move(from: 3, to: 9)
        model.insert(model.remove(at: 3), at: 9)
        list.removeSubrange(2..<2)
        list.removeSubrange(10..<700)
        model.removeSubrange(10..<700)
        expectSame("removeSubrange")
        list.append(contentsOf: list)
        model += model
        expectSame("append(contentsOf:) of itself")
    }

    @Test("changes of many elements have the same result on a list and on an array O42 O47") func model() throws {
        let plain = ScalarLists(id: 1)
        change(plain.ints)
        let test = try TestRealm()
        let lists = ScalarLists(id: 2)
        try test.realm.write {
            test.realm.add(lists)
            change(lists.ints)
        }
        try test.onNewThread { realm in
            let stored = try #require(realm.objects(ScalarLists.self).first).ints
            try realm.write { stored.append(1) }
        }
        test.realm.refresh()
        #expect(Array(lists.ints) == Array(plain.ints) + [1])
    }

    @Test("generic algorithms for mutable collections work on lists O42") func algorithms() throws {
        func rearrange<C: MutableCollection & BidirectionalCollection & RangeReplaceableCollection>(
            _ collection: inout C
        )
        where C.Element == Int {
            collection.reverse()
            collection.swapAt(collection.startIndex, collection.index(before: collection.endIndex))
            collection.append(7)
        }
        let test = try TestRealm()
        var list = ScalarLists(id: 1, ints: [1, 2, 3]).ints
        rearrange(&list)
        #expect(Array(list) == [1, 2, 3, 7])
        let lists = ScalarLists(id: 1, ints: [1, 2, 3])
        try test.realm.write {
            test.realm.add(lists)
            rearrange(&lists.ints)
            #expect(Array(lists.ints) == [1, 2, 3, 7] && lists.ints.popLast() == 7)
        }
    }

    @Test("reordering a list keeps its embedded objects, and removing a range deletes them O20 O42") func embedded()
        throws
    {
        let test = try TestRealm()
        let node = Node(id: 1, parts: (0..<6).map { Part(name: "\($0)") })
        try test.realm.write { test.realm.add(node) }
        let parts = Array(node.parts)
        try test.realm.write {
            node.parts.sort { $0.name > $1.name }
            #expect(node.parts.map(\.name) == ["5", "4", "3", "2", "1", "0"] && parts.allSatisfy { !$0.isInvalidated })
            node.parts.replaceSubrange(1..<4, with: [Part(name: "new")])
            #expect(node.parts.map(\.name) == ["5", "new", "1", "0"])
            #expect(parts.map(\.isInvalidated) == [false, false, true, true, true, false])
            node.parts.removeAll { $0.name == "new" }
        }
        #expect(node.parts.map(\.name) == ["5", "1", "0"] && node.parts.first == parts[5])
    }

    @Test("every occurrence of an object in a list counts as a link O42 O45") func links() throws {
        let test = try TestRealm()
        let (hub, node) = (Node(id: 0), Node(id: 1))
        try test.realm.write {
            test.realm.add([hub, node])
            hub.children.append(objectsIn: Array(repeating: node, count: 1_300))
            hub.children.append(objectsIn: (2..<5).map { Node(id: $0) })
        }
        #expect(
            node.parents.map(\.id) == Array(repeating: 0, count: 1_300) && node.parents.count == 1_300
                && test.realm.objects(Node.self).count == 5)
        try test.realm.write { hub.children.removeSubrange(0..<1_299) }
        #expect(node.parents.count == 1 && hub.children.map(\.id) == [1, 2, 3, 4])
        try test.realm.write { hub.children.replaceSubrange(0..<2, with: [hub]) }
        #expect(node.parents.isEmpty && hub.parents.count == 1 && hub.children.map(\.id) == [0, 3, 4])
    }

    @Test("observers receive one change with exact positions for a call that changes several elements O42")
    func observers() throws {
        let test = try TestRealm()
        let lists = ScalarLists(id: 1, ints: [1, 2, 3])
        try test.realm.write { test.realm.add(lists) }
        var seen: [String] = []
        let token = lists.ints.observe { change in
            if case .update(_, let deletions, let insertions, let modifications) = change {
                seen.append("\(deletions) \(insertions) \(modifications)")
            }
        }
        test.realm.refresh()
        try test.realm.write { lists.ints += [4, 5] }
        test.realm.refresh()
        try test.realm.write { lists.ints.replaceSubrange(1..<3, with: [7, 8, 9]) }
        test.realm.refresh()
        try test.realm.write { lists.ints.sort(by: >) }
        test.realm.refresh()
        #expect(Array(lists.ints) == [9, 8, 7, 5, 4, 1])
        #expect(seen == ["[] [3, 4] []", "[1, 2] [1, 2, 3] []", "[] [] [0, 1, 2, 3, 5]"])
        token.invalidate()
    }

    @Test("a range out of bounds traps, and so does a change of several elements outside a write O42")
    func mistakes() async {
        let range = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let lists = ScalarLists(id: 1, ints: [1, 2])
            try test.realm.write {
                test.realm.add(lists)
                lists.ints.removeSubrange(1..<3)
            }
        }
        expectMessage(range, "the index 3 is outside of 'ScalarLists.ints', whose number of elements is 2")
        let plain = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ScalarLists(id: 1, ints: [1, 2]).ints.remove(atOffsets: [0, 5])
        }
        expectMessage(plain, "the index 5 is outside of the list, whose number of elements is 2")
        let write = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let lists = ScalarLists(id: 1)
            try test.realm.write { test.realm.add(lists) }
            lists.ints += [Int]()
        }
        expectMessage(write, "'ScalarLists.ints' was changed outside a write transaction")
        let order = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let lists = ScalarLists(id: 1, ints: [1])
            try test.realm.write { test.realm.add(lists) }
            lists.ints.sort()
        }
        expectMessage(order, "'ScalarLists.ints' was changed outside a write transaction")
    }
}
