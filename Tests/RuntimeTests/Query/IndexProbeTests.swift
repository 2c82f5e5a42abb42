import ConformanceModels
import Foundation
import MartletTestSupport
import ModelTesting
import Testing

@testable import Martlet

/// Conditions on indexed properties. How the query is compiled depends on whether few or many rows satisfy the
/// condition. The results must be the same as those of a closure.
@Suite struct IndexProbeTests {
    private static let names = [
        "", "a", "ab", "abc", "b", "\u{D7FF}", "\u{D7FF}x", "\u{E000}", "\u{10FFFF}", "\u{10FFFF}x",
        "\u{10FFFF}\u{10FFFF}",
        "x\0y", "x\0z", "é", "e\u{301}", "ab\u{10FFFF}", "ac",
    ]

    private func fill(_ test: TestRealm, _ random: inout SeededRandom) throws {
        try test.realm.write {
            for id in 0..<2_000 {
                let name = id % 50 == 0 ? Self.names.randomElement(using: &random) ?? "" : "n\(id % 900)"
                let object = Indexed(
                    id: id * 3, name: name, count: id % 7 == 0 ? nil : Int.random(in: 0..<5_000, using: &random))
                object.day = Date(timeIntervalSinceReferenceDate: [0, -0.0, .nan, .infinity, Double(id)][id % 5])
                object.code = "c\(id)"
                (object.row, object.column) = (id, id % 10)
                test.realm.add(object)
            }
        }
    }

    private func check(
        _ results: Results<Indexed>, _ isMember: (Indexed) -> Bool, _ all: [Indexed], _ place: Comment
    ) {
        let expected = all.filter(isMember).map(\.id)
        #expect(results.map(\.id) == expected, place)
        #expect(results.first?.id == expected.first, place)
        #expect(results.last?.id == expected.last, place)
        #expect(results.limit(3).map(\.id) == Array(expected.prefix(3)), place)
        #expect(results.limit(40, offset: 2).map(\.id) == Array(expected.dropFirst(2).prefix(40)), place)
        #expect(results.count == expected.count, place)
        var ids: [Int] = []
        for object in results {
            ids.append(object.id)
            if ids.count == 40 { break }
        }
        #expect(ids == Array(expected.prefix(40)), place)
        for isAscending in [true, false] { checkSorted(results, all.filter(isMember), isAscending, place) }
    }

    // The results are sorted by an indexed property, by two properties, and by a property that is not the first of its
    // index.
    private func checkSorted(
        _ results: Results<Indexed>, _ members: [Indexed], _ isAscending: Bool, _ place: Comment
    ) {
        func expected(_ isBefore: (Indexed, Indexed) -> Bool) -> [Int] {
            let sorted = members.sorted(by: isBefore)
            return (isAscending ? sorted : sorted.reversed()).map(\.id)
        }
        let byCode = results.sorted(byKeyPath: "code", ascending: isAscending)
        let codes = expected { ($0.code ?? "").utf8.lexicographicallyPrecedes(($1.code ?? "").utf8) }
        #expect(byCode.map(\.id) == codes, place)
        #expect(byCode.first?.id == codes.first && byCode.last?.id == codes.last, place)
        #expect(byCode.limit(5, offset: 1).map(\.id) == Array(codes.dropFirst().prefix(5)), place)
        let byCount = results.sorted(by: [
            SortDescriptor(keyPath: "count", ascending: isAscending),
            SortDescriptor(keyPath: "id", ascending: isAscending),
        ])
        #expect(byCount.map(\.id) == expected { ($0.count ?? .min, $0.id) < ($1.count ?? .min, $1.id) }, place)
        let byColumn = results.sorted(by: [
            SortDescriptor(keyPath: "column", ascending: isAscending),
            SortDescriptor(keyPath: "id", ascending: isAscending),
        ])
        #expect(byColumn.map(\.id) == expected { ($0.column ?? .min, $0.id) < ($1.column ?? .min, $1.id) }, place)
    }

