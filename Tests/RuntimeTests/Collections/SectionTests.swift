import ConformanceModels
import Foundation
import KennelModels
import Martlet
import MartletTestSupport
import Testing

@Suite struct SectionTests {
    private func start() throws -> (test: TestRealm, nodes: [Node]) {
        let test = try TestRealm()
        let names = ["b", "a", "c", "a", "b", "a"]
        let nodes = names.enumerated().map { Node(id: $0.offset, name: $0.element, amount: Double($0.offset % 2)) }
        try test.realm.write { test.realm.add(nodes) }
        return (test, nodes)
    }

    /// A section key that does not equal itself if the amount is NaN. An array of `Double` cannot be such a key: `==`
    /// returns true for two arrays that share one buffer, even if they contain NaN.
    private struct Weight: Hashable {
        let amount: Double
    }

    private func ids<Key>(_ sections: SectionedResults<Key, Node>) -> [[Int]] { sections.map { $0.map(\.id) } }

    @Test("sections by a key path are sorted by their keys, and keep the order of the elements O46")
    func keyPaths() throws {
        let (test, nodes) = try start()
        let sections = test.realm.objects(Node.self).sectioned(by: \.name)
        #expect(sections.allKeys == ["a", "b", "c"] && ids(sections) == [[1, 3, 5], [0, 4], [2]])
        #expect(sections.count == 3 && sections[1].key == "b" && sections[1].id == "b" && sections[1].count == 2)
        #expect(sections[section: 0, item: 2].id == 5 && sections[IndexPath(indexes: [1, 1])].id == 4)
        #expect(sections.indexPath(of: nodes[3]) == [0, 1] && sections.indexPath(of: Node(id: 3)) == nil)
        #expect(sections.section(forKey: "c")?.first == nodes[2] && sections.section(forKey: "z") == nil)
        #expect(sections[0].index(of: nodes[5]) == 2 && sections[0].index(of: nodes[0]) == nil)
        #expect(sections.realm == test.realm && !sections.isInvalidated && !sections[0].isFrozen)
        let down = test.realm.objects(Node.self).sorted(byKeyPath: "id", ascending: false)
            .sectioned(by: \.name, ascending: false)
        #expect(down.allKeys == ["c", "b", "a"] && ids(down) == [[2], [4, 0], [5, 3, 1]])
    }

    @Test("objects can be sectioned by a field, also through a link, and nil is a key O46") func fields() throws {
        let (test, nodes) = try start()
        #expect(test.realm.objects(Node.self).sectioned { $0.amount }.allKeys == [0, 1])
        try test.realm.write {
            nodes[0].next = nodes[2]
            nodes[1].next = nodes[4]
        }
        let linked = test.realm.objects(Node.self).sectioned(by: { $0.next.name }, ascending: false)
        #expect(linked.allKeys == [nil, "c", "b"] && ids(linked) == [[2, 3, 4, 5], [0], [1]])
        try test.realm.write { nodes[5].amount = .nan }
        let numbers = test.realm.objects(Node.self).sectioned { $0.amount }
        #expect(numbers.allKeys == [nil, 0, 1] && ids(numbers) == [[5], [0, 2, 4], [1, 3]])
        let optional = test.realm.objects(Node.self).sectioned(by: \.next?.name)
        #expect(optional.allKeys == ["b", "c", nil])
    }

