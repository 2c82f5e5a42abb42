import ConformanceModels
import Foundation
import MartletTestSupport
import ModelTesting
import Testing

@testable import Martlet

/// Returns `initial`, the error, or the change set as text: the deletions, insertions and modifications as
/// `section.row`, the inserted sections after `+`, and the deleted sections after `-`.
private func text<C>(_ change: RealmSectionedResultsChange<C>) -> String {
    func rows(_ paths: [IndexPath]) -> String { "\(paths.map { "\($0[0]).\($0[1])" })".replacing("\"", with: "") }
    return switch change {
    case .initial: "initial"
    case .update(_, let deletions, let insertions, let modifications, let inserted, let deleted):
        "\(rows(deletions)) \(rows(insertions)) \(rows(modifications)) +\(Array(inserted)) -\(Array(deleted))"
    case .error(let error): "\(error)"
    }
}

/// A copy of the sections and their values. After the initial call, only the reported changes update the copy.
private final class Replica<Key: Hashable, Value: OrderedValue & RealmCollectionValue & Equatable> {
    struct Section: Equatable {
        let key: Key
        var values: [Value]
    }

    private(set) var sections: [Section] = []
    private(set) var calls = 0
    private(set) var mistakes: [String] = []
    var tokens: [NotificationToken] = []

    func apply(_ change: RealmSectionedResultsChange<SectionedValues<Key, Value>>) {
        calls += 1
        switch change {
        case .initial(let current): sections = Self.read(current)
        case .update(let current, let deletions, let insertions, let modifications, let inserted, let deleted):
            for path in deletions.sorted().reversed() { sections[path[0]].values.remove(at: path[1]) }
            for position in deleted.reversed() { sections.remove(at: position) }
            for position in inserted {
                sections.insert(Section(key: current.allKeys[position], values: []), at: position)
            }
            for path in insertions.sorted() { sections[path[0]].values.insert(current[path], at: path[1]) }
            if sections != Self.read(current) { mistakes.append("\(sections) is not \(Self.read(current))") }
            if !modifications.isEmpty { mistakes.append("values are reported as modified") }
            let changeCount = deletions.count + insertions.count + inserted.count + deleted.count
            if changeCount == 0 { mistakes.append("an empty change set") }
        case .error(let error): mistakes.append("\(error)")
        }
    }

    static func read(_ current: SectionedValues<Key, Value>) -> [Section] {
        current.map { Section(key: $0.key, values: Array($0)) }
    }
}

@Suite("observing sections of values")
struct ValueSectionTests {
    private func start(_ values: [Int]) throws -> (test: TestRealm, lists: ScalarLists, log: Log) {
        let test = try TestRealm()
        let lists = ScalarLists(id: 1, ints: values)
        try test.realm.write { test.realm.add(lists) }
        return (test, lists, Log())
    }

