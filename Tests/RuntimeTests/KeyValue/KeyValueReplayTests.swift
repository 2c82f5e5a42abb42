import ConformanceModels
import Foundation
import MartletTestSupport
import ModelTesting
import Testing

@testable import Martlet

/// An observer that keeps a copy of a list, and updates the copy from its notifications. It copies the list again only
/// for a setting, because a setting has no positions.
private final class ListMirror: KeyValueObserver {
    private(set) var elements: [Int]
    private(set) var calls = 0
    private let list: List<Int>

    init(_ list: List<Int>) {
        self.list = list
        elements = Array(list)
    }

    func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) {
        calls += 1
        let kind = (change?[.kindKey] as? UInt).flatMap(KeyValueChangeKind.init)
        let indexes = change?[.indexesKey] as? IndexSet ?? []
        let (old, new) = (change?[.oldKey] as? [Int] ?? [], change?[.newKey] as? [Int] ?? [])
        switch kind {
        case .insertion:
            for (index, value) in zip(indexes, new) { elements.insert(value, at: index) }
        case .removal:
            #expect(old == indexes.map { elements[$0] })
            for index in indexes.reversed() { elements.remove(at: index) }
        case .replacement:
            #expect(old == indexes.map { elements[$0] })
            for (index, value) in zip(indexes, new) { elements[index] = value }
        default:
            #expect(old == elements)
            elements = Array(list)
        }
    }
}

@Suite("Key-value: replay")
struct KeyValueReplayTests {
    private static func edit(_ list: List<Int>, _ random: inout SeededRandom) {
        let count = list.count
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1:
            list.insert(Int.random(in: 0..<100, using: &random), at: Int.random(in: 0...count, using: &random))
        case 3 where count > 0:
            list.remove(at: Int.random(in: 0..<count, using: &random))
        case 4 where count > 0:
            list[Int.random(in: 0..<count, using: &random)] = Int.random(in: 0..<100, using: &random)
        case 5 where count > 0:
            list.move(from: Int.random(in: 0..<count, using: &random), to: Int.random(in: 0..<count, using: &random))
        case 6 where count > 0:
            list.swapAt(Int.random(in: 0..<count, using: &random), Int.random(in: 0..<count, using: &random))
        case 7 where count > 12: list.removeAll()
        default: list.append(count)
        }
    }

    @Test("replaying the notifications reproduces the list K12 K13 K14 K27", arguments: 1...12)
    func managed(seed: UInt64) throws {
        let test = try TestRealm()
        let owner = ScalarLists(id: 1, ints: [1, 2, 3])
        try test.realm.write { test.realm.add(owner) }
        let mirror = ListMirror(owner.ints)
        owner.addObserver(mirror, forKeyPath: "ints", options: [.old, .new])
        var random = SeededRandom(seed: seed)
        for _ in 0..<25 {
            let edits = Int.random(in: 1...4, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: try test.realm.write { for _ in 0..<edits { Self.edit(owner.ints, &random) } }
            case 1:
                try test.realm.beginWrite()
                for _ in 0..<edits { Self.edit(owner.ints, &random) }
                test.realm.cancelWrite()
            default:
                let isRefresh = Bool.random(using: &random)
                var remote = random
                try test.onNewThread { realm in
                    guard let list = realm.object(ofType: ScalarLists.self, forPrimaryKey: 1)?.ints else { return }
                    try realm.write { for _ in 0..<edits { Self.edit(list, &remote) } }
                }
                random = remote
                if isRefresh { test.realm.refresh() } else { try test.realm.write {} }
            }
            #expect(mirror.elements == Array(owner.ints))
        }
        #expect(mirror.calls > 0)
        owner.removeObserver(mirror, forKeyPath: "ints")
    }

    @Test("replaying the notifications of an unmanaged list reproduces the list K2", arguments: 1...4)
    func unmanaged(seed: UInt64) {
        let owner = ScalarLists(id: 1, ints: [1, 2, 3])
        let mirror = ListMirror(owner.ints)
        owner.addObserver(mirror, forKeyPath: "ints", options: [.old, .new])
        var random = SeededRandom(seed: seed)
        for _ in 0..<200 {
            Self.edit(owner.ints, &random)
            #expect(mirror.elements == Array(owner.ints))
        }
    }
}
