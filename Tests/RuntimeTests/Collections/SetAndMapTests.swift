import ConformanceModels
import Foundation
import MartletTestSupport
import Testing

@testable import Martlet

@Suite struct SetAndMapTests {
    @Test("sets contain a value once, and compare values as queries do O43 O47") func sets() throws {
        let test = try TestRealm()
        let sets = ScalarSets(id: 1)
        func fill() {
            for text in ["a", "b", "a", "\u{e9}", "e\u{301}", "", "a\0"] { sets.strings.insert(text) }
            for number in [1.5, 0, -0.0, .nan, .nan, 1.5] { sets.doubles.insert(number) }
            sets.datas.insert(objectsIn: [Data(), Data([1]), Data()])
        }
        func check() {
            #expect(sets.strings.count == 6 && sets.doubles.count == 3 && sets.datas.count == 2)
            #expect(sets.strings.contains("e\u{301}") && sets.strings.contains("") && !sets.strings.contains("c"))
            #expect(sets.doubles.contains(-0.0) && sets.doubles.contains(0) && sets.doubles.contains(.nan))
            #expect(sets.strings.index(of: "b") == 1)
        }
        fill()
        check()
        try test.realm.write { test.realm.add(sets) }
        check()
        try test.realm.write { fill() }
        check()
        try test.realm.write {
            sets.strings.remove("\u{e9}")
            sets.strings.remove("zz")
            sets.doubles.remove(0)
        }
        #expect(sets.strings.count == 5 && sets.strings.contains("e\u{301}") && !sets.doubles.contains(-0.0))
        try test.realm.write { sets.strings.removeAll() }
        #expect(sets.strings.isEmpty && !sets.strings.contains("a"))
    }

    @Test("the body of a loop over a set can remove elements of the set O43") func removal() throws {
        let test = try TestRealm()
        let sets = ScalarSets(strings: ["a", "b", "c"])
        try test.realm.write {
            test.realm.add(sets)
            var seen: [String] = []
            for string in sets.strings {
                sets.strings.remove(string)
                seen.append(string)
            }
            #expect(seen.sorted() == ["a", "b", "c"])
        }
        #expect(sets.strings.isEmpty)
    }