    private func expect(_ test: TestRealm, _ log: Log, _ lines: [String], _ location: SourceLocation = #_sourceLocation)
    {
        test.realm.refresh()
        #expect(log.take() == lines, sourceLocation: location)
    }

    @Test("inserting and deleting values inserts and deletes sections N60") func values() throws {
        let (test, lists, log) = try start([12, 3, 11, 3])
        log.tokens = [lists.ints.sectioned { $0 / 10 }.observe { log.lines.append(text($0)) }]
        expect(test, log, ["initial"])
        try test.realm.write { lists.ints.append(5) }
        expect(test, log, ["[] [0.2] [] +[] -[]"])
        // Removes one of two equal values.
        try test.realm.write { lists.ints.remove(at: 1) }
        expect(test, log, ["[0.1] [] [] +[] -[]"])
        try test.realm.write { lists.ints[0] = 30 }
        expect(test, log, ["[1.1] [2.0] [] +[2] -[]"])
        try test.realm.write { lists.ints.swapAt(0, 1) }
        expect(test, log, [])
        try test.onNewThread { realm in
            try realm.write { realm.object(ofType: ScalarLists.self, forPrimaryKey: 1)?.ints.insert(99, at: 0) }
        }
        expect(test, log, ["[] [3.0] [] +[3] -[]"])
        try test.realm.write { lists.int8s.append(1) }
        expect(test, log, [])
        try test.realm.write { test.realm.delete(lists) }
        expect(test, log, ["[] [] [] +[] -[0, 1, 2, 3]"])
        try test.realm.write { test.realm.add(ScalarLists(id: 1, ints: [1])) }
        expect(test, log, [])
    }

    @Test("an observer of one section of values is called for that section only N60") func oneSection() throws {
        let (test, lists, log) = try start([12, 3, 11])
        let section = try #require(lists.ints.sectioned { $0 / 10 }.section(forKey: 1))
        log.tokens = [
            section.observe { change in
                if case .update(let current, _, _, _, _, _) = change {
                    log.lines.append("\(current.key) \(Array(current))")
                }
                log.lines.append(text(change))
            }
        ]
        expect(test, log, ["initial"])
        try test.realm.write { lists.ints.append(7) }
        expect(test, log, [])
        try test.realm.write { lists.ints.append(10) }
        expect(test, log, ["1 [10, 11, 12]", "[] [1.0] [] +[] -[]"])
        try test.realm.write { lists.ints.removeAll() }
        expect(test, log, ["1 []", "[] [] [] +[] -[1]"])
    }

    @Test("a silent write is not reported, not even with later changes N60 N111") func silence() throws {
        let (test, lists, log) = try start([10])
        let token = lists.ints.sectioned { $0 }.observe { log.lines.append(text($0)) }
        log.tokens = [token]
        expect(test, log, ["initial"])
        try test.realm.write(withoutNotifying: [token]) { lists.ints.append(7) }
        expect(test, log, [])
        try test.realm.write { lists.ints.append(8) }
        expect(test, log, ["[] [1.0] [] +[1] -[]"])
    }

    @Test("a write in the callback of another observer is reported in a separate change set N60") func nested() throws {
        let (test, lists, log) = try start([0])
        log.tokens = [
            lists.ints.observe { change in
                guard case .update(let list, _, _, _) = change, list.count < 4 else { return }
                try? test.realm.write { list.append(list.count) }
            },
            lists.ints.sectioned { $0 }.observe { log.lines.append(text($0)) },
        ]
        expect(test, log, ["initial"])
        try test.realm.write { lists.ints.append(1) }
        test.deliverAll()
        expect(test, log, (1...3).map { "[] [\($0).0] [] +[\($0)] -[]" })
    }

    @Test("applying the change sets of random values to old sections results in the new sections N60")
    func random() throws {
        let test = try TestRealm()
        let (lists, sets, maps) = (OptionalLists(id: 1), ScalarSets(id: 1), ScalarMaps(id: 1))
        try test.realm.write {
            test.realm.add(lists)
            test.realm.add(sets)
            test.realm.add(maps)
        }
        let (optional, descending, set, map) = (
            Replica<Int, Int?>(), Replica<Int, Int?>(), Replica<Int, Int>(), Replica<Int, Int>()
        )
        optional.tokens = [
            lists.ints.sectioned { ($0 ?? -1) / 4 }.observe { optional.apply($0) },
            lists.ints.sectioned(by: { ($0 ?? -1) % 3 }, ascending: false).observe { descending.apply($0) },
            sets.ints.sectioned { $0 / 4 }.observe { set.apply($0) },
            maps.ints.sectioned { $0 / 4 }.observe { map.apply($0) },
        ]
        test.realm.refresh()
        var random = SeededRandom(seed: 7)
        for _ in 0..<300 {
            try test.realm.write {
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let value = Int.random(in: 0..<16, using: &random)
                    let ints = lists.ints
                    switch Int.random(in: 0..<7, using: &random) {
                    case 0, 1:
                        ints.insert(value == 0 ? nil : value, at: Int.random(in: 0...ints.count, using: &random))
                    case 2 where !ints.isEmpty: ints.remove(at: Int.random(in: 0..<ints.count, using: &random))
                    case 3: sets.ints.insert(value)
                    case 4: sets.ints.remove(value)
                    case 5: maps.ints["\(value % 5)"] = value
                    default: maps.ints.removeObject(for: "\(value % 5)")
                    }
                }
            }
            test.realm.refresh()
            #expect(optional.sections.flatMap(\.values).count == lists.ints.count)
        }
        #expect(
            optional.sections == Replica.read(lists.ints.sectioned { ($0 ?? -1) / 4 }) && !optional.sections.isEmpty)
        #expect(
            descending.sections == Replica.read(lists.ints.sectioned(by: { ($0 ?? -1) % 3 }, ascending: false)))
        #expect(set.sections == Replica.read(sets.ints.sectioned { $0 / 4 }))
        #expect(map.sections == Replica.read(maps.ints.sectioned { $0 / 4 }))
        #expect(optional.calls > 50 && set.calls > 50 && map.calls > 50)
        #expect((optional.mistakes + descending.mistakes + set.mistakes + map.mistakes).isEmpty)
    }

    @Test("sections of values can be frozen and thawed N60 N125") func frozen() throws {
        let (test, lists, _) = try start([12, 3, 11])
        let sections = lists.ints.sectioned { $0 / 10 }
        let section = try #require(sections.section(forKey: 1))
        let (frozen, part) = (sections.freeze(), section.freeze())
        try test.realm.write { lists.ints.removeAll() }
        #expect(sections.isEmpty && frozen.allKeys == [0, 1] && Array(part) == [11, 12] && part.isFrozen)
        #expect(frozen.realm?.isFrozen == true && frozen.thaw()?.isEmpty == true && !frozen.isInvalidated)
        try test.realm.write { test.realm.delete(lists) }
        #expect(sections.isInvalidated && !frozen.isInvalidated && frozen.thaw() == nil)
    }

    @Test("observing sections of values traps if the list is unmanaged or if key paths are given N60")
    func mistakes() async {
        let unmanaged = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = ScalarLists(ints: [1]).ints.sectioned { $0 }.observe { _ in }
        }
        expectMessage(unmanaged, "an unmanaged 'List<Int>' was observed. Add it to a Realm first")
        let keyPath = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (_, lists, _) = try ValueSectionTests().start([1])
            _ = lists.ints.sectioned { $0 }.observe(keyPaths: ["name"]) { _ in }
        }
        expectMessage(keyPath, "the key path 'name' cannot be observed")
    }
}
