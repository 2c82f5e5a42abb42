import ConformanceModels
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

@Suite struct AddTests {
    @Test(
        "if added objects share a primary key, the values of the last one are stored, at any depth O5",
        arguments: 60...67)
    func order(_ depth: Int) throws {
        let test = try TestRealm()
        func object(_ part: Part?) -> Node {
            let node = Node(id: 1_000)
            node.part = part
            return node
        }
        var node = Node(id: depth)
        node.children.append(objectsIn: [
            object(Part(name: "a", core: Screw(length: 1))), object(Part(name: "b", core: Screw(length: 2))),
            object(nil),
        ])
        for id in (0..<depth).reversed() {
            let outer = Node(id: id)
            outer.next = node
            node = outer
        }
        try test.realm.write { test.realm.add(node, update: .all) }
        let end = try #require(test.realm.object(ofType: Node.self, forPrimaryKey: 1_000))
        #expect(
            end.part == nil && test.realm.dynamicObjects("Part").isEmpty && test.realm.dynamicObjects("Screw").isEmpty)
    }

    @Test("adding an object adds the unmanaged objects that it links to, also in cycles O5") func graph() throws {
        let test = try TestRealm()
        let (a, b, c) = (Node(id: 1), Node(id: 2), Node(id: 3))
        a.next = b
        b.next = c
        c.next = a
        a.children.append(objectsIn: [b, c, a, b])
        b.peers.insert(objectsIn: [a, c])
        c.named["a"] = a
        c.named["none"] = .some(nil)
        a.part = Part(name: "p", screws: [Screw(length: 1)], node: b)
        try test.realm.write { test.realm.add(a) }
        #expect(test.realm.objects(Node.self).map(\.id) == [1, 2, 3])
        #expect(
            a.next?.next?.next == a && a.children.map(\.id) == [2, 3, 1, 2] && Set(b.peers.map(\.id)) == [1, 3])
        #expect(
            c.named["a"] == .some(a) && c.named["none"] == .some(nil) && a.part?.node == b
                && a.part?.screws.first?.length == 1)
        #expect(a.previous.count == 1 && b.parents.count == 2 && c.namedBy.isEmpty && a.namedBy.first == c)
        try test.onNewThread { realm in
            let a = try #require(realm.object(ofType: Node.self, forPrimaryKey: 1))
            #expect(a.next?.next?.next == a && a.children.map(\.id) == [2, 3, 1, 2] && a.part?.screws.count == 1)
        }
    }

    @Test("adding a managed object again changes nothing O5") func again() throws {
        let test = try TestRealm()
        let node = Node(id: 1)
        try test.realm.write {
            test.realm.add(node)
            test.realm.add(node)
            test.realm.add(node, update: .all)
        }
        #expect(test.realm.objects(Node.self).count == 1)
    }

    @Test("with an update policy, add changes the row, and the added object is managed O5", arguments: [false, true])
    func update(_ all: Bool) throws {
        let policy: Realm.UpdatePolicy = all ? .all : .modified
        let test = try TestRealm()
        let held = Node(
            id: 1, name: "a", amount: 1, next: Node(id: 2, name: "b"), children: [Node(id: 3)], part: Part(name: "p"),
            parts: [Part(name: "x"), Part(name: "y")])
        try test.realm.write { test.realm.add(held) }
        let part = try #require(held.part)
        let x = try #require(held.parts.first)
        let given = Node(
            id: 1, name: "A", next: Node(id: 2, name: "B"), children: [Node(id: 4), Node(id: 3)],
            part: Part(name: "q", weight: 2), parts: [Part(name: "z")])
        try test.realm.write { test.realm.add(given, update: policy) }
        #expect(test.realm.objects(Node.self).map(\.id) == [1, 2, 3, 4])
        for node in [held, given] {
            #expect(
                node.name == "A" && node.amount == 0 && node.next?.name == "B" && node.children.map(\.id) == [4, 3])
            #expect(node.part?.name == "q" && node.part?.weight == 2 && node.parts.map(\.name) == ["z"])
        }
        #expect(part.isInvalidated == all && x.isInvalidated == all)
        #expect(given.realm == test.realm && given == held && given.children.first == held.children.first)
        #expect(test.realm.context.integers("SELECT _key FROM Part", []).count == 2)
        // An assignment through one accessor is visible through the other accessor, before and after the commit.
        try test.realm.write {
            given.name = "G"
            #expect(held.name == "G")
            held.amount = 5
            #expect(given.amount == 5)
            given.next = nil
            #expect(held.next == nil)
        }
        #expect(held.name == "G" && given.amount == 5)
        try test.realm.write { test.realm.delete(held) }
        #expect(held.isInvalidated && given.isInvalidated)
    }

    @Test("an update of objects that link to each other in a cycle terminates O5") func circularUpdate() throws {
        let test = try TestRealm()
        try test.realm.write { test.realm.add(Node(id: 1, next: Node(id: 2))) }
        let (a, b) = (Node(id: 1, name: "a"), Node(id: 2, name: "b"))
        a.next = b
        b.next = a
        a.children.append(a)
        try test.realm.write { test.realm.add(a, update: .modified) }
        #expect(test.realm.objects(Node.self).count == 2)
        #expect(a.next == b && b.next == a && a.children.first == a && b.name == "b" && b.realm != nil)
    }

    @Test("add with an update policy also stores default values; create stores only the given values O5")
    func defaults() throws {
        let test = try TestRealm()
        try test.realm.write {
            test.realm.add([Node(id: 1, name: "a", amount: 1.5), Node(id: 2, name: "b", amount: 2.5)])
            test.realm.add(Node(id: 1, name: "c"), update: .modified)
            test.realm.create(Node.self, value: ["id": 2, "name": "d"], update: .modified)
        }
        let nodes = test.realm.objects(Node.self).sorted(byKeyPath: "id")
        #expect(nodes.map(\.name) == ["c", "d"] && nodes.map(\.amount) == [Node().amount, 2.5])
    }

    @Test("an update adds linked objects without a primary key as new objects O5") func keyless() throws {
        let test = try TestRealm()
        let dog = Dog(name: "Rex", owner: Person(firstName: "Ada"))
        let id = dog.id
        try test.realm.write { test.realm.add(dog) }
        try test.realm.write {
            test.realm.add(Dog(id: id, name: "Max", owner: Person(firstName: "Eve")), update: .modified)
        }
        #expect(dog.name == "Max" && dog.owner?.firstName == "Eve" && test.realm.objects(Person.self).count == 2)
    }

    @Test(".modified writes only values that differ from the stored ones, and .all writes every value O5")
    func modifications() throws {
        let test = try TestRealm()
        try test.realm.write { test.realm.add(Node(id: 1, name: "a", children: [Node(id: 2)], part: Part(name: "p"))) }
        func changes(_ policy: Realm.UpdatePolicy) throws -> Int {
            var count = 0
            try test.realm.write {
                test.realm.add(Node(id: 1, name: "a", children: [Node(id: 2)], part: Part(name: "p")), update: policy)
                count = hasChanges(test.realm.context.transaction) ? 1 : 0
            }
            return count
        }
        #expect(try changes(.modified) == 0)
        #expect(try changes(.all) == 1)
    }

    @Test(".modified distinguishes canonically equivalent strings O5") func equivalentStrings() throws {
        let test = try TestRealm()
        try test.realm.write { test.realm.add(Node(id: 1, name: "\u{e9}")) }
        try test.realm.write { test.realm.add(Node(id: 1, name: "e\u{301}"), update: .modified) }
        #expect(test.realm.objects(Node.self).first?.name.unicodeScalars.count == 2)
    }

    @Test("objects are found by primary keys of every type O5") func keys() throws {
        let test = try TestRealm()
        let uuid = UuidKey(content: "u")
        let id = ObjectIdKey(content: "o")
        try test.realm.write {
            test.realm.add(IntKey(id: -5, content: "i"))
            test.realm.add(StringKey(code: "\u{e9}", content: 1))
            test.realm.add(StringKey(code: "e\u{301}", content: 2))
            test.realm.add(StringKey(code: "", content: 3))
            test.realm.add(uuid)
            test.realm.add(id)
            test.realm.add(Int64Key(content: "n", number: .max))
        }
        let realm = test.realm
        #expect(realm.object(ofType: IntKey.self, forPrimaryKey: -5)?.content == "i")
        #expect(realm.object(ofType: IntKey.self, forPrimaryKey: 5) == nil)
        #expect(realm.object(ofType: StringKey.self, forPrimaryKey: "\u{e9}")?.content == 1)
        #expect(realm.object(ofType: StringKey.self, forPrimaryKey: "e\u{301}")?.content == 2)
        #expect(realm.object(ofType: StringKey.self, forPrimaryKey: "")?.content == 3)
        #expect(realm.object(ofType: UuidKey.self, forPrimaryKey: uuid.id) == uuid)
        #expect(realm.object(ofType: ObjectIdKey.self, forPrimaryKey: id.id) == id)
        #expect(realm.object(ofType: Int64Key.self, forPrimaryKey: Int64.max)?.content == "n")
        try realm.write {
            realm.add(StringKey(code: "e\u{301}", content: 22), update: .modified)
            realm.add(UuidKey(id: uuid.id, content: "uu"), update: .all)
            realm.add(Int64Key(content: "nn", number: .max), update: .modified)
        }
        #expect(realm.objects(StringKey.self).count == 3 && uuid.content == "uu")
        #expect(realm.object(ofType: StringKey.self, forPrimaryKey: "e\u{301}")?.content == 22)
        #expect(realm.objects(Int64Key.self).map(\.content) == ["nn"])
    }

    @Test("adding a duplicate primary key traps with the key in the message O5") func duplicates() async {
        let number = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            try test.realm.write {
                test.realm.add(IntKey(id: 7))
                test.realm.add(IntKey(id: 7))
            }
        }
        expectMessage(number, "a 'IntKey' with the primary key 7 exists already")
        let text = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            try test.realm.write { test.realm.add(StringKey(code: "a")) }
            try test.realm.write { test.realm.create(StringKey.self, value: ["code": "a"]) }
        }
        expectMessage(text, "a 'StringKey' with the primary key 'a' exists already")
        let linked = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            try test.realm.write {
                test.realm.add(Node(id: 1))
                test.realm.add(Node(id: 2, next: Node(id: 1)))
            }
        }
        expectMessage(linked, "a 'Node' with the primary key 1 exists already")
    }

    @Test("a write that violates a unique constraint throws and is rolled back O62 O5") func uniqueConstraint() throws {
        let test = try TestRealm()
        try test.realm.write { test.realm.add(Indexed(id: 1, code: "a")) }
        let error = #expect(throws: Realm.Error.self) {
            try test.realm.write {
                test.realm.add(Indexed(id: 2, code: "b"))
                test.realm.add(Indexed(id: 3, code: "a"))
                #expect(test.realm.objects(Indexed.self).count == 3)
            }
        }
        #expect(error?.code == .uniqueViolation && !test.realm.isInWriteTransaction)
        #expect(test.realm.objects(Indexed.self).map(\.id) == [1])
        #expect(throws: Realm.Error.self) {
            try test.realm.write {
                let other = Indexed(id: 4)
                test.realm.add(other)
                other.code = "a"
            }
        }
        try test.realm.write { test.realm.add(Indexed(id: 5, code: "c")) }
        #expect(test.realm.objects(Indexed.self).map(\.id) == [1, 5])
    }

    @Test("invalid calls of add trap O5") func mistakes() async {
        let keyless = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            try test.realm.write { test.realm.add(Person(), update: .modified) }
        }
        expectMessage(keyless, "'Person' has no primary key")
        let outside = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try TestRealm().realm.add(Node())
        }
        expectMessage(outside, "changed outside a write transaction")
        let foreign = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (one, other) = (try TestRealm(), try TestRealm())
            let node = Node(id: 1)
            try one.realm.write { one.realm.add(node) }
            try other.realm.write { other.realm.add(Node(id: 2, next: node)) }
        }
        expectMessage(foreign, "a 'Node' of another Realm was added or linked")
        let key = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let node = Node(id: 1)
            try test.realm.write {
                test.realm.add(node)
                node.id = 2
            }
        }
        expectMessage(key, "the primary key 'Node.id' was changed")
        let unknown = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm { $0.objectTypes = [IntKey.self] }
            _ = test.realm.objects(Node.self)
        }
        expectMessage(unknown, "'Node' is not in the schema of this Realm")
    }

    @Test("adding a long chain of links adds every link and needs no deep call stack O5") func longChains() throws {
        let test = try TestRealm()
        let count = 20_000
        func chain(_ name: String) -> Node {
            var first = Node(id: count, name: name)
            for id in (0..<count).reversed() {
                let node = Node(id: id, name: name)
                switch id % 3 {
                case 0: node.next = first
                case 1: node.children.append(first)
                default: node.part = Part(node: first)
                }
                first = node
            }
            return first
        }
        func check(_ realm: Realm, _ name: String) throws {
            #expect(realm.objects(Node.self).count == count + 1)
            var node = try #require(realm.object(ofType: Node.self, forPrimaryKey: 0))
            for id in 0..<count {
                guard let next = node.next ?? node.children.first ?? node.part?.node, next.id == id + 1 else {
                    Issue.record("the chain is broken after \(id)")
                    return
                }
                node = next
            }
            #expect(realm.objects(Node.self).where { $0.name == name }.count == count + 1)
        }
        let nodes = chain("a")
        try test.realm.write { test.realm.add(nodes) }
        try check(test.realm, "a")
        let updates = chain("b")
        try test.realm.write { test.realm.add(updates, update: .modified) }
        try test.onNewThread { realm in try check(realm, "b") }
    }
}
