import ConformanceModels
import Foundation
import Martlet
import MartletEngine
import MartletTestSupport
import ModelTesting
import Testing

@testable import Martlet

/// Reads first and last members of results, and ends loops early. The runtime must not read the keys of all members.
@Suite("first and last members of results")
struct WindowTests {
    /// A query. Each call of `make` returns new results, which have not read any keys.
    private struct Plan {
        let make: (Realm) -> Results<Node>
    }

    private static func plan(_ random: inout SeededRandom) -> Plan {
        let amounts: [Double] = [0, 1, 2.5, -1]
        let amount = amounts.randomElement(using: &random) ?? 0
        let condition = Int.random(in: 0..<5, using: &random)
        let sort = Int.random(in: 0..<5, using: &random)
        let ascending = Bool.random(using: &random)
        let limits = (0..<Int.random(in: 0...2, using: &random)).map { _ in
            (
                [0, 1, 5, 40, 200, 10_000].randomElement(using: &random) ?? 0,
                [0, 0, 3, 100, 900].randomElement(using: &random) ?? 0
            )
        }
        let filtersLast = Int.random(in: 0..<5, using: &random) == 0
        return Plan { realm in
            var results = realm.objects(Node.self)
            switch condition {
            case 0: results = results.where { $0.amount >= amount }
            case 1: results = results.where { $0.id > 250 || $0.amount == amount }
            case 2: results = results.where { $0.id < 40 }
            default: break
            }
            switch sort {
            case 0: results = results.sorted(byKeyPath: "amount", ascending: ascending)
            case 1: results = results.sorted(byKeyPath: "id", ascending: ascending)
            case 2: results = results.sorted(byKeyPath: "next.amount", ascending: ascending)
            case 3:
                results = results.sorted(by: [
                    RealmSortDescriptor(keyPath: "name", ascending: ascending),
                    RealmSortDescriptor(keyPath: "amount", ascending: !ascending),
                ])
            default: break
            }
            for (count, offset) in limits { results = results.limit(count, offset: offset) }
            if filtersLast { results = results.where { $0.amount != amount } }
            return results
        }
    }

    private static func fill(_ realm: Realm, _ random: inout SeededRandom, count: Int) throws {
        let amounts: [Double] = [0, -0.0, 1, 2.5, .nan, -1, .infinity]
        try realm.write {
            var nodes: [Node] = []
            for id in 0..<count {
                let node = Node(id: id)
                node.amount = amounts.randomElement(using: &random) ?? 0
                node.name = ["", "a", "b"].randomElement(using: &random) ?? ""
                if Bool.random(using: &random) { node.next = nodes.randomElement(using: &random) }
                nodes.append(node)
            }
            realm.add(nodes)
        }
    }

    @Test("the first and last members are correct, whichever function reads them N130 O52 O55", arguments: 1...8)
    func random(_ seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let test = try TestRealm()
        let count = [10, 31, 32, 33, 127, 128, 129, 600][seed - 1]
        try Self.fill(test.realm, &random, count: count)
        for _ in 0..<40 {
            let plan = Self.plan(&random)
            var realm = test.realm
            if Int.random(in: 0..<4, using: &random) == 0 { realm = realm.freeze() }
            let isWriting = !realm.isFrozen && Int.random(in: 0..<4, using: &random) == 0
            if isWriting {
                try realm.beginWrite()
                realm.objects(Node.self).last?.amount = 0.5
                realm.add(Node(id: 10 * count + Int.random(in: 0..<1_000_000, using: &random)))
            }
            defer { if isWriting { realm.cancelWrite() } }
            // `Array` of the keys of the whole result.
            let all = plan.make(realm)
            _ = all.index(of: realm.objects(Node.self)[0])
            let ids = (0..<all.count).map { all[$0].id }
            #expect(plan.make(realm).map(\.id) == ids)
            #expect(plan.make(realm).last?.id == ids.last && plan.make(realm).first?.id == ids.first)
            #expect(plan.make(realm).count == ids.count)
            if let node = realm.objects(Node.self).randomElement(using: &random) {
                #expect(plan.make(realm).contains(node) == ids.contains(node.id))
                #expect(all.contains(node) == ids.contains(node.id) && !all.contains(Node(id: node.id)))
                if realm.isFrozen, let live = test.realm.object(ofType: Node.self, forPrimaryKey: node.id) {
                    #expect(all.contains(live) == all.contains { $0 == live })
                }
            }
            let length = Int.random(in: 0...ids.count + 2, using: &random)
            #expect(plan.make(realm).prefix(length).map(\.id) == Array(ids.prefix(length)))
            #expect(plan.make(realm).suffix(length).map(\.id) == Array(ids.suffix(length)))
            #expect(plan.make(realm).reversed().prefix(length).map(\.id) == Array(ids.reversed().prefix(length)))
            if let position = ids.indices.randomElement(using: &random) {
                let results = plan.make(realm)
                if Bool.random(using: &random) { _ = results.count }
                #expect(results[position].id == ids[position])
            }
            expectProjections(ids, length) { plan.make(realm).projected(NodeProjection.self) }
            var visited: [Int] = []
            for node in plan.make(realm) {
                visited.append(node.id)
                if visited.count == length { break }
            }
            #expect(visited == (length == 0 ? ids : Array(ids.prefix(length))))
        }
    }

