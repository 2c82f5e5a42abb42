import ConformanceModels
import Foundation
import MartletTestSupport
import ModelTesting
import Testing

@testable import Martlet

@Suite struct ListContractTests {
    /// Applies `steps` to an unmanaged and a managed list, and `model` to an array. Expects equal elements in all
    /// three.
    private func check(
        _ steps: (List<Int>) throws -> Void, _ model: (inout [Int]) -> Void, start: [Int] = [0, 1, 2, 3, 4]
    ) throws {
        var expected = start
        model(&expected)
        let plain = ScalarLists(id: 1, ints: start)
        try steps(plain.ints)
        #expect(Array(plain.ints) == expected)
        let test = try TestRealm()
        let managed = ScalarLists(id: 1, ints: start)
        try test.realm.write { test.realm.add(managed) }
        try test.realm.write {
            try steps(managed.ints)
            #expect(Array(managed.ints) == expected)
        }
        #expect(Array(managed.ints) == expected && managed.ints.count == expected.count)
        try test.onNewThread { realm in
            #expect(realm.objects(ScalarLists.self).first.map { Array($0.ints) } == expected)
        }
        #expect(unfinishedStatement(test.realm.context.handle) == nil)
    }

    @Test("managed and unmanaged lists change like arrays O42 O47") func changes() throws {
        try check({ $0.append(5) }, { $0.append(5) })
        try check({ $0.append(objectsIn: [7, 8]) }, { $0 += [7, 8] })
        try check({ $0.insert(9, at: 2) }, { $0.insert(9, at: 2) })
        try check(
            {
                $0.insert(9, at: 0); $0.insert(8, at: 6)
            },
            {
                $0.insert(9, at: 0); $0.insert(8, at: 6)
            })
        try check({ $0.replace(index: 1, object: 9) }, { $0[1] = 9 })
        try check({ $0[1] = 9 }, { $0[1] = 9 })
        try check({ $0.remove(at: 3) }, { $0.remove(at: 3) })
        try check(
            {
                $0.removeFirst(); $0.removeLast()
            },
            {
                $0.removeFirst(); $0.removeLast()
            })
        try check({ $0.removeAll() }, { $0.removeAll() })
        try check({ $0.removeAll { $0 % 2 == 0 } }, { $0.removeAll { $0 % 2 == 0 } })
        try check({ $0.move(from: 0, to: 3) }, { $0.insert($0.remove(at: 0), at: 3) })
        try check({ $0.move(from: 4, to: 1) }, { $0.insert($0.remove(at: 4), at: 1) })
        try check({ $0.swapAt(0, 4) }, { $0.swapAt(0, 4) })
        try check({ $0.append(contentsOf: [1, 1]) }, { $0 += [1, 1] })
        try check({ $0.insert(contentsOf: [8, 9], at: 1) }, { $0.insert(contentsOf: [8, 9], at: 1) })
        try check({ $0.removeSubrange(1..<3) }, { $0.removeSubrange(1..<3) })
        try check({ $0.replaceSubrange(1..<4, with: [7]) }, { $0.replaceSubrange(1..<4, with: [7]) })
        try check({ $0.replaceSubrange(2..<2, with: [7, 8]) }, { $0.replaceSubrange(2..<2, with: [7, 8]) })
        try check({ $0.remove(atOffsets: [0, 2, 4]) }, { $0 = [1, 3] })
        try check({ $0.move(fromOffsets: [0, 3], toOffset: 2) }, { $0 = [1, 0, 3, 2, 4] })
        try check({ $0.move(fromOffsets: [1, 2], toOffset: 5) }, { $0 = [0, 3, 4, 1, 2] })
        try check({ $0.move(fromOffsets: [2, 4], toOffset: 0) }, { $0 = [2, 4, 0, 1, 3] })
    }

