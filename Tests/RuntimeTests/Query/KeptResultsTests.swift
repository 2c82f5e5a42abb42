import ConformanceModels
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

/// Results keep their members in memory after a change that cannot affect the members.
@Suite struct KeptResultsTests {
    private let test: TestRealm
    private var realm: Realm { test.realm }
    private let nodes: Results<Node>

    init() throws {
        let test = try TestRealm()
        try test.realm.write {
            for id in 0..<100 { test.realm.add(Node(id: id, name: "n\(id % 10)")) }
            test.realm.add(Dog(name: "Rex"))
        }
        self.test = test
        nodes = test.realm.objects(Node.self).where { $0.name == "n3" }
        let ids = Array(nodes.map(\.id))
        #expect(ids == Array(stride(from: 3, to: 100, by: 10)))
    }

    /// Whether the members can be counted and read without a query. A query needs more than 50 steps of SQLite. A
    /// background checkpoint may move the snapshot at the same time, and needs only a few steps.
    private func areKept() -> Bool {
        steps(realm.context.handle) { #expect(nodes.count == 10 && nodes.storage.key(at: 9) != nil) } < 25
    }

    @Test("results are kept after insertions, assignments and edits of lists in other types O14")
    func otherTypes() throws {
        let full = realm.objects(Node.self).where { $0.name == "n4" }
        let query = steps(realm.context.handle) { #expect(full.map(\.id).count == 10) }
        #expect(query > 50)
        try realm.write { realm.add(Dog(name: "Bo")) }
        #expect(areKept())
        try realm.write { realm.objects(Dog.self).first?.name = "Max" }
        #expect(areKept())
        try realm.write {
            realm.add(Dog(name: "Ida"))
            #expect(areKept())
        }
        try test.onNewThread { realm in try realm.write { realm.add(Dog(name: "Kim")) } }
        realm.refresh()
        #expect(areKept())
    }

    @Test("results are queried again after changes of their type, deletions and cancelled writes O14")
    func ownType() throws {
        try realm.write { realm.objects(Node.self).where { $0.id == 3 }.first?.name = "other" }
        #expect(nodes.count == 9)
        try realm.write { realm.add(Node(id: 1_000, name: "n3")) }
        #expect(nodes.count == 10 && nodes.last?.id == 1_000)
        try realm.beginWrite()
        realm.add(Node(id: 1_001, name: "n3"))
        #expect(nodes.count == 11)
        realm.cancelWrite()
        #expect(nodes.count == 10)
        try test.onNewThread { realm in try realm.write { realm.add(Node(id: 1_002, name: "n3")) } }
        realm.refresh()
        #expect(nodes.count == 11)
        try realm.write { realm.delete(realm.objects(Dog.self)) }
        #expect(nodes.count == 11)
    }

    @Test("results that follow links or read lists are queried again after changes of other objects O14")
    func links() throws {
        let linked = realm.objects(Node.self).where { $0.next.name == "target" }
        #expect(linked.count == 0)
        try realm.write {
            let target = Node(id: 2_000, name: "t")
            realm.add(target)
            realm.objects(Node.self).where { $0.id == 5 }.first?.next = target
        }
        #expect(linked.count == 0)
        try realm.write { realm.objects(Node.self).where { $0.id == 2_000 }.first?.name = "target" }
        #expect(linked.map(\.id) == [5])
        let withChildren = realm.objects(Node.self).where { $0.children.count > 0 }
        #expect(withChildren.count == 0)
        try realm.write {
            let node = realm.objects(Node.self).where { $0.id == 7 }.first
            node?.children.append(objectsIn: realm.objects(Node.self).where { $0.id == 8 })
        }
        #expect(withChildren.map(\.id) == [7])
        try realm.write { realm.delete(realm.objects(Node.self).where { $0.id == 8 }) }
        #expect(withChildren.count == 0)
    }

    @Test("results that follow links to another type are queried again after changes of that type O14")
    func linksToOtherTypes() throws {
        let owned = realm.objects(Dog.self).where { $0.owner.firstName == "Ada" }
        let owners = realm.objects(Person.self).where { $0.dogs.count > 0 }
        let person = Person(firstName: "Bo")
        try realm.write { realm.add(person) }
        #expect(owned.count == 0 && owners.count == 0)
        // This write changes only a dog.
        try realm.write { realm.objects(Dog.self).first?.owner = person }
        #expect(owned.count == 0 && owners.count == 1)
        // This write changes only a person.
        try realm.write { person.firstName = "Ada" }
        #expect(owned.count == 1)
        try realm.write { realm.objects(Dog.self).first?.owner = nil }
        #expect(owned.count == 0 && owners.count == 0)
    }
}
