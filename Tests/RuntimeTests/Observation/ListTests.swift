import ConformanceModels
import Foundation
import KennelModels
import MartletEngine
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("lists and linking objects")
struct ListObservationTests {
    private func start() throws -> (test: TestRealm, dog: Dog, others: [Dog], log: Log) {
        let test = try TestRealm()
        let dog = Dog(name: "Rex")
        let others = ["A", "B", "C", "D"].map { Dog(name: $0) }
        try test.realm.write {
            test.realm.add(dog)
            dog.siblings.append(objectsIn: others)
        }
        let log = Log(dog.siblings)
        test.realm.refresh()
        #expect(log.take() == ["initial"])
        return (test, dog, others, log)
    }

    private func expect(_ test: TestRealm, _ log: Log, _ lines: [String], _ location: SourceLocation = #_sourceLocation)
    {
        test.realm.refresh()
        #expect(log.take() == lines, sourceLocation: location)
    }

    @Test("N56 insert, remove and replace report their index; an element that occurs twice is reported twice")
    func edits() throws {
        let (test, dog, others, log) = try start()
        try test.realm.write { dog.siblings.insert(Dog(name: "X"), at: 1) }
        expect(test, log, ["[] [1] []"])
        try test.realm.write { dog.siblings.remove(at: 0) }
        expect(test, log, ["[0] [] []"])
        try test.realm.write { dog.siblings[1] = others[3] }
        expect(test, log, ["[] [] [1]"])
        #expect(dog.siblings.map(\.name) == ["X", "D", "C", "D"])
        try test.realm.write { others[3].name = "E" }
        expect(test, log, ["[] [] [1, 3]"])
        try test.elsewhere { realm in
            try realm.write {
                let list = try realm.dog("Rex").siblings
                list.removeFirst()
                list.append(try realm.dog("X"))
                list[0].age = 3
            }
        }
        expect(test, log, ["[0] [3] [1, 3]"])
    }

    @Test("N57 a move is a deletion plus an insertion; moving to the same index is nothing")
    func moves() throws {
        let (test, dog, _, log) = try start()
        try test.realm.write { dog.siblings.move(from: 0, to: 2) }
        expect(test, log, ["[0] [2] []"])
        try test.realm.write { dog.siblings.move(from: 1, to: 1) }
        expect(test, log, [])
        var rich: CollectionChangeSet?
        let token = dog.siblings.observeChanges { change in
            if case .update(_, let changes) = change { rich = changes }
        }
        test.realm.refresh()
        try test.realm.write { dog.siblings.move(from: 3, to: 0) }
        test.realm.refresh()
        #expect(rich?.moves == [.init(from: 3, to: 0)])
        withExtendedLifetime(token) {}
    }

    @Test("N47 N56 N57 what moved and was replaced by another element is no move, what moved and was modified is one")
    func replacedAndMoved() throws {
        let (test, dog, others, _) = try start()
        var rich: CollectionChangeSet?
        let token = dog.siblings.observeChanges { change in
            if case .update(_, let changes) = change { rich = changes }
        }
        test.realm.refresh()
        try test.realm.write {
            dog.siblings[0] = others[3]
            dog.siblings.move(from: 0, to: 2)
        }
        test.realm.refresh()
        #expect(rich?.deletions == [0] && rich?.insertions == [2] && rich?.moves == [])
        try test.realm.write {
            dog.siblings.move(from: 2, to: 0)
            dog.siblings[0] = others[0]
        }
        test.realm.refresh()
        #expect(rich?.deletions == [2] && rich?.insertions == [0] && rich?.moves == [])
        try test.realm.write {
            others[0].name = "Z"
            dog.siblings.move(from: 0, to: 1)
        }
        test.realm.refresh()
        #expect(rich?.deletions.count == 1 && rich?.moves.count == 1)
        withExtendedLifetime(token) {}
    }

    @Test("N58 deleting a target deletes it at every position")
    func target() throws {
        let (test, dog, others, log) = try start()
        try test.realm.write { dog.siblings.append(others[1]) }
        expect(test, log, ["[] [4] []"])
        try test.realm.write { test.realm.delete(others[1]) }
        expect(test, log, ["[1, 4] [] []"])
    }

    @Test("N59 deleting the owner reports all positions once, then silence", arguments: [true, false])
    func owner(remote: Bool) throws {
        let (test, dog, others, log) = try start()
        let empty = Log(others[0].siblings)
        test.realm.refresh()
        _ = empty.take()
        if remote {
            try test.elsewhere { realm in
                try realm.write { realm.delete([try realm.dog("Rex"), try realm.dog("A")]) }
            }
        } else {
            try test.realm.write { test.realm.delete([dog, others[0]]) }
        }
        expect(test, log, ["[0, 1, 2, 3] [] []"])
        #expect(empty.take() == [])
        try test.dogs("New")
        expect(test, log, [])
    }

    @Test("N59 another object with the owner's primary key is another list")
    func ownerReplaced() throws {
        let test = try TestRealm()
        let node = Node(id: 1)
        try test.realm.write {
            test.realm.add(node)
            node.children.append(objectsIn: [Node(id: 2), Node(id: 3)])
        }
        let log = Log(node.children)
        expect(test, log, ["initial"])
        try test.realm.write {
            test.realm.delete(node)
            let other = Node(id: 1)
            test.realm.add(other)
            other.children.append(try #require(test.realm.object(ofType: Node.self, forPrimaryKey: 2)))
        }
        expect(test, log, ["[0, 1] [] []"])
        try test.realm.write { test.realm.object(ofType: Node.self, forPrimaryKey: 1)?.children.removeAll() }
        expect(test, log, [])
    }

    @Test("N61 several instances at different versions each get their own difference")
    func instances() throws {
        let (test, dog, _, log) = try start()
        var late: Log?
        try test.realm.write { dog.siblings.append(Dog(name: "X")) }
        late = Log(dog.siblings)
        expect(test, log, ["[] [4] []"])
        #expect(late?.take() == ["initial"])
        try test.realm.write(withoutNotifying: log.tokens) { dog.siblings.removeFirst() }
        expect(test, log, [])
        #expect(late?.take() == ["[0] [] []"])
        try test.realm.write { dog.siblings.removeLast() }
        expect(test, log, ["[3] [] []"])
        #expect(late?.take() == ["[3] [] []"])
    }

    @Test("N63 a change to another collection of the same row is silent")
    func otherCollection() throws {
        let (test, dog, _, log) = try start()
        try test.realm.write {
            dog.tags.insert("big")
            dog.name = "Max"
        }
        expect(test, log, [])
    }

    @Test("N65 an empty change set is never delivered")
    func empty() throws {
        let (test, dog, _, log) = try start()
        try test.realm.write {
            dog.siblings.append(Dog(name: "X"))
            dog.siblings.removeLast()
        }
        expect(test, log, [])
    }

    @Test("N67 linking objects: unlink is a deletion, link an insertion, a change of an origin a modification")
    func linkingObjects() throws {
        let test = try TestRealm()
        let dogs = try test.dogs("A", "B", "C")
        let ada = Person(firstName: "Ada")
        try test.realm.write {
            test.realm.add(ada)
            dogs[0].owner = ada
            dogs[2].owner = ada
        }
        let log = Log(ada.dogs)
        expect(test, log, ["initial"])
        try test.realm.write { dogs[1].owner = ada }
        expect(test, log, ["[] [1] []"])
        try test.realm.write { dogs[0].owner = nil }
        expect(test, log, ["[0] [] []"])
        try test.elsewhere { realm in try realm.write { try realm.dog("C").age = 4 } }
        expect(test, log, ["[] [] [1]"])
        try test.realm.write { test.realm.delete(ada) }
        expect(test, log, ["[0, 1] [] []"])
    }

    @Test("N67 the linking objects of a deleted object are not those of another one with its key")
    func linkingObjectsReplacedElsewhere() throws {
        let test = try TestRealm()
        let node = Node(id: 5)
        try test.realm.write { test.realm.add(node) }
        let previous = node.previous.filter("TRUEPREDICATE")
        let log = Log(previous)
        test.realm.refresh()
        #expect(log.take() == ["initial"])
        try test.elsewhere { realm in
            try realm.write {
                realm.delete(realm.objects(Node.self))
                realm.add(Node(id: 5))
            }
            try realm.write { realm.objects(Node.self)[0].next = realm.objects(Node.self)[0] }
        }
        test.realm.refresh()
        #expect(previous.isInvalidated)
        #expect(log.take().isEmpty)
        #expect(test.realm.objects(Node.self)[0].previous.count == 1)
    }

    @Test("N67 the linking objects of an object are there again after their Realm was invalidated")
    func linkingObjectsAfterInvalidation() throws {
        let test = try TestRealm()
        let node = Node(id: 5)
        try test.realm.write { test.realm.add(node) }
        let previous = node.previous.filter("TRUEPREDICATE")
        let log = Log(previous)
        test.realm.refresh()
        test.realm.invalidate()
        try test.elsewhere { realm in
            try realm.write { realm.objects(Node.self)[0].next = realm.objects(Node.self)[0] }
        }
        test.realm.refresh()
        #expect(!previous.isInvalidated)
        #expect(previous.map(\.id) == [5])
        #expect(log.take() == ["initial", "[] [0] []"])
    }

    @Test("N67 linking objects of a list")
    func linkingObjectsOfList() throws {
        let test = try TestRealm()
        let nodes = (1...3).map { Node(id: $0) }
        try test.realm.write {
            test.realm.add(nodes)
            nodes[0].children.append(nodes[2])
        }
        let log = Log(nodes[2].parents)
        expect(test, log, ["initial"])
        try test.realm.write { nodes[1].children.append(objectsIn: [nodes[2], nodes[2]]) }
        expect(test, log, ["[] [1, 2] []"])
        try test.realm.write { nodes[1].children.removeLast() }
        expect(test, log, ["[2] [] [1]"])
        try test.realm.write { nodes[1].children.removeAll() }
        expect(test, log, ["[1] [] []"])
        try test.realm.write { test.realm.delete(nodes[0]) }
        expect(test, log, ["[0] [] []"])
    }

    @Test("N67 linking objects end with their object, whatever has its key later")
    func linkingObjectsOfAnother() throws {
        let test = try TestRealm()
        let node = Node(id: 1)
        try test.realm.write {
            test.realm.add(node)
            node.children.append(node)
        }
        let parents = node.parents
        let log = Log(parents)
        expect(test, log, ["initial"])
        try test.realm.write {
            test.realm.delete(node)
            let another = Node(id: 1, amount: 4)
            test.realm.add(another)
            another.children.append(another)
        }
        expect(test, log, ["[0] [] []"])
        #expect(parents.isInvalidated && parents.isEmpty && Array(parents).isEmpty)
        #expect(parents.max(ofProperty: "amount") as Double? == nil)
        try test.realm.write { test.realm.object(ofType: Node.self, forPrimaryKey: 1)?.amount = 5 }
        expect(test, log, [])
        #expect(parents.isEmpty)
    }

    @Test("N22 N59 an owner deleted before the first call has an empty collection, whatever has its key by then")
    func ownerReplacedAtOnce() throws {
        let test = try TestRealm()
        let node = Node(id: 1)
        try test.realm.write {
            test.realm.add(node)
            node.children.append(node)
        }
        let logs = [Log(node.children), Log(node.peers)]
        let parents = Log(node.parents)
        var keys: [[String]] = []
        let token = node.named.observe { change in
            if case .update(_, _, let insertions, _) = change { keys.append(insertions) }
        }
        try test.elsewhere { realm in
            try realm.write {
                realm.delete(realm.objects(Node.self))
                realm.add(Node(id: 1))
            }
        }
        for log in logs { expect(test, log, ["initial"]) }
        expect(test, parents, ["initial"])
        try test.elsewhere { realm in
            try realm.write {
                guard let another = realm.object(ofType: Node.self, forPrimaryKey: 1) else { return }
                another.children.append(another)
                another.peers.insert(another)
                another.named["x"] = another
            }
        }
        for log in logs + [parents] { expect(test, log, []) }
        #expect(keys.isEmpty)
        withExtendedLifetime(token) {}
    }

    @Test("N41 a row that came and went between two calls, and was in a list meanwhile, is nowhere in a sorted result")
    func transientElement() throws {
        // As in a result of very many rows, where a pass over all of them would cost more.
        let test = try TestRealm { $0.environment.keysScannedPerSearch = 0 }
        let nodes = (1...3).map { Node(id: $0, name: "\($0)") }
        try test.realm.write {
            test.realm.add(nodes)
            nodes[0].children.append(objectsIn: nodes)
        }
        let log = Log(nodes[0].children.filter("amount < 9").sorted(byKeyPath: "name"))
        expect(test, log, ["initial"])
        try test.elsewhere { realm in
            try realm.write {
                let new = Node(id: 4, name: "0")
                realm.add(new)
                realm.object(ofType: Node.self, forPrimaryKey: 1)?.children.append(new)
            }
            try realm.write {
                if let new = realm.object(ofType: Node.self, forPrimaryKey: 4) { realm.delete(new) }
                realm.object(ofType: Node.self, forPrimaryKey: 2)?.name = "4"
            }
        }
        expect(test, log, ["[1] [2] [0]"])
    }

    @Test("N68 embedded list: as a list; deleting the parent deletes elements and positions")
    func embedded() throws {
        let test = try TestRealm()
        let node = Node(id: 1)
        try test.realm.write {
            test.realm.add(node)
            node.parts.append(objectsIn: [Part(name: "a"), Part(name: "b")])
        }
        let part = node.parts[1]
        let logs = [Log(node.parts), Log(object: part)]
        test.realm.refresh()
        #expect(logs.map { $0.take() } == [["initial"], []])
        try test.realm.write { part.name = "c" }
        test.realm.refresh()
        #expect(logs.map { $0.take() } == [["[] [] [1]"], ["name: b → c"]])
        try test.realm.write { node.parts.remove(at: 0) }
        test.realm.refresh()
        #expect(logs.map { $0.take() } == [["[0] [] []"], []])
        try test.realm.write { test.realm.delete(node) }
        test.realm.refresh()
        #expect(logs.map { $0.take() } == [["[0] [] []"], ["deleted"]])
    }

    @Test("a list of values")
    func values() throws {
        let test = try TestRealm()
        let lists = ScalarLists(id: 1)
        try test.realm.write {
            test.realm.add(lists)
            lists.ints.append(objectsIn: [1, 2, 3])
        }
        let log = Log(lists.ints)
        expect(test, log, ["initial"])
        try test.realm.write {
            lists.ints[1] = 5
            lists.ints.append(7)
            lists.ints.removeFirst()
        }
        expect(test, log, ["[0] [2] [1]"])
    }

    @Test("a sorted list follows edits of the list and of its elements")
    func sorted() throws {
        let (test, dog, others, _) = try start()
        let log = Log(dog.siblings.sorted(byKeyPath: "name", ascending: false))
        expect(test, log, ["initial"])
        try test.realm.write { others[0].name = "Z" }
        expect(test, log, ["[3] [0] []"])
        try test.realm.write { dog.siblings.removeLast() }
        expect(test, log, ["[1] [] []"])
        try test.realm.write { dog.name = "Max" }
        expect(test, log, [])
    }
}
