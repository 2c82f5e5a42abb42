import ConformanceModels
import Foundation
import Martlet
import MartletTestSupport
import Testing

/// What the queried rows hold, and what a condition means in plain Swift.
private struct Row {
    var id = 0
    var int: Int?
    var double: Double?
    var string: String?
    var next: Int?
    var children: [Int] = []
}

private typealias Condition = (query: Query<Node>, holds: (Row, [Row]) -> Bool)

private enum Pool {
    static let names = ["", "a", "ab", "b", "\u{e9}", "e\u{301}", "a\0", "B", "zz"]
    static let amounts: [Double] = [0, -0.0, 1, 2, 2.5, .nan, .infinity, -1]
}

@Suite struct RandomQueryTests {
    private func comparison(_ random: inout Seeded) -> Condition {
        let fields = Node.fields
        let name = Pool.names.randomElement(using: &random) ?? ""
        let amount = Pool.amounts.randomElement(using: &random) ?? 0
        let id = Int.random(in: -1...12, using: &random)
        func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
        switch Int.random(in: 0..<18, using: &random) {
        case 0: return (fields.name == name, { row, _ in bytes(row.string ?? "") == bytes(name) })
        case 1: return (fields.name != name, { row, _ in bytes(row.string ?? "") != bytes(name) })
        case 2:
            return (fields.name < name, { row, _ in bytes(row.string ?? "").lexicographicallyPrecedes(bytes(name)) })
        case 3: return (fields.name.starts(with: name), { row, _ in bytes(row.string ?? "").starts(with: bytes(name)) })
        case 4: return (fields.amount == amount, { row, _ in row.double == amount })
        case 5: return (fields.amount != amount, { row, _ in row.double != amount })
        case 6: return (fields.amount >= amount, { row, _ in (row.double ?? 0) >= amount })
        case 7: return (fields.amount < amount, { row, _ in (row.double ?? 0) < amount })
        case 8: return (fields.id.in([id, id + 3]), { row, _ in row.id == id || row.id == id + 3 })
        case 9: return (fields.id.contains(id...(id + 2)), { row, _ in (id...(id + 2)).contains(row.id) })
        case 10: return (fields.next == nil, { row, _ in row.next == nil })
        case 11:
            return (
                fields.next.name == name,
                { row, rows in row.next.map { bytes(rows[$0].string ?? "") == bytes(name) } ?? false }
            )
        case 12:
            return (fields.next.amount != amount, { row, rows in row.next.map { rows[$0].double != amount } ?? true })
        case 13:
            return (
                fields.next.amount < fields.amount,
                { row, rows in row.next.map { (rows[$0].double ?? 0) < (row.double ?? 0) } ?? false }
            )
        case 14:
            return (
                fields.children.amount > amount,
                { row, rows in row.children.contains { (rows[$0].double ?? 0) > amount } }
            )
        case 15: return (fields.children.count > id % 4, { row, _ in row.children.count > id % 4 })
        case 16: return (fields.part.weight == nil, { row, _ in row.int == nil })
        default: return (fields.part.weight > amount, { row, _ in row.int.map { Double($0) > amount } ?? false })
        }
    }

    private func condition(_ random: inout Seeded, depth: Int) -> Condition {
        if depth == 0 { return comparison(&random) }
        let (a, b) = (condition(&random, depth: depth - 1), condition(&random, depth: depth - 1))
        switch Int.random(in: 0..<3, using: &random) {
        case 0: return (a.query && b.query, { a.holds($0, $1) && b.holds($0, $1) })
        case 1: return (a.query || b.query, { a.holds($0, $1) || b.holds($0, $1) })
        default: return (!a.query, { !a.holds($0, $1) })
        }
    }

    private func rows(_ random: inout Seeded) -> [Row] {
        (0..<12).map { id in
            Row(
                id: id, int: Bool.random(using: &random) ? Int.random(in: 0...3, using: &random) : nil,
                double: Pool.amounts.randomElement(using: &random), string: Pool.names.randomElement(using: &random),
                next: Bool.random(using: &random) ? Int.random(in: 0..<12, using: &random) : nil,
                children: (0..<Int.random(in: 0...3, using: &random)).map { _ in Int.random(in: 0..<12, using: &random)
                })
        }
    }

    private func fill(_ realm: Realm, _ rows: [Row]) throws {
        try realm.write {
            realm.deleteAll()
            let nodes = rows.map { row in
                Node(
                    id: row.id, name: row.string ?? "", amount: row.double ?? 0,
                    part: row.int.map { Part(weight: Double($0)) })
            }
            realm.add(nodes)
            for (node, row) in zip(nodes, rows) {
                node.next = row.next.map { nodes[$0] }
                node.children.append(objectsIn: row.children.map { nodes[$0] })
            }
        }
    }

    @Test("O50 random conditions find what plain Swift finds", arguments: 0..<12 as Range<UInt64>) func conditions(
        _ seed: UInt64
    ) throws {
        var random = Seeded(state: seed)
        let test = try TestRealm()
        let rows = rows(&random)
        try fill(test.realm, rows)
        for _ in 0..<60 {
            let condition = condition(&random, depth: Int.random(in: 0...3, using: &random))
            let found = test.realm.objects(Node.self).where { _ in condition.query }
            let expected = rows.filter { condition.holds($0, rows) }.map(\.id)
            #expect(found.map(\.id) == expected, "\(condition.query)")
            #expect(
                found.count == expected.count && found.isEmpty == expected.isEmpty && found.first?.id == expected.first)
        }
    }

    @Test("O52 random sorts order as plain Swift does, and are stable", arguments: 0..<6 as Range<UInt64>) func sorts(
        _ seed: UInt64
    ) throws {
        var random = Seeded(state: seed &+ 1_000)
        let test = try TestRealm()
        let rows = rows(&random).map { row in
            var row = row
            if row.double?.isNaN == true { row.double = 7 }
            return row
        }
        try fill(test.realm, rows)
        let keys: [(String, (Row) -> [UInt8]?, (Row) -> Double?)] = [
            ("name", { Array(($0.string ?? "").utf8) }, { _ in nil }), ("amount", { _ in nil }, { $0.double }),
            ("next.amount", { _ in nil }, { $0.next.flatMap { rows[$0].double } }),
            ("part.weight", { _ in nil }, { $0.int.map(Double.init) }),
        ]
        for _ in 0..<40 {
            var results = test.realm.objects(Node.self)
            var expected = rows
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let (path, text, number) = keys[Int.random(in: 0..<keys.count, using: &random)]
                let ascending = Bool.random(using: &random)
                results = results.sorted(byKeyPath: path, ascending: ascending)
                expected = expected.enumerated().sorted { left, right in
                    let order = Self.compare(
                        text(left.element), text(right.element), number(left.element), number(right.element))
                    return order == 0 ? left.offset < right.offset : (order < 0) == ascending
                }.map(\.element)
            }
            #expect(results.map(\.id) == expected.map(\.id))
        }
    }

    private static func compare(_ a: [UInt8]?, _ b: [UInt8]?, _ x: Double?, _ y: Double?) -> Int {
        if let a, let b { return a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1 }
        guard let x else { return y == nil ? 0 : -1 }
        guard let y else { return 1 }
        return x == y ? 0 : x < y ? -1 : 1
    }
}