    @Test("set operations work on sets of objects O43") func algebra() throws {
        let test = try TestRealm()
        let nodes = (0..<5).map { Node(id: $0) }
        let (a, b) = (nodes[0], nodes[1])
        a.peers.insert(objectsIn: [nodes[2], nodes[3], nodes[2]])
        b.peers.insert(objectsIn: [nodes[3], nodes[4]])
        func ids(_ set: MutableSet<Node>) -> [Int] { set.map(\.id).sorted() }
        func check() {
            #expect(
                ids(a.peers) == [2, 3] && a.peers.intersects(b.peers) && !a.peers.isSubset(of: b.peers)
                    && a.peers.isSubset(of: a.peers))
            #expect(a.peers.contains(nodes[3]) && !a.peers.contains(nodes[4]))
        }
        check()
        try test.realm.write { test.realm.add(nodes) }
        check()
        try test.realm.write { a.peers.formUnion(b.peers) }
        #expect(ids(a.peers) == [2, 3, 4])
        try test.realm.write { a.peers.formIntersection(b.peers) }
        #expect(ids(a.peers) == [3, 4] && nodes[4].peersOf.count == 2)
        try test.realm.write { a.peers.subtract(b.peers) }
        #expect(a.peers.isEmpty && nodes[4].peersOf.map(\.id) == [1])
        try test.realm.write { a.peers = b.peers }
        #expect(ids(a.peers) == [3, 4] && a.peers.where { $0.id == 4 }.count == 1)
    }

    @Test("a large set is filled in less than quadratic time O43") func large() throws {
        let test = try TestRealm()
        let sets = ScalarSets(id: 1)
        try test.realm.write {
            test.realm.add(sets)
            sets.ints.insert(objectsIn: 0..<20_000)
            sets.ints.insert(objectsIn: 0..<20_000)
        }
        #expect(sets.ints.count == 20_000 && sets.ints.contains(19_999))
    }

    @Test("maps accept any key and compare keys by code points O44 O47") func maps() throws {
        let test = try TestRealm()
        let maps = ScalarMaps(id: 1)
        let keys = ["", "a", ".", "$x", "a.b", "\u{e9}", "e\u{301}", "a\0", "'"]
        func fill() { for (number, key) in keys.enumerated() { maps.ints[key] = number } }
        func check() {
            #expect(maps.ints.count == keys.count && keys.map { maps.ints[$0] } == keys.indices.map { $0 })
            #expect(maps.ints["z"] == nil && maps.ints.sum() == 36)
            #expect(
                Dictionary(zip(maps.ints.keys.map { Array($0.utf8) }, maps.ints.values)) { $1 }
                    == Dictionary(zip(keys.map { Array($0.utf8) }, keys.indices)) { $1 })
        }
        fill()
        check()
        try test.realm.write { test.realm.add(maps) }
        check()
        try test.realm.write {
            fill()
            maps.ints["\u{e9}"] = nil
            maps.ints.removeObject(for: "zz")
            maps.ints.updateValue(77, forKey: "a")
            maps.ints.merge(["a.b": 5, "new": 6])
        }
        #expect(
            maps.ints["\u{e9}"] == nil && maps.ints["e\u{301}"] == 6 && maps.ints["a"] == 77 && maps.ints["new"] == 6
                && maps.ints.count == 9)
        try test.onNewThread { realm in
            let maps = try #require(realm.objects(ScalarMaps.self).first)
            #expect(maps.ints.count == 9 && maps.ints["a.b"] == 5 && maps.ints[""] == 0)
        }
        try test.realm.write { maps.ints.removeAll() }
        #expect(maps.ints.isEmpty && maps.ints.keys.isEmpty)
    }

    @Test("maps distinguish missing keys from keys whose value is nil O33 O44") func optionals() throws {
        let test = try TestRealm()
        let (node, maps) = (Node(id: 1), OptionalMaps(id: 1))
        try test.realm.write {
            test.realm.add([node, Node(id: 2)])
            test.realm.add(maps)
            node.named["x"] = Node(id: 3)
            node.named["nothing"] = .some(nil)
            maps.doubles["nan"] = .some(.nan)
            maps.doubles["nil"] = .some(nil)
        }
        #expect(
            node.named["x"]??.id == 3 && node.named["nothing"] == .some(nil) && node.named["missing"] == nil
                && node.named.count == 2)
        #expect(
            maps.doubles["nan"]??.isNaN == true && maps.doubles["nil"] == .some(nil) && maps.doubles.keys.count == 2)
        #expect(node.named["x"]??.namedBy.map(\.id) == [1])
    }

    @Test("an assignment with '.modified' keeps the elements that are equal to the assigned ones O43 N44")
    func equalElements() throws {
        let test = try TestRealm()
        let sets = ScalarSets(id: 1)
        try test.realm.write {
            test.realm.add(sets)
            sets.doubles.insert(objectsIn: [0, 2, .nan])
            sets.anyValues.insert(objectsIn: [.int(1), .double(.nan), .string("a")])
        }
        let version = test.realm.context.version
        func assign(_ doubles: [Double], _ values: [AnyRealmValue]) throws {
            try test.realm.write {
                let given: [String: Any] = ["id": 1, "doubles": doubles, "anyValues": values]
                test.realm.create(ScalarSets.self, value: given, update: .modified)
            }
        }
        try assign([2, -0.0, 0, -.nan], [.string("a"), .double(1), .float(.nan), .decimal128(1)])
        #expect(test.realm.context.version == version)
        try test.realm.write {
            test.realm.add(ScalarSets(id: 1, doubles: [-0.0, 2], anyValues: [.float(1)]), update: .modified)
        }
        #expect(sets.doubles.first?.sign == .plus)
        try assign([-0.0, 3], [.double(1), .int(4)])
        #expect(sets.doubles.first?.sign == .plus && Array(sets.doubles) == [0, 3])
        #expect(Array(sets.anyValues) == [.int(1), .int(4)])
    }

    @Test("changes outside a write trap, also changes without effect O43 O44") func mistakes() async {
        let set = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let sets = ScalarSets(id: 1)
            try test.realm.write { test.realm.add(sets) }
            sets.ints.remove(1)
        }
        expectMessage(set, "'ScalarSets.ints' was changed outside a write transaction")
        let map = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let maps = ScalarMaps(id: 1)
            try test.realm.write { test.realm.add(maps) }
            maps.ints["a"] = nil
        }
        expectMessage(map, "'ScalarMaps.ints' was changed outside a write transaction")
    }
}
