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
}
