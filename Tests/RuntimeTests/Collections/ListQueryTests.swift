import ConformanceModels
import Foundation
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

/// Queries of lists and maps. The results keep the order and the repetitions of the elements.
@Suite struct ListQueryTests {
    /// Creates the nodes 0 to 4, and node 9 as the owner of the given children.
    private func start(_ children: [Int] = [2, 0, 3, 2]) throws -> (test: TestRealm, nodes: [Node], owner: Node) {
        let test = try TestRealm()
        let nodes = (0..<5).map { Node(id: $0, name: $0 % 2 == 0 ? "even" : "odd", amount: Double($0)) }
        let owner = Node(id: 9, amount: 9)
        try test.realm.write {
            test.realm.add(nodes + [owner])
            owner.children.append(objectsIn: children.map { nodes[$0] })
        }
        return (test, nodes, owner)
    }

    @Test("results of a list keep its order and its repeated elements O75 O42") func order() throws {
        let (test, nodes, owner) = try start()
        let children = owner.children
        #expect(children.filter("TRUEPREDICATE").map(\.id) == [2, 0, 3, 2])
        #expect(children.where { $0.amount > 1 }.map(\.id) == [2, 3, 2])
        #expect(children.where { $0.amount > 1 }.filter("id < 3").map(\.id) == [2, 2])
        #expect(children.filter("id > 5").isEmpty && children.filter("id == 0").count == 1)
        let found = children.where { $0.amount > 1 }
        #expect(found.count == 3 && found.first?.id == 2 && found.last?.id == 2 && found[1].id == 3)
        #expect(found.index(of: nodes[3]) == 1 && found.index(of: nodes[2]) == 0 && found.index(of: nodes[0]) == nil)
        #expect(found.contains(nodes[2]) && !found.contains(nodes[0]))
        #expect(children.index(matching: { $0.amount == 3 }) == 2 && found.index(matching: "amount == 3") == 1)
        #expect(found.value(forKey: "id").compactMap { $0 as? Int } == [2, 3, 2])
        #expect(
            found == children.where { $0.amount > 1 } && found != test.realm.objects(Node.self).where { $0.amount > 1 })
    }

    @Test("sorting the results of a list is stable, and distinct keeps the first occurrence O75 O42 O52") func sorts()
        throws
    {
        let (_, _, owner) = try start([4, 2, 3, 0, 1, 2])
        let children = owner.children
        #expect(children.sorted(byKeyPath: "name").map(\.id) == [4, 2, 0, 2, 3, 1])
        #expect(children.sorted(by: { $0.name }, ascending: false).map(\.id) == [3, 1, 4, 2, 0, 2])
        #expect(children.sorted(byKeyPath: "amount").map(\.id) == [0, 1, 2, 2, 3, 4])
        #expect(children.distinct(by: { $0.name }).map(\.id) == [4, 3])
        #expect(children.distinct(by: ["id"]).map(\.id) == [4, 2, 3, 0, 1])
        #expect(children.distinct(by: ["id"]).sorted(byKeyPath: "name").map(\.id) == [4, 2, 0, 3, 1])
        #expect(children.filter("TRUEPREDICATE").limit(3, offset: 3).map(\.id) == [0, 1, 2])
        #expect(children.filter("id > 0 SORT(name ASC) LIMIT(3)").map(\.id) == [4, 2, 2])
        #expect(
            children.filter("TRUEPREDICATE").limit(4).filter("id < 4").sorted(byKeyPath: "id").map(\.id) == [0, 2, 3])
    }

    @Test("distinct by an indexed property keeps only elements of the list O75 O52") func distinctByIndex() throws {
        let test = try TestRealm()
        let dogs = ["Rex", "Ada", "Luna", "Otto"].map { Dog(name: $0) }
        try test.realm.write {
            test.realm.add(dogs)
            dogs[1].siblings.append(objectsIn: [dogs[2], dogs[0], dogs[2]])
        }
        #expect(test.realm.schema["Dog"]?["name"]?.isIndexed == true)
        let names = dogs[1].siblings.distinct(by: ["name"])
        #expect(names.map(\.name) == ["Luna", "Rex"] && names.count == 2)
        #expect(test.realm.objects(Dog.self).distinct(by: ["name"]).count == 4)
    }

    @Test("aggregates over a filtered list count each occurrence O53") func aggregates() throws {
        let (_, _, owner) = try start()
        let found = owner.children.where { $0.amount > 1 }
        #expect(found.sum { $0.amount } == 7 && found.average { $0.amount } == 7.0 / 3)
        #expect(found.min { $0.amount } == 2 && found.max { $0.amount } == 3)
        #expect(found.limit(2).sum { $0.amount } == 5 && found.limit(2).count == 2)
        #expect(owner.children.distinct(by: ["id"]).sum { $0.amount } == 5)
    }

    @Test("sections of a list keep its order and its repeated elements O75 O42") func sections() throws {
        let (_, nodes, owner) = try start()
        let unsorted = owner.children.sectioned(by: { $0.name }, sortDescriptors: [])
        #expect(unsorted.map(\.key) == ["even", "odd"] && unsorted.map { $0.map(\.id) } == [[2, 0, 2], [3]])
        let sorted = owner.children.sectioned(by: \.name, ascending: false)
        #expect(sorted.map { $0.map(\.id) } == [[3], [2, 0, 2]])
        let descriptors = [RealmSortDescriptor(keyPath: "amount")]
        #expect(
            owner.children.sectioned(by: \.name, sortDescriptors: descriptors).map { $0.map(\.id) } == [
                [0, 2, 2], [3],
            ])
        #expect(unsorted.indexPath(of: nodes[2]) == [0, 0])
    }

    @Test("results of a list can be frozen, thawed, projected and sent to another Realm O75 O42") func elsewhere()
        throws
    {
        let (test, _, owner) = try start()
        let found = owner.children.where { $0.amount > 1 }
        let frozen = found.freeze()
        let reference = ThreadSafeReference(to: found)
        try test.realm.write { owner.children.move(from: 0, to: 2) }
        #expect(found.map(\.id) == [3, 2, 2] && frozen.map(\.id) == [2, 3, 2])
        #expect(frozen.thaw()?.map(\.id) == [3, 2, 2] && frozen.index(of: frozen[1]) == 1)
        try test.onNewThread { realm in
            let there = realm.resolve(reference)
            #expect(there?.map(\.id) == [3, 2, 2])
        }
        let projected = found.projected(NodeProjection.self)
        #expect(projected.map { $0.rootObject.id } == [3, 2, 2] && projected.count == 3)
    }

    @Test(
        "results of a list show its changes, also inside a write, and are invalidated when its owner is deleted O75 O42"
    )
    func live() throws {
        let (test, nodes, owner) = try start()
        let found = owner.children.where { $0.amount > 1 }
        try test.realm.write {
            owner.children.append(nodes[4])
            #expect(found.map(\.id) == [2, 3, 2, 4])
            owner.children.swapAt(0, 2)
            nodes[0].amount = 5
            #expect(found.map(\.id) == [3, 0, 2, 2, 4])
            test.realm.delete(found)
        }
        #expect(owner.children.isEmpty && found.isEmpty && test.realm.objects(Node.self).map(\.id) == [1, 9])
        try test.realm.write { test.realm.delete(owner) }
        #expect(found.isInvalidated && found.isEmpty)
    }

    @Test("results of a map contain an object once for each of its keys, in the order of the map O75 O42") func maps()
        throws
    {
        let (test, nodes, owner) = try start()
        try test.realm.write {
            for (key, node) in [("z", nodes[3]), ("a", nodes[1]), ("n", nil), ("b", nodes[3])] as [(String, Node?)] {
                owner.named.updateValue(node, forKey: key)
            }
        }
        #expect(owner.named.filter("TRUEPREDICATE").map(\.id) == [3, 1, 3])
        #expect(owner.named.where { $0.amount > 1 }.map(\.id) == [3, 3])
        #expect(owner.named.sorted(byKeyPath: "id").map(\.id) == [1, 3, 3])
        #expect(owner.named.distinct(by: ["name"]).map(\.id) == [3])
        #expect(owner.named.filter("id > 2").sum(ofProperty: "amount") as Double == 6)
        try test.realm.write { owner.named.removeObject(for: "z") }
        #expect(owner.named.filter("TRUEPREDICATE").map(\.id) == [1, 3])
    }

    @Test("distinct without key paths has no effect O52") func distinctByNothing() throws {
        let (test, _, owner) = try start()
        #expect(test.realm.objects(Node.self).distinct(by: [String]()).map(\.id) == [0, 1, 2, 3, 4, 9])
        #expect(owner.children.distinct(by: []).map(\.id) == [2, 0, 3, 2])
    }

    @Test(
        "objects with a nil link are last in ascending order; distinct by a path through the link omits them O52"
    )
    func nilLinks() throws {
        let (test, nodes, owner) = try start()
        try test.realm.write {
            for (node, next) in [(nodes[0], nodes[3]), (nodes[2], nodes[1]), (nodes[4], nodes[1])] { node.next = next }
            nodes[0].part = Part(weight: nil)
            nodes[1].part = Part(weight: .nan)
            nodes[3].part = Part(weight: -.infinity)
        }
        let all = test.realm.objects(Node.self)
        #expect(all.sorted(byKeyPath: "next.id").map(\.id) == [2, 4, 0, 1, 3, 9])
        #expect(all.sorted(byKeyPath: "next.id", ascending: false).map(\.id) == [1, 3, 9, 0, 2, 4])
        #expect(all.distinct(by: ["next.id"]).map(\.id) == [0, 2])
        #expect(all.distinct(by: ["next.next.id"]).isEmpty)
        #expect(owner.children.sorted(byKeyPath: "next.id").map(\.id) == [2, 2, 0, 3])
        // The ascending order is: a part whose weight is nil, a part whose weight is NaN, parts with other weights, no
        // part.
        #expect(all.sorted(byKeyPath: "part.weight").map(\.id) == [0, 1, 3, 2, 4, 9])
        #expect(all.sorted(byKeyPath: "part.weight", ascending: false).map(\.id) == [2, 4, 9, 3, 1, 0])
        #expect(all.distinct(by: ["part.weight"]).map(\.id) == [0, 1, 3])
    }

    @Test("in ascending order, nil precedes NaN, and NaN precedes all other decimals and doubles O52")
    func specialValues() throws {
        let test = try TestRealm()
        let decimals: [Decimal128?] = [2, .nan, nil, -5]
        try test.realm.write {
            for (id, number) in decimals.enumerated() {
                test.realm.add(OptionalScalars(id: id, double: [2, .nan, nil, -.infinity][id], decimal128: number))
            }
        }
        let all = test.realm.objects(OptionalScalars.self)
        for path in ["decimal128", "double"] {
            #expect(all.sorted(byKeyPath: path).map(\.id) == [2, 1, 3, 0], "\(path)")
            #expect(all.sorted(byKeyPath: path, ascending: false).map(\.id) == [0, 3, 1, 2], "\(path)")
            #expect(all.distinct(by: [path]).map(\.id) == [0, 1, 2, 3], "\(path)")
        }
    }
}