    @Test(
        "random changes of a list with several chunks have the same result as on an array O42",
        arguments: 1...4 as ClosedRange<UInt64>) func random(
            _ seed: UInt64
        ) throws
    {
        var random = SeededRandom(seed: seed)
        let test = try TestRealm()
        let lists = ScalarLists(id: 1, ints: Array(0..<1_500))
        var model = Array(0..<1_500)
        try test.realm.write { test.realm.add(lists) }
        for round in 0..<4 {
            try test.realm.write {
                for _ in 0..<300 {
                    let position = Int.random(in: 0..<model.count, using: &random)
                    let other = Int.random(in: 0..<model.count, using: &random)
                    switch Int.random(in: 0..<5, using: &random) {
                    case 0:
                        lists.ints.insert(position, at: other)
                        model.insert(position, at: other)
                    case 1:
                        lists.ints.remove(at: position)
                        model.remove(at: position)
                    case 2:
                        lists.ints.move(from: position, to: other)
                        model.insert(model.remove(at: position), at: other)
                    case 3:
                        lists.ints.swapAt(position, other)
                        model.swapAt(position, other)
                    default:
                        lists.ints[position] = other
                        model[position] = other
                    }
                    #expect(lists.ints[position % model.count] == model[position % model.count])
                }
                if round == 2 { lists.ints.append(objectsIn: Array(lists.ints)) }
            }
            if round == 2 { model += model }
            #expect(Array(lists.ints) == model)
        }
        try test.onNewThread { realm in #expect(realm.objects(ScalarLists.self).first.map { Array($0.ints) } == model) }
    }

    @Test("a list of objects can contain duplicates, and can be assigned to another list property and to its own O42")
    func objects()
        throws
    {
        let test = try TestRealm()
        let (a, b, c) = (Node(id: 1), Node(id: 2), Node(id: 3))
        try test.realm.write { test.realm.add([a, b, c]) }
        try test.realm.write {
            a.children.append(objectsIn: [b, c, b])
            a.children = a.children
            b.children = a.children
            c.children = [a, Node(id: 4)]
        }
        #expect(
            a.children.map(\.id) == [2, 3, 2] && b.children.map(\.id) == [2, 3, 2] && c.children.map(\.id) == [1, 4])
        #expect(
            a.children.index(of: c) == 1 && a.children.index(of: a) == nil && a.children.objects(at: [2, 0]) == [b, b])
        #expect(
            a.children.where { $0.id > 2 }.map(\.id) == [3]
                && a.children.sorted(byKeyPath: "id", ascending: false).map(\.id) == [3, 2, 2])
        #expect(a.children.realm == test.realm && !a.children.isFrozen && b.parents.map(\.id) == [1, 1, 2, 2])
        try test.realm.write { a.children.remove(at: 0) }
        #expect(b.parents.map(\.id) == [1, 2, 2])
        try test.realm.write { a.children.removeLast() }
        #expect(b.parents.map(\.id) == [2, 2])
    }

    @Test(
        "index(of:) finds -0 when it searches for 0, and any NaN value, in managed and unmanaged lists O40 O47",
        arguments: [false, true])
    func specialNumbers(_ isManaged: Bool) throws {
        let test = try TestRealm()
        let lists = ScalarLists(
            id: 1, floats: [1, -.nan, 0], doubles: [1, -0.0, -.nan], dates: [Date(timeIntervalSinceReferenceDate: -0.0)]
        )
        if isManaged { try test.realm.write { test.realm.add(lists) } }
        #expect(
            lists.doubles.index(of: 0) == 1 && lists.doubles.index(of: -0.0) == 1 && lists.doubles.index(of: 2) == nil)
        #expect(
            lists.doubles.index(of: .nan) == 2 && lists.floats.index(of: -0.0) == 2 && lists.floats.index(of: .nan) == 1
        )
        #expect(lists.dates.index(of: Date(timeIntervalSinceReferenceDate: 0)) == 0)
    }

    @Test("aggregates work on managed and unmanaged lists O40 O47") func aggregates() throws {
        let test = try TestRealm()
        let (a, b) = (Node(id: 1, amount: 1), Node(id: 2, amount: 4, part: Part(weight: 3)))
        let lists = OptionalLists(id: 1, ints: [1, nil, 4], doubles: [.nan, 2, nil])
        let holder = Node(id: 3, children: [a, b, a])
        func check() {
            #expect(
                holder.children.sum(ofProperty: "amount") as Double == 6
                    && holder.children.average(ofProperty: "amount") as Double? == 2)
            #expect(
                holder.children.min(ofProperty: "amount") as Double? == 1
                    && holder.children.max(ofProperty: "part.weight") as Double?? == 3)
            #expect(
                lists.ints.sum() == 5 && lists.ints.average() == 2.5 && lists.doubles.sum() == 2
                    && lists.floats.average() == nil)
        }
        check()
        try test.realm.write {
            test.realm.add(holder)
            test.realm.add(lists)
        }
        check()
        try test.realm.write { holder.children.setValue("x", forKey: "name") }
        #expect(test.realm.objects(Node.self).value(forKey: "name") as? [String] == ["x", "x", ""])
    }

    @Test("cancelling a write rolls back list changes and makes the lists of deleted objects valid again O42")
    func cancel() throws {
        let test = try TestRealm()
        let lists = ScalarLists(id: 1, ints: [1, 2, 3])
        try test.realm.write { test.realm.add(lists) }
        let list = lists.ints
        try test.realm.beginWrite()
        list.append(4)
        #expect(test.realm.objects(ScalarLists.self).where { $0.ints.contains(4) }.count == 1)
        list.remove(at: 0)
        test.realm.cancelWrite()
        #expect(Array(list) == [1, 2, 3] && !list.isInvalidated)
        try test.realm.beginWrite()
        let fresh = ScalarLists(id: 2)
        test.realm.add(fresh)
        let gone = fresh.ints
        gone.append(1)
        test.realm.delete(lists)
        test.realm.cancelWrite()
        #expect(fresh.isInvalidated && gone.isInvalidated && !lists.isInvalidated && !list.isInvalidated)
        #expect(Array(list) == [1, 2, 3] && Array(lists.ints) == [1, 2, 3])
        #expect(test.realm.objects(ScalarLists.self).count == 1 && test.realm.objects(ScalarLists.self).first === lists)
        try test.realm.write {
            test.realm.add(ScalarLists(id: 2))
            list.append(4)
        }
        #expect(test.realm.objects(ScalarLists.self)[1].ints.isEmpty && fresh.isInvalidated && gone.isInvalidated)
        #expect(Array(lists.ints) == [1, 2, 3, 4])
    }

    @Test("a list can be appended to itself O42") func itself() throws {
        let test = try TestRealm()
        let lists = ScalarLists(ints: [1, 2])
        lists.ints.append(objectsIn: lists.ints)
        #expect(Array(lists.ints) == [1, 2, 1, 2])
        try test.realm.write {
            test.realm.add(lists)
            lists.ints.append(objectsIn: lists.ints)
        }
        #expect(lists.ints.count == 8)
    }

    @Test("the list that an observer receives after the deletion of its owner is empty N59") func ownerDeleted() throws
    {
        let test = try TestRealm()
        let lists = ScalarLists(ints: [1, 2])
        try test.realm.write { test.realm.add(lists) }
        var counts: [Int] = []
        let token = lists.ints.observe { change in
            switch change {
            case .initial(let list), .update(let list, _, _, _): counts.append(Array(list).count)
            case .error(let error): Issue.record(error)
            }
        }
        test.realm.refresh()
        try test.realm.write { test.realm.delete(lists) }
        test.realm.refresh()
        #expect(counts == [2, 0])
        token.invalidate()
    }

    @Test("positions out of bounds and changes outside a write trap O42") func mistakes() async {
        let read = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = ScalarLists(ints: [1]).ints[1]
        }
        expectMessage(read, "the index 1 is outside of the list, whose number of elements is 1")
        let managed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let lists = ScalarLists(id: 1, ints: [1])
            try test.realm.write {
                test.realm.add(lists)
                lists.ints.insert(5, at: 3)
            }
        }
        expectMessage(managed, "the index 3 is outside of 'ScalarLists.ints', whose number of elements is 1")
        let outside = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let lists = ScalarLists(id: 1, ints: [1])
            try test.realm.write { test.realm.add(lists) }
            lists.ints.append(1)
        }
        expectMessage(outside, "'ScalarLists.ints' was changed outside a write transaction")
        let query = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Node().children.where { $0.id == 1 }
        }
        expectMessage(query, "an unmanaged list cannot be queried")
    }
}