    @Test("elements whose key is NaN form one section, for every kind of key O46") func notANumber() throws {
        let (test, nodes) = try start()
        let owner = ScalarLists(id: 1)
        try test.realm.write {
            test.realm.add(owner)
            for (node, amount) in zip(nodes, [1, .nan, 0, -Double.nan, 1, -0.0]) { node.amount = amount }
            owner.doubles.append(objectsIn: [1, .nan, 0, .nan])
        }
        let all = test.realm.objects(Node.self)
        let byPath = all.sectioned(by: \.amount)
        #expect(
            ids(byPath) == [[1, 3], [2, 5], [0, 4]] && byPath.allKeys[0].isNaN
                && byPath.section(forKey: .nan)?.count == 2)
        #expect(byPath.indexPath(of: nodes[3]) == [0, 1] && byPath[0].index(of: nodes[3]) == 1)
        let byWeight = all.sectioned(by: { Weight(amount: $0.amount) }, sortDescriptors: [])
        #expect(ids(byWeight) == [[0, 4], [1, 3], [2, 5]])
        #expect(ids(all.sectioned(by: { Optional($0.amount) }, sortDescriptors: [])) == [[0, 4], [1, 3], [2, 5]])
        #expect(byPath.freeze().section(forKey: .nan)?.map(\.id) == [1, 3])
        let values = owner.doubles.sectioned { $0 }
        #expect(values.map(\.count) == [2, 1, 1] && values.section(forKey: .nan)?.count == 2)
    }

    @Test("sections by an 'AnyRealmValue' have objects as keys, and group NaN with 'none' O46") func anyKeys() throws {
        let (test, nodes) = try start()
        let values: [AnyRealmValue] = [
            .object(nodes[0]), .none, .double(.nan), .object(nodes[1]), .object(nodes[0]), .decimal128(.nan), .int(1),
        ]
        try test.realm.write {
            for (id, value) in values.enumerated() { test.realm.add(Scalars(id: id, anyValue: value)) }
        }
        let sections = test.realm.objects(Scalars.self).sectioned { $0.anyValue }
        #expect(sections.map { $0.map(\.id) } == [[1, 2, 5], [6], [0, 4], [3]])
        #expect(sections.allKeys == [.some(.none), .int(1), .object(nodes[0]), .object(nodes[1])])
        #expect(sections.section(forKey: .object(nodes[1]))?.first?.id == 3)
    }

    @Test("sections by a closure are in the order of their first elements O46") func closures() throws {
        let (test, _) = try start()
        let all = test.realm.objects(Node.self)
        let odd = all.sectioned(by: { $0.id % 2 == 1 }, sortDescriptors: [SortDescriptor(keyPath: "name")])
        #expect(odd.allKeys == [true, false] && ids(odd) == [[1, 3, 5], [0, 4, 2]])
        let plain = all.sectioned(by: { $0.name }, sortDescriptors: [])
        #expect(plain.allKeys == ["b", "a", "c"] && ids(plain) == [[0, 4], [1, 3, 5], [2]])
        let sorted = all.sectioned(by: \.name, sortDescriptors: [SortDescriptor(keyPath: "id", ascending: false)])
        #expect(sorted.allKeys == ["a", "b", "c"] && ids(sorted) == [[5, 3, 1], [4, 0], [2]])
    }

    @Test("lists, sets and linking objects have sections O40 O46") func collections() throws {
        let (test, nodes) = try start()
        try test.realm.write {
            nodes[0].children.append(objectsIn: [nodes[3], nodes[2], nodes[1]])
            nodes[0].peers.insert(objectsIn: nodes)
            for node in nodes { node.next = nodes[0] }
        }
        #expect(ids(nodes[0].children.sectioned(by: \.name)) == [[3, 1], [2]])
        #expect(nodes[0].peers.sectioned(by: \.name).allKeys == ["a", "b", "c"])
        #expect(nodes[0].previous.sectioned { $0.amount }.count == 2)
        let dogs = test.realm.objects(Dog.self)
        try test.realm.write { test.realm.add([Dog(name: "x", size: .large), Dog(name: "y", size: .small)]) }
        #expect(dogs.sectioned(by: \.size).allKeys == [.large, .small])
    }

    @Test("sections are live, also inside a write O46") func live() throws {
        let (test, nodes) = try start()
        let sections = test.realm.objects(Node.self).where { $0.id < 10 }.sectioned(by: \.name)
        let (first, third) = (sections[0], sections[2])
        try test.realm.write {
            nodes[2].name = "a"
            #expect(sections.allKeys == ["a", "b"] && first.map(\.id) == [1, 2, 3, 5] && third.isEmpty)
            test.realm.add([Node(id: 9, name: "c"), Node(id: 11, name: "z")])
            #expect(sections.count == 3 && third.map(\.id) == [9])
        }
        try test.onNewThread { realm in try realm.write { realm.delete(realm.objects(Node.self).filter("name == 'b'")) }
        }
        #expect(sections.count == 3)
        test.realm.refresh()
        #expect(sections.allKeys == ["a", "c"] && ids(sections) == [[1, 2, 3, 5], [9]])
    }

    @Test("a computed property that reads one stored property can be the section key O46") func computedKey() throws {
        let test = try TestRealm()
        try test.realm.write { test.realm.add([Node(id: 1, name: "bb"), Node(id: 2, name: "a")]) }
        #expect(test.realm.objects(Node.self).sectioned(by: \.lengthOfName).allKeys == [1, 2])
    }

    @Test("positions out of bounds, and section keys that are not stored properties, trap O46") func mistakes() async {
        let section = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestRealm().realm.objects(Node.self).sectioned(by: \.name)[0]
        }
        expectMessage(section, "the index 0 is outside of the sections, whose number of elements is 0")
        let item = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            try test.realm.write { test.realm.add(Node(id: 1)) }
            _ = test.realm.objects(Node.self).sectioned(by: \.name)[section: 0, item: 1]
        }
        expectMessage(item, "the index 1 is outside of the section, whose number of elements is 1")
        let key = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestRealm().realm.objects(Node.self).sectioned(by: \.self)
        }
        expectMessage(key, "is not a stored property, so results cannot be sectioned by it")
        let several = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestRealm().realm.objects(Node.self).sectioned(by: \.nameOfNextOrEmpty)
        }
        expectMessage(several, "is not a stored property, so results cannot be sectioned by it")
        let path = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestRealm().realm.objects(Node.self).sectioned(by: \.name)[IndexPath(index: 0)]
        }
        expectMessage(path, "the index path has 1 index, but it needs a section and an item")
        let unmanaged = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Node().children.sectioned(by: \.name)
        }
        expectMessage(unmanaged, "an unmanaged list cannot be queried")
    }

    @Test("values of lists, sets and maps can be sectioned; sections of managed collections are live O46 O47")
    func values() throws {
        let test = try TestRealm()
        let lists = ScalarLists(id: 1, ints: [5, 12, 1, 11, 5], strings: ["b", "ab", "a", "bb"])
        let sets = ScalarSets(id: 1, strings: ["x", "yy", "z"])
        let maps = ScalarMaps(id: 1, ints: ["a": 3, "b": 14])
        func check() {
            let byFirst = lists.strings.sectioned { String($0.prefix(1)) }
            #expect(byFirst.allKeys == ["a", "b"] && byFirst.map { Array($0) } == [["a", "ab"], ["b", "bb"]])
            let tens = lists.ints.sectioned(by: { $0 / 10 }, ascending: false)
            #expect(tens.allKeys == [1, 0] && tens[1].map { $0 } == [5, 5, 1] && tens[section: 0, item: 1] == 11)
            #expect(tens[[1, 2]] == 1 && tens.section(forKey: 0)?.count == 3 && tens.section(forKey: 7) == nil)
            #expect(sets.strings.sectioned(by: \.count).map { Array($0) } == [["x", "z"], ["yy"]])
            #expect(maps.ints.sectioned { $0 > 9 }.allKeys == [false, true])
        }
        check()
        try test.realm.write {
            test.realm.add(lists)
            test.realm.add(sets)
            test.realm.add(maps)
        }
        check()
        let live = lists.strings.sectioned(by: \.count)
        let one = try #require(live.section(forKey: 1))
        #expect(live.allKeys == [1, 2] && one.map { $0 } == ["a", "b"])
        try test.realm.write { lists.strings.append("c") }
        #expect(one.map { $0 } == ["a", "b", "c"])
        try test.realm.write { lists.strings.removeAll() }
        #expect(live.isEmpty && one.isEmpty)
    }

    @Test("sections are encoded with their keys O40 O46") func encoding() throws {
        let test = try TestRealm()
        let lists = ScalarLists(id: 1, strings: ["b", "ab", "a"])
        try test.realm.write {
            test.realm.add(lists)
            for id in 0..<3 { test.realm.add(Treasure(id: id, name: id == 1 ? "x" : "y")) }
        }
        func json(_ value: some Encodable) throws -> String {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return String(decoding: try encoder.encode(value), as: UTF8.self)
        }
        let values = lists.strings.sectioned(by: \.count)
        #expect(try json(values) == #"[{"elements":["a","b"],"key":1},{"elements":["ab"],"key":2}]"#)
        #expect(try json(values[0]) == #"["a","b"]"#)
        let objects = test.realm.objects(Treasure.self).sectioned(by: \.name)
        #expect(
            try json(objects)
                == #"[{"elements":[{"id":1,"name":"x"}],"key":"x"},{"elements":[{"id":0,"name":"y"},{"id":2,"name":"y"}],"key":"y"}]"#
        )
        #expect(try json(objects[0]) == #"[{"id":1,"name":"x"}]"#)
    }
}

extension Node {
    fileprivate var lengthOfName: Int { name.count }
    // Reads several properties: 'next' of the node, and 'name' of the next node.
    fileprivate var nameOfNextOrEmpty: String { next == nil ? "" : next?.name ?? "" }
}
