import ConformanceModels
import MartletTestSupport
import Testing

@testable import Martlet
@testable import MartletEngine

/// Loops over values and over entries of maps read a long collection in blocks.
@Suite("loops over values") struct ValueLoopTests {
    private let count = 1_300
    private let test: TestRealm
    private let lists = ScalarLists()
    private let maps = ScalarMaps()
    private let sets = ScalarSets()

    init() throws {
        test = try TestRealm { $0.environment.chunkLimit = 64 }
        try test.realm.write {
            test.realm.add(lists)
            test.realm.add(maps)
            test.realm.add(sets)
            lists.strings.append(objectsIn: (0..<count).map { "\($0)" })
            sets.ints.insert(objectsIn: 0..<count)
            for number in 0..<count { maps.ints["\(number)"] = number }
        }
    }

    private func discard() {
        for core in test.realm.context.collections.values.compactMap(\.core) { core.discardElements() }
    }

    private enum Change: CaseIterable { case nothing, write, writeOfOther, deletion, invalidation }

    private func perform(_ change: Change) throws {
        switch change {
        case .nothing: break
        case .write:
            try test.realm.write {
                lists.strings.removeAll()
                maps.ints.removeAll()
                sets.ints.removeAll()
            }
        case .writeOfOther:
            try test.onNewThread { realm in
                try realm.write {
                    realm.objects(ScalarLists.self).first?.strings.removeSubrange(3..<700)
                    realm.objects(ScalarMaps.self).first?.ints["7"] = nil
                    realm.objects(ScalarSets.self).first?.ints.removeAll()
                }
            }
            test.realm.refresh()
        case .deletion: try test.realm.write { test.realm.deleteAll() }
        case .invalidation: test.realm.invalidate()
        }
    }

    @Test(
        "a loop visits the initial elements, even if the collection changes meanwhile N130",
        arguments: [0, 1, 511, 512, 600, 1_299], [0, 1, 2, 3, 4])
    func changes(_ position: Int, _ number: Int) throws {
        let change = Change.allCases[number]
        discard()
        var strings = lists.strings.makeIterator()
        var entries = maps.ints.makeIterator()
        var ints = sets.ints.makeIterator()
        for index in 0..<count {
            if index == position { try perform(change) }
            let (string, entry, int) = (strings.next(), entries.next(), ints.next())
            try #require(string == "\(index)" && int == index)
            try #require(entry?.key == "\(index)" && entry?.value == index)
        }
        let (string, entry, int) = (strings.next(), entries.next(), ints.next())
        #expect(string == nil && entry == nil && int == nil)
    }

    @Test("a loop over a frozen collection visits all elements N130") func frozen() throws {
        let frozen = (lists.freeze(), maps.freeze(), sets.freeze())
        try perform(.write)
        #expect(frozen.0.strings.map { $0 } == (0..<count).map { "\($0)" })
        #expect(frozen.1.ints.map(\.value) == Array(0..<count))
        #expect(frozen.2.ints.map { $0 } == Array(0..<count))
    }

    @Test("a loop inside a write visits the initial elements N130") func insideWrite() throws {
        try test.realm.write {
            var seen = 0
            for (key, value) in maps.ints {
                #expect(key == "\(value)")
                maps.ints[key] = nil
                seen += 1
            }
            #expect(seen == count && maps.ints.isEmpty)
        }
    }

    @Test("the first step of a loop reads one block, and not the whole collection") func firstStep() throws {
        discard()
        for (_, _) in maps.ints { break }
        let core = test.realm.context.collections.values.compactMap(\.core).first { $0.name == "ScalarMaps.ints" }
        let loaded = core?.elements?.chunks.count { $0.elements != nil }
        #expect(loaded ?? 0 > 0 && loaded ?? 0 < 12)
    }

    @Test("a loop over a map of objects visits repeated, absent and deleted objects N130", arguments: [0, 5, 300])
    func objects(_ position: Int) throws {
        let nodes = (0..<200).map { Node(id: $0) }
        let keys = (0..<700).map { "\($0)" }
        let ids = keys.indices.map { $0 % 7 == 3 ? nil : $0 * 13 % 200 }
        try test.realm.write {
            test.realm.add(nodes)
            for (key, id) in zip(keys, ids) { nodes[0].named[key] = .some(id.map { nodes[$0] }) }
        }
        let map = nodes[0].named
        #expect(map.keys == keys && map.values.map { $0?.id } == ids)
        discard()
        #expect(map.keys == keys)
        var found: [(key: String, node: Node?)] = []
        for entry in map {
            found.append((entry.key, entry.value))
            if found.count == position + 1 {
                try test.realm.write {
                    test.realm.delete(nodes[11])
                    map["9"] = nil
                    nodes[2].name = "written"
                }
            }
        }
        #expect(found.map(\.key) == keys)
        for (id, node) in zip(ids, found.map(\.node)) where id != 11 {
            #expect(node === id.map { nodes[$0] })
        }
        for (id, node) in zip(ids, found.map(\.node)) where id == 11 { #expect(node?.isInvalidated == true) }
        try test.realm.write {
            var rest = map.count
            for (key, _) in map {
                map[key] = nil
                rest -= 1
                #expect(map.count == rest)
            }
        }
        #expect(map.isEmpty)
    }

    @Test("numbers of a list, set and map are added without absent values and NaN O53") func sums() throws {
        let (optional, lists, maps) = (OptionalLists(), ScalarLists(), ScalarMaps())
        let doubles: [Double?] = [1.5, nil, .nan, -0.0, 2, -.nan]
        try test.realm.write {
            test.realm.deleteAll()
            test.realm.add(optional)
            test.realm.add(lists)
            test.realm.add(maps)
            optional.doubles.append(objectsIn: doubles)
            optional.ints.append(objectsIn: [3, nil, 4])
            lists.floats.append(objectsIn: [0.5, .nan, 1])
            lists.decimal128s.append(objectsIn: [1, .nan, Decimal128("2.50")])
            for (number, value) in doubles.compactMap(\.self).enumerated() { maps.doubles["\(number)"] = value }
        }
        #expect(optional.doubles.sum() == 3.5 && optional.doubles.average() == 3.5 / 3)
        #expect(optional.ints.sum() == 7 && optional.ints.average() == 3.5)
        #expect(lists.floats.sum() == 1.5 && lists.floats.average() == 0.75)
        #expect(lists.decimal128s.sum() == Decimal128("3.50"))
        #expect(maps.doubles.sum() == 3.5 && maps.doubles.average() == 3.5 / 3)
        let unmanaged = ScalarLists()
        unmanaged.floats.append(objectsIn: [0.5, .nan, 1])
        #expect(unmanaged.floats.sum() == 1.5)
        let list = lists.floats
        try test.realm.write { test.realm.delete(lists) }
        #expect(list.sum() == 0 && list.average() == nil)
    }
}
