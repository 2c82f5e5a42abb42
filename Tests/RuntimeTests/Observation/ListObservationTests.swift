import ConformanceModels
import Foundation
import KennelModels
import MartletEngine
import MartletTestSupport
import Testing

@testable import Martlet

/// An origin is an object that links to another object.
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

    @Test("edits are reported by index, and a modified element that occurs twice is reported twice N56")
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
        try test.onNewThread { realm in
            try realm.write {
                let list = try realm.dog("Rex").siblings
                list.removeFirst()
                list.append(try realm.dog("X"))
                list[0].age = 3
            }
        }
        expect(test, log, ["[0] [3] [1, 3]"])
    }

    @Test("a move is a deletion plus an insertion; moving to the same index is no change N57")
    func moves() throws {
        let (test, dog, _, log) = try start()
        try test.realm.write { dog.siblings.move(from: 0, to: 2) }
        expect(test, log, ["[0] [2] []"])
        try test.realm.write { dog.siblings.move(from: 1, to: 1) }
        expect(test, log, [])
        var changeSet: CollectionChangeSet?
        let token = dog.siblings.observeChanges { change in
            if case .update(_, let changes) = change { changeSet = changes }
        }
        test.realm.refresh()
        try test.realm.write { dog.siblings.move(from: 3, to: 0) }
        test.realm.refresh()
        #expect(changeSet?.moves == [.init(from: 3, to: 0)])
        withExtendedLifetime(token) {}
    }

    @Test("a moved element is reported as a move if it was modified, but not if it was replaced N47 N56 N57")
    func replacedAndMoved() throws {
        let (test, dog, others, _) = try start()
        var changeSet: CollectionChangeSet?
        let token = dog.siblings.observeChanges { change in
            if case .update(_, let changes) = change { changeSet = changes }
        }
        test.realm.refresh()
        try test.realm.write {
            dog.siblings[0] = others[3]
            dog.siblings.move(from: 0, to: 2)
        }
        test.realm.refresh()
        #expect(changeSet?.deletions == [0] && changeSet?.insertions == [2] && changeSet?.moves == [])
        try test.realm.write {
            dog.siblings.move(from: 2, to: 0)
            dog.siblings[0] = others[0]
        }
        test.realm.refresh()
        #expect(changeSet?.deletions == [2] && changeSet?.insertions == [0] && changeSet?.moves == [])
        try test.realm.write {
            others[0].name = "Z"
            dog.siblings.move(from: 0, to: 1)
        }
        test.realm.refresh()
        #expect(changeSet?.deletions.count == 1 && changeSet?.moves.count == 1)
        withExtendedLifetime(token) {}
    }

    @Test("deleting an element reports a deletion at each of its positions N58")
    func target() throws {
        let (test, dog, others, log) = try start()
        try test.realm.write { dog.siblings.append(others[1]) }
        expect(test, log, ["[] [4] []"])
        try test.realm.write { test.realm.delete(others[1]) }
        expect(test, log, ["[1, 4] [] []"])
    }

    @Test("deleting the owner reports all positions as deleted once, and nothing later N59", arguments: [true, false])
    func owner(remote: Bool) throws {
        let (test, dog, others, log) = try start()
        let empty = Log(others[0].siblings)
        test.realm.refresh()
        _ = empty.take()
        if remote {
            try test.onNewThread { realm in
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

    @Test("deleting the owner ends the observation, even if a new object has the owner's primary key N59")
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

    @Test("observers at different versions each get their own change set N61")
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

    @Test("a change of another collection of the same object calls no observer N63")
    func otherCollection() throws {
        let (test, dog, _, log) = try start()
        try test.realm.write {
            dog.tags.insert("big")
            dog.name = "Max"
        }
        expect(test, log, [])
    }

    @Test("an empty change set is never delivered N65")
    func empty() throws {
        let (test, dog, _, log) = try start()
        try test.realm.write {
            dog.siblings.append(Dog(name: "X"))
            dog.siblings.removeLast()
        }
        expect(test, log, [])
    }

    @Test("linking objects report removed links as deletions, new links as insertions, changed origins as modified N67")
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
        try test.onNewThread { realm in try realm.write { try realm.dog("C").age = 4 } }
        expect(test, log, ["[] [] [1]"])
        try test.realm.write { test.realm.delete(ada) }
        expect(test, log, ["[0, 1] [] []"])
    }

    @Test("linking objects become invalid if another Realm replaces their object by one with the same key N67")
    func linkingObjectsReplacedElsewhere() throws {
        let test = try TestRealm()
        let node = Node(id: 5)
        try test.realm.write { test.realm.add(node) }
        let previous = node.previous.filter("TRUEPREDICATE")
        let log = Log(previous)
        test.realm.refresh()
        #expect(log.take() == ["initial"])
        try test.onNewThread { realm in
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

    @Test("after their Realm was invalidated and refreshed, linking objects can be read again N67")
    func linkingObjectsAfterInvalidation() throws {
        let test = try TestRealm()
        let node = Node(id: 5)
        try test.realm.write { test.realm.add(node) }
        let previous = node.previous.filter("TRUEPREDICATE")
        let log = Log(previous)
        test.realm.refresh()
        test.realm.invalidate()
        try test.onNewThread { realm in
            try realm.write { realm.objects(Node.self)[0].next = realm.objects(Node.self)[0] }
        }
        test.realm.refresh()
        #expect(!previous.isInvalidated)
        #expect(previous.map(\.id) == [5])
        #expect(log.take() == ["initial", "[] [0] []"])
    }

    @Test("linking objects report one position for each occurrence in the list of an origin N67")
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

    @Test("linking objects become invalid if their own Realm replaces their object by one with the same key N67")
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

    @Test(
        "if an object with the same key replaces the owner before the initial call, there are no later calls N22 N59"
    )
    func ownerReplacedBeforeInitialCall() throws {
        let test = try TestRealm()
        let node = Node(id: 1)
        try test.realm.write {
            test.realm.add(node)
            node.children.append(node)
        }
        let logs = [Log(node.children), Log(node.peers)]
        let parents = Log(node.parents)
        var keys: [[String]] = []
        // Records the number of elements in the initial call.
        var initialCounts: [Int] = []
        let countToken = node.children.observe { change in
            if case .initial(let children) = change { initialCounts.append(children.count) }
        }
        let token = node.named.observe { change in
            if case .update(_, _, let insertions, _) = change { keys.append(insertions) }
        }
        try test.onNewThread { realm in
            try realm.write {
                realm.delete(realm.objects(Node.self))
                realm.add(Node(id: 1))
            }
        }
        for log in logs { expect(test, log, ["initial"]) }
        expect(test, parents, ["initial"])
        #expect(initialCounts == [0])
        countToken.invalidate()
        try test.onNewThread { realm in
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

    @Test("an object that was added to a list and deleted between two calls is not reported by sorted results N41")
    func transientElement() throws {
        // Forces a search for old positions by sort key. By default, only results with many rows use this search.
        let test = try TestRealm { $0.environment.keysScannedPerSearch = 0 }
        let nodes = (1...3).map { Node(id: $0, name: "\($0)") }
        try test.realm.write {
            test.realm.add(nodes)
            nodes[0].children.append(objectsIn: nodes)
        }
        let log = Log(nodes[0].children.filter("amount < 9").sorted(byKeyPath: "name"))
        expect(test, log, ["initial"])
        try test.onNewThread { realm in
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

    @Test("a list of embedded objects reports changes like other lists; its elements are deleted with the owner N68")
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

    @Test("a list of values reports changes of its elements")
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

    @Test("sorted results of a list report edits of the list and changes of its elements")
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