    @Test("conditions on indexes find the same objects whether few or many rows match O54 O79", arguments: 0..<2)
    func ranges(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let test = try TestRealm()
        try fill(test, &random)
        let objects = test.realm.objects(Indexed.self)
        for isInWrite in [false, true] {
            if isInWrite { try test.realm.beginWrite() }
            let all = Array(objects)
            for _ in 0..<6 {
                let low = Int.random(in: -10..<5_010, using: &random)
                let high = low + [0, 1, 40, 400, 6_000].randomElement(using: &random)!
                check(
                    objects.where { $0.count >= low && $0.count < high },
                    {
                        $0.count.map { $0 >= low && $0 < high } ?? false
                    }, all, "\(low) to \(high)")
                check(
                    objects.where { $0.count.contains(low...high) && $0.id < 3_000 },
                    {
                        $0.id < 3_000 && $0.count.map { $0 >= low && $0 <= high } ?? false
                    }, all, "\(low) to \(high) and an id")
                check(
                    objects.where { $0.count > high || $0.name == "n7" },
                    {
                        $0.name == "n7" || $0.count.map { $0 > high } ?? false
                    }, all, "above \(high) or n7")
                check(
                    objects.where { $0.count.in([low, high, nil]) },
                    {
                        $0.count == low || $0.count == high || $0.count == nil
                    }, all, "in \(low), \(high), nil")
                check(objects.where { !($0.count < low) }, { !($0.count.map { $0 < low } ?? false) }, all, "not below")
                let day = Date(timeIntervalSinceReferenceDate: Double(low))
                check(
                    objects.where { $0.day > day }, { $0.day.timeIntervalSinceReferenceDate > Double(low) }, all,
                    "after \(day)")
                check(
                    objects.where { $0.day <= day && $0.row != 5 },
                    {
                        $0.day.timeIntervalSinceReferenceDate <= Double(low) && $0.row != 5
                    }, all, "until")
            }
            for prefix in Self.names + ["n", "n1", "n12", "n123", "zzz"] {
                let isMember: (Indexed) -> Bool = { $0.name.utf8.starts(with: prefix.utf8) }
                check(
                    objects.where { $0.name.starts(with: prefix) }, isMember, all,
                    "begins with \(prefix.debugDescription)")
                check(objects.where { !$0.name.starts(with: prefix) }, { !isMember($0) }, all, "does not begin")
                check(
                    objects.where { $0.name >= prefix && $0.column == 3 },
                    {
                        !$0.name.utf8.lexicographicallyPrecedes(prefix.utf8) && $0.column == 3
                    }, all, "from \(prefix.debugDescription)")
            }
            if isInWrite { test.realm.cancelWrite() }
        }
    }

    @Test("conditions on the key of a link find the same objects as a closure O54") func links() throws {
        let test = try TestRealm()
        try test.realm.write {
            let nodes = (0..<300).map { Node(id: $0, name: "\($0 % 7)") }
            for node in nodes where node.id % 3 != 0 { node.next = nodes[node.id / 2 % 11] }
            test.realm.add(nodes)
        }
        let nodes = test.realm.objects(Node.self)
        func check(_ results: Results<Node>, _ isMember: (Node) -> Bool, _ place: Comment) {
            #expect(results.map(\.id) == Array(nodes).filter(isMember).map(\.id), place)
            #expect(results.first?.id == Array(nodes).first(where: isMember)?.id, place)
        }
        for id in [-1, 0, 3, 10, 11] {
            check(nodes.where { $0.next.id == id }, { $0.next?.id == id }, "== \(id)")
            check(nodes.where { $0.next.id != id }, { $0.next?.id != id }, "!= \(id)")
            check(nodes.where { !($0.next.id == id) }, { $0.next?.id != id }, "! == \(id)")
            check(nodes.where { $0.next.id > id }, { $0.next.map { $0.id > id } ?? false }, "> \(id)")
            check(nodes.where { $0.next.next.id == id }, { $0.next?.next?.id == id }, "next.next \(id)")
            check(nodes.where { $0.next.id == id || $0.id == 7 }, { $0.next?.id == id || $0.id == 7 }, "or \(id)")
            check(nodes.where { $0.next.id.in([id, 5]) }, { [id, 5].contains($0.next?.id ?? -9) }, "in \(id)")
        }
    }
}
