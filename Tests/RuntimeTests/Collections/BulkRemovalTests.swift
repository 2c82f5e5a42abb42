import ConformanceModels
import Foundation
import MartletTestSupport
import Testing

@testable import Martlet

/// Calls that remove many elements of a set or map.
@Suite struct BulkRemovalTests {
    @Test("subtract and formIntersection remove elements of managed and unmanaged sets O43 O47")
    func sets() throws {
        let test = try TestRealm()
        for isManaged in [false, true] {
            let (one, other) = (ScalarSets(id: 1), ScalarSets(id: 2))
            if isManaged {
                try test.realm.beginWrite()
                test.realm.add([one, other])
            }
            one.strings.insert(objectsIn: ["a", "b", "c", "d", "e"])
            other.strings.insert(objectsIn: ["x", "b", "e", "d"])
            one.strings.subtract(other.strings)
            #expect(Array(one.strings) == ["a", "c"] && one.strings.contains("c") && !one.strings.contains("b"))
            one.strings.insert("b")
            one.strings.formIntersection(other.strings)
            #expect(Array(one.strings) == ["b"] && one.strings.index(of: "b") == 0)
            one.strings.insert("a")
            one.strings.formIntersection(one.strings)
            #expect(one.strings.count == 2)
            one.strings.subtract(one.strings)
            #expect(one.strings.isEmpty && other.strings.count == 4)
            one.strings.insert("b")
            #expect(one.strings.contains("b") && one.strings.count == 1)
            if isManaged { try test.realm.commitWrite() }
        }
        #expect(unfinishedStatement(test.realm.context.handle) == nil)
    }

    @Test("removeObjects(for:) accepts keys that repeat, and keys that the map does not contain O44 O47")
    func maps() throws {
        let test = try TestRealm()
        for isManaged in [false, true] {
            let maps = ScalarMaps(id: 1)
            if isManaged {
                try test.realm.beginWrite()
                test.realm.add(maps)
            }
            maps.ints.merge(["a": 1, "b": 2, "c": 3, "d": 4])
            maps.ints.removeObjects(for: ["d", "a", "zz", "a"])
            #expect(maps.ints.keys == ["b", "c"] && maps.ints["c"] == 3 && maps.ints["a"] == nil)
            maps.ints.removeObjects(for: [])
            maps.ints.removeObjects(for: maps.ints.keys)
            #expect(maps.ints.isEmpty)
            if isManaged { try test.realm.commitWrite() }
        }
    }

    @Test("removing several keys of a map deletes their embedded objects O21")
    func embedded() throws {
        let test = try TestRealm()
        let node = Node(id: 1, partsByName: ["a": Part(), "b": Part(name: "b"), "c": Part()])
        try test.realm.write { test.realm.add(node) }
        let gone = try #require(node.partsByName["a"] ?? nil)
        try test.realm.write { node.partsByName.removeObjects(for: ["a", "c"]) }
        #expect(gone.isInvalidated && node.partsByName.keys == ["b"])
        #expect(test.realm.context.integers("SELECT _key FROM Part", []).count == 1)
    }

    @Test("a call that removes several elements calls each key-value observer once K16")
    func observers() throws {
        let test = try TestRealm()
        let nodes = try test.nodes(5)
        try test.realm.write {
            nodes[0].peers.insert(objectsIn: nodes)
            nodes[1].peers.insert(objectsIn: [nodes[1], nodes[3]])
            for node in nodes { nodes[0].named["\(node.id)"] = node }
        }
        let recorder = nodes[0].recorder("peers", "named", options: [])
        try test.realm.write {
            nodes[0].peers.subtract(nodes[1].peers)
            nodes[0].named.removeObjects(for: ["1", "3"])
        }
        #expect(recorder.calls == ["peers", "named"])
        #expect(nodes[0].peers.map(\.id).sorted() == [1, 3, 5] && nodes[0].named.keys == ["2", "4", "5"])
    }

    @Test("one call can remove thousands of elements O43 O44", .timeLimit(.minutes(5)))
    func many() throws {
        let test = try TestRealm()
        let (sets, maps, other) = (ScalarSets(id: 1), ScalarMaps(id: 1), ScalarSets(id: 2))
        try test.realm.write {
            test.realm.add([sets, maps, other] as [Object])
            sets.ints.insert(objectsIn: 0..<12_000)
            other.ints.insert(objectsIn: (0..<12_000).filter { $0 % 3 != 0 })
            maps.ints.merge(Dictionary(uniqueKeysWithValues: (0..<12_000).map { ("\($0)", $0) }))
        }
        try test.realm.write {
            sets.ints.subtract(other.ints)
            maps.ints.removeObjects(for: maps.ints.keys.filter { !$0.hasSuffix("7") })
        }
        #expect(Array(sets.ints) == (0..<12_000).filter { $0 % 3 == 0 } && maps.ints.count == 1_200)
        let unmanaged = ScalarSets(id: 3)
        unmanaged.ints.insert(objectsIn: 0..<12_000)
        unmanaged.ints.formIntersection(other.ints)
        #expect(unmanaged.ints.count == 8_000)
    }
}
