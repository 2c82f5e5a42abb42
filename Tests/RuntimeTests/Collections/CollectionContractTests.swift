import ConformanceModels
import Foundation
import Martlet
import MartletTestSupport
import Testing

@Suite struct CollectionContractTests {
    private struct Graph {
        let test: TestRealm
        let hub: Node
        let nodes: [Node]
    }

    /// Creates a hub and five nodes that link to it. The list of the hub contains the nodes in reverse order, and the
    /// set contains all nodes. For each name, the map of the hub contains the last node with that name.
    private func graph() throws -> Graph {
        let test = try TestRealm()
        let nodes = (0..<5).map { Node(id: $0, name: ["c", "a", "b", "a", "d"][$0], amount: [2, 5, 1, 4, 3][$0]) }
        let hub = Node(id: 100, children: nodes.reversed(), peers: nodes)
        for node in nodes {
            node.next = hub
            hub.named[node.name] = node
        }
        try test.realm.write { test.realm.add(hub) }
        return Graph(test: test, hub: hub, nodes: nodes)
    }

    /// Checks the functions of a collection that contains the five nodes. `ids` are the ids of its elements, in order.
    private func check(
        _ collection: some RealmCollection<Node>, _ ids: [Int], _ graph: Graph, _ location: SourceLocation
    ) {
        let nodes = graph.nodes
        #expect(collection.count == 5 && !collection.isEmpty && collection.map(\.id) == ids, sourceLocation: location)
        #expect(collection.first?.id == ids[0] && collection.last?.id == ids[4], sourceLocation: location)
        #expect(collection[1].id == ids[1] && collection.objects(at: [3, 0]).map(\.id) == [ids[3], ids[0]])
        #expect(collection.index(of: nodes[2]) == ids.firstIndex(of: 2) && collection.index(of: graph.hub) == nil)
        #expect(
            collection.index(matching: { $0.name == "a" }) == ids.firstIndex { $0 == 1 || $0 == 3 },
            sourceLocation: location)
        #expect(collection.index(matching: "amount > %@", 4.5) == ids.firstIndex(of: 1), sourceLocation: location)
        #expect(collection.index(matching: "name == 'z'") == nil, sourceLocation: location)
        let found = collection.where { $0.amount > 2 }
        #expect(found.map(\.id) == ids.filter { [1, 3, 4].contains($0) }, sourceLocation: location)
        let named = collection.filter("name == %@", "a")
        #expect(named.map(\.id) == ids.filter { [1, 3].contains($0) }, sourceLocation: location)
        #expect(collection.sorted(byKeyPath: "amount", ascending: false).map(\.id) == [1, 3, 4, 0, 2])
        #expect(collection.sorted { $0.amount }.map(\.id) == [2, 0, 4, 3, 1], sourceLocation: location)
        let descriptors = [SortDescriptor(keyPath: "name"), SortDescriptor(keyPath: "amount")]
        #expect(collection.sorted(by: descriptors).map(\.id) == [3, 1, 2, 0, 4], sourceLocation: location)
        let firsts = ids.filter { id in ids.first { nodes[$0].name == nodes[id].name } == id }
        #expect(collection.distinct(by: ["name"]).map(\.id) == firsts, sourceLocation: location)
        #expect(collection.distinct { $0.name }.count == 4, sourceLocation: location)
        #expect(collection.min { $0.amount } == 1 && collection.max { $0.amount } == 5, sourceLocation: location)
        #expect(collection.sum { $0.amount } == 15 && collection.average { $0.amount } == 3, sourceLocation: location)
        #expect(collection.max(ofProperty: "name") == "d" && collection.min(ofProperty: "next.id") == 100)
        var names = ids.map { nodes[$0].name }
        // 'value(forKey:)' of a set returns each value once.
        if collection is MutableSet<Node> {
            names = names.enumerated().filter { names.firstIndex(of: $1) == $0 }.map(\.1)
        }
        #expect(collection.value(forKey: "name") as? [String] == names, sourceLocation: location)
        #expect(!collection.isFrozen && !collection.isInvalidated && collection.realm == graph.test.realm)
    }

    @Test("results, lists, sets and linking objects support the functions of RealmCollection O40") func contract()
        throws
    {
        let graph = try graph()
        let hub = graph.hub
        check(graph.test.realm.objects(Node.self).where { $0.id < 100 }, [0, 1, 2, 3, 4], graph, #_sourceLocation)
        check(hub.children, [4, 3, 2, 1, 0], graph, #_sourceLocation)
        check(hub.peers, hub.peers.map(\.id), graph, #_sourceLocation)
        check(hub.previous, [0, 1, 2, 3, 4], graph, #_sourceLocation)
        #expect(try hub.children.filter(Realm.Predicate(parsing: "amount < 2")).map(\.id) == [2])
        #expect(hub.peers.map(\.id).sorted() == [0, 1, 2, 3, 4])
    }

    @Test("setValue sets a property of all elements O40") func setValue() throws {
        let graph = try graph()
        let hub = graph.hub
        try graph.test.realm.write {
            hub.children.setValue("list", forKey: "name")
            #expect(graph.nodes.allSatisfy { $0.name == "list" })
            hub.peers.setValue("set", forKey: "name")
            #expect(graph.nodes.allSatisfy { $0.name == "set" })
            hub.previous.setValue("links", forKey: "name")
            #expect(graph.nodes.allSatisfy { $0.name == "links" } && hub.name == "")
        }
        let unmanaged = Node(children: [Node(), Node()])
        unmanaged.children.setValue(5.0, forKey: "amount")
        #expect(unmanaged.children.value(forKey: "amount") as? [Double] == [5, 5])
    }

    @Test("queries of a map of objects search its values O40 O44") func maps() throws {
        let graph = try graph()
        let map = graph.hub.named
        #expect(map.count == 4 && map.keys == ["a", "b", "c", "d"])
        #expect(map.where { $0.amount > 2 }.map(\.id) == [3, 4] && map.filter("name == 'b'").map(\.id) == [2])
        #expect(map.sorted(byKeyPath: "amount").map(\.id) == [2, 0, 4, 3])
        #expect(map.sorted(by: [SortDescriptor(keyPath: "id", ascending: false)]).first?.id == 4)
        #expect(map.distinct(by: ["name"]).count == 4)
        #expect(map.min(ofProperty: "amount") == 1.0 && map.max(ofProperty: "name") == "d")
        #expect(map.sum(ofProperty: "amount") == 10.0 && map.average(ofProperty: "amount") == 2.5)
        #expect(map.key(of: graph.nodes[4]) == "d" && map.key(of: graph.nodes[1]) == nil && map.key(of: nil) == nil)
        try graph.test.realm.write { map["none"] = .some(nil) }
        #expect(map.key(of: nil) == "none" && map.where { $0.id >= 0 }.count == 4)
    }

    @Test("map entries are merged, updated and removed O44") func entries() throws {
        let test = try TestRealm()
        let maps = ScalarMaps(id: 1)
        func check() {
            maps.ints.merge(["a": 1, "b": 2])
            maps.ints.merge(["b": 3, "c": 4]) { $0 * 10 + $1 }
            #expect(
                maps.ints.keys == ["a", "b", "c"] && maps.ints.values == [1, 23, 4] && maps.ints.key(of: 4) == "c")
            #expect(maps.ints.value(forKey: "b") == 23 && maps.ints.value(forKey: "x") == nil)
            maps.ints.setValue(7, forKey: "x")
            maps.ints.setValue(nil, forKey: "a")
            maps.ints.removeObjects(for: ["b", "zz"])
            #expect(maps.ints.keys == ["c", "x"] && maps.ints.min() == 4 && maps.ints.max() == 7)
            maps.ints.updateValue(5, forKey: "x")
            maps.ints.removeObject(for: "c")
            #expect(maps.ints.sorted() == [5] && maps.ints.average() == 5)
            maps.ints.removeAll()
        }
        check()
        try test.realm.write {
            test.realm.add(maps)
            check()
        }
    }

    @Test("lists, sets and maps of values can be sorted and aggregated, and lists can be made distinct O40 O47")
    func values() throws {
        let test = try TestRealm()
        let (lists, sets, maps) = (OptionalLists(id: 1), OptionalSets(id: 1), OptionalMaps(id: 1))
        let grades = ScalarLists(id: 1, sizes: [.good, .good, .best])
        let days = (0..<3).map { Date(timeIntervalSinceReferenceDate: Double($0)) }
        lists.ints.append(objectsIn: [3, nil, 1, 3, 2])
        lists.doubles.append(objectsIn: [0.5, .nan, nil, -0.0, 0])
        lists.strings.append(objectsIn: ["b", nil, "\u{e9}", "a", "b"])
        lists.dates.append(objectsIn: [days[1], nil, days[2], days[0]])
        lists.decimal128s.append(objectsIn: [2, .nan, 10])
        sets.int8s.insert(objectsIn: [3, nil, -1])
        maps.floats.merge(["x": 1.5, "y": nil, "z": 0.5])
        func check() {
            #expect(lists.ints.min() == 1 && lists.ints.max() == 3 && lists.ints.average() == 2.25)
            #expect(
                lists.ints.sorted() == [nil, 1, 2, 3, 3] && lists.ints.sorted(ascending: false) == [3, 3, 2, 1, nil])
            #expect(lists.ints.distinct() == [3, nil, 1, 2] && lists.ints.sum() == 9)
            #expect(lists.doubles.min() == 0 && lists.doubles.max() == 0.5)
            #expect(lists.doubles.distinct().count == 4)
            #expect(lists.strings.sorted() == [nil, "a", "b", "b", "\u{e9}"] && lists.strings.max() == "\u{e9}")
            #expect(lists.dates.sorted() == [nil, days[0], days[1], days[2]] && lists.dates.max() == days[2])
            #expect(lists.decimal128s.max() == 10 && lists.decimal128s.min() == 2 && lists.bools.min() == nil)
            #expect(sets.int8s.sorted() == [nil, -1, 3] && sets.int8s.min() == -1 && sets.int8s.sum() == 2)
            #expect(maps.floats.min() == 0.5 && maps.floats.max() == 1.5 && maps.floats.sorted() == [nil, 0.5, 1.5])
            #expect(grades.sizes.distinct() == [.good, .best] && grades.ints.min() == nil && grades.ints.sum() == 0)
        }
        check()
        try test.realm.write { test.realm.add([lists, sets, maps, grades] as [Object]) }
        check()
    }

    @Test("set operations work on unmanaged sets and between managed and unmanaged sets O43 O47") func algebra() throws
    {
        let test = try TestRealm()
        let (stored, plain) = (ScalarSets(id: 1, ints: [1, 2, 3]), ScalarSets(id: 2, ints: [3, 4]))
        try test.realm.write { test.realm.add(stored) }
        #expect(stored.ints.intersects(plain.ints) && plain.ints.intersects(stored.ints))
        #expect(!plain.ints.isSubset(of: stored.ints))
        plain.ints.formIntersection(stored.ints)
        #expect(plain.ints.map { $0 } == [3] && plain.ints.isSubset(of: stored.ints))
        plain.ints.formUnion(stored.ints)
        plain.ints.insert(9)
        #expect(plain.ints.sorted() == [1, 2, 3, 9])
        plain.ints.subtract(stored.ints)
        #expect(plain.ints.map { $0 } == [9])
        try test.realm.write {
            stored.ints.formUnion(plain.ints)
            #expect(stored.ints.sorted() == [1, 2, 3, 9])
            stored.ints.subtract(stored.ints)
            #expect(stored.ints.isEmpty)
        }
    }

    @Test("queries of unmanaged collections trap O47") func unmanagedQueries() async {
        let set = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Node().peers.where { $0.id == 1 }
        }
        expectMessage(set, "an unmanaged set cannot be queried. Add its object to a Realm first")
        let map = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Node().named.filter("id == 1")
        }
        expectMessage(map, "an unmanaged map cannot be queried. Add its object to a Realm first")
        let links = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Node().previous.sorted(byKeyPath: "id")
        }
        expectMessage(links, "linking objects of an unmanaged object cannot be queried")
    }
}