    private func expectProjections(_ ids: [Int], _ length: Int, _ make: () -> ProjectedResults<NodeProjection>) {
        let id = { (projection: NodeProjection) in projection.rootObject.id }
        #expect(make().first.map(id) == ids.first && make().last.map(id) == ids.last)
        #expect(make().isEmpty == ids.isEmpty && make().map(id) == ids)
        #expect(make().prefix(length).map(id) == Array(ids.prefix(length)))
        #expect(make().suffix(length).map(id) == Array(ids.suffix(length)))
        let range = min(length, ids.count) / 2..<min(length, ids.count)
        #expect(make()[range].map(id) == Array(ids[range]) && make()[range].startIndex == range.lowerBound)
    }

    @Test(
        "a loop visits the initial members, whatever its body changes while part of the members are read N130",
        arguments: 1...6)
    func changes(_ seed: Int) throws {
        var random = SeededRandom(seed: UInt64(100 + seed))
        let test = try TestRealm()
        try Self.fill(test.realm, &random, count: 300)
        for _ in 0..<12 {
            let plan = Self.plan(&random)
            let initial = plan.make(test.realm).map(\.id)
            let change = Int.random(in: 0...max(0, initial.count - 1), using: &random)
            let kind = Int.random(in: 0..<5, using: &random)
            var visited = 0
            for node in plan.make(test.realm) {
                if !node.isInvalidated { #expect(node.id == initial[visited]) }
                if visited == change {
                    switch kind {
                    case 0: try test.realm.write { node.amount = 7 }
                    case 1:
                        try test.realm.write {
                            test.realm.delete(
                                test.realm.objects(Node.self).where { $0.id.in([3, 10, 17, 24, 31, 38, 45, 200]) })
                            test.realm.add(Node(id: Int.random(in: 1_000..<1_000_000, using: &random)))
                        }
                    case 2:
                        let id = Int.random(in: 1_000..<1_000_000, using: &random)
                        try test.onNewThread { realm in try realm.write { realm.add(Node(id: id)) } }
                        test.realm.refresh()
                    case 3: test.realm.invalidate()
                    default: _ = plan.make(test.realm).count
                    }
                }
                visited += 1
                if kind == 3, visited > change { break }
            }
            #expect(visited == (kind == 3 ? min(change + 1, initial.count) : initial.count))
        }
    }

    /// The number of SQLite steps of `body` with results of a type with `count` objects.
    private func cost(_ count: Int, _ body: (Results<Node>) -> Void) throws -> Int {
        var random = SeededRandom(seed: 1)
        let test = try TestRealm()
        try Self.fill(test.realm, &random, count: count)
        return steps(test.realm.context.handle) { body(test.realm.objects(Node.self)) }
    }

    @Test("the cost of reading the first and last members does not depend on the number of members O52 O55")
    func costs() throws {
        let questions: [(Results<Node>) -> Void] = [
            { #expect($0.limit(10).map(\.id).count == 10) },
            { #expect($0.where { $0.amount != 5 }.contains($0[3]) && $0.sorted(byKeyPath: "name").contains($0[4])) },
            { #expect($0.where { $0.amount != 5 }.limit(10, offset: 5).map(\.id).count == 10) },
            { #expect($0.where { $0.amount != 5 }.limit(10).count == 10) },
            { #expect($0.sorted(byKeyPath: "id", ascending: false).limit(10).where { $0.amount != 5 }.count == 10) },
            { #expect($0.last != nil && $0.sorted(byKeyPath: "id", ascending: false).last != nil) },
            { #expect($0.where { $0.amount != 5 }.prefix(10).map(\.id).count == 10) },
            { #expect($0.where { $0.amount != 5 }[3..<10].map(\.id).count == 7) },
            { for node in $0.where({ $0.amount != 5 }) where node.id >= 0 { break } },
            { for node in $0.sorted(byKeyPath: "id", ascending: false) where node.id >= 0 { break } },
        ]
        for (number, question) in questions.enumerated() {
            // A query that reads all 8,000 objects needs more than 40,000 steps.
            let (few, many) = (try cost(400, question), try cost(8_000, question))
            #expect(
                few > 0 && many < few + 2_000, "question \(number): \(few) steps with 400 objects, \(many) with 8,000")
        }
    }
}
