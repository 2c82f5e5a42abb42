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
    var named: [String: Int?] = [:]
    /// Of the part, where there is one.
    var tags: [String] = []
}

/// A condition in both notations, and what it means.
private struct Condition {
    /// Nil where only texts can say it.
    let query: Query<Node>?
    let text: String
    let arguments: [Any?]
    let holds: (Row, [Row]) -> Bool

    init(
        _ query: Query<Node>?, _ text: String, _ arguments: [Any?] = [], _ holds: @escaping (Row, [Row]) -> Bool
    ) {
        self.query = query
        self.text = text
        self.arguments = arguments
        self.holds = holds
    }
}

private enum Pool {
    static let names = ["", "a", "ab", "b", "\u{e9}", "e\u{301}", "a\0", "B", "zz"]
    static let tags = ["a", "b", "A", "ab", "\u{e9}", "e\u{301}"]
    static let amounts: [Double] = [0, -0.0, 1, 2, 2.5, .nan, .infinity, -1]
}

@Suite struct RandomQueryTests {
    private func comparison(_ random: inout Seeded) -> Condition {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: ofValues(&random)
        case 1: ofLinks(&random)
        case 2: ofElements(&random)
        case 3: ofMaps(&random)
        case 4: ofOwners(&random)
        default: ofCollections(&random)
        }
    }

    // Entries without an object, and conditions that are always true or false.
    private func ofMaps(_ random: inout Seeded) -> Condition {
        let fields = Node.fields
        let amount = Pool.amounts.randomElement(using: &random) ?? 0
        let count = Int.random(in: 0...2, using: &random)
        func nils(_ row: Row) -> Int { row.named.values.filter { $0 == nil }.count }
        func value(_ row: Int, _ rows: [Row]) -> Double { rows[row].double ?? 0 }
        switch Int.random(in: 0..<14, using: &random) {
        case 0: return Condition(fields.named.contains(nil), "ANY named == nil") { row, _ in nils(row) > 0 }
        case 1: return Condition(nil, "ALL named != nil") { row, _ in nils(row) == 0 }
        case 2: return Condition(nil, "nil IN named") { row, _ in nils(row) > 0 }
        case 3: return Condition(nil, "NONE named IN {nil}") { row, _ in nils(row) == 0 }
        case 4:
            return Condition(nil, "SUBQUERY(named, $x, $x == nil).@count == \(count)") { row, _ in nils(row) == count }
        case 5:
            return Condition(nil, "SUBQUERY(named, $x, NOT $x.amount > %@).@count > \(count)", [amount]) { row, rows in
                row.named.values.filter { $0.map { !(value($0, rows) > amount) } ?? true }.count > count
            }
        case 6: return Condition(nil, "ANY named == next") { row, _ in row.named.values.contains(row.next) }
        case 7:
            return Condition(nil, "ANY named != %@", [nil]) { row, _ in row.named.values.contains { $0 != nil } }
        case 8: return Condition(fields.named["a"].amount.in([]), "named['a'].amount IN {}") { _, _ in false }
        case 9: return Condition(nil, "named['b'].id < nil") { _, _ in false }
        case 10: return Condition(fields.named["a"].amount == .nan, "named['a'].amount == nan") { _, _ in false }
        case 11: return Condition(nil, "named['a'].amount != NaN") { _, _ in true }
        case 12: return Condition(nil, "ANY named.id BETWEEN {nil, nil}") { _, _ in false }
        default: return Condition(nil, "ANY children.name !=[c] nil") { row, _ in !row.children.isEmpty }
        }
    }

    // Sub-queries about what has the collection, too, values of any type as arguments, and 'IN' over paths.
    private func ofOwners(_ random: inout Seeded) -> Condition {
        let fields = Node.fields
        let name = Pool.names.randomElement(using: &random) ?? ""
        let amount = Pool.amounts.randomElement(using: &random) ?? 0
        let count = Int.random(in: 0...2, using: &random)
        func value(_ row: Int, _ rows: [Row]) -> Double { rows[row].double ?? 0 }
        switch Int.random(in: 0..<12, using: &random) {
        case 0:
            return Condition(
                (fields.children.amount > fields.amount).count == count,
                "SUBQUERY(children, $x, $x.amount > amount).@count == \(count)"
            ) { row, rows in row.children.filter { value($0, rows) > row.double ?? 0 }.count == count }
        case 1:
            return Condition(
                (!(fields.children.id <= fields.next.id) && fields.children.amount != amount).count > count,
                "SUBQUERY(children, $x, NOT $x.id <= next.id AND $x.amount != %@).@count > \(count)", [amount]
            ) { row, rows in
                row.children.filter { child in
                    !(row.next.map { child <= $0 } ?? false) && value(child, rows) != amount
                }.count > count
            }
        case 2:
            return Condition(
                nil,
                "SUBQUERY(children, $x, SUBQUERY($x.children, $y, $y.id == $x.id OR $y.id == id).@count > 0).@count > 0"
            ) { row, rows in
                row.children.contains { child in rows[child].children.contains { $0 == child || $0 == row.id } }
            }
        case 3:
            return Condition(nil, "SUBQUERY(children, $x, ANY children.amount > $x.amount).@count == \(count)") {
                row, rows in
                row.children.filter { child in row.children.contains { value($0, rows) > value(child, rows) } }.count
                    == count
            }
        case 4:
            return Condition(nil, "SUBQUERY(part.tags, $x, $x == name).@count > 0") { row, _ in
                row.tags.contains { bytes($0) == bytes(row.string) }
            }
        case 5:
            return Condition(nil, "%@ IN children.name", [name]) { row, rows in
                row.children.contains { bytes(rows[$0].string) == bytes(name) }
            }
        case 6:
            return Condition(nil, "NOT amount IN children.amount") { row, rows in
                !row.children.contains { rows[$0].double == row.double }
            }
        case 7:
            return Condition(nil, "%@ IN @links.Node.next.amount", [amount]) { row, rows in
                rows.contains { $0.next == row.id && $0.double == amount }
            }
        case 8:
            return Condition(nil, "name == %@", [AnyRealmValue.string(name)]) { row, _ in
                bytes(row.string) == bytes(name)
            }
        case 9:
            return Condition(nil, "amount < %@", [AnyRealmValue.double(amount)]) { row, _ in (row.double ?? 0) < amount
            }
        case 10:
            return Condition(nil, "id IN %@", [AnyRealmValue.list([.int(count), .double(5)])]) { row, _ in
                row.id == count || row.id == 5
            }
        default:
            return Condition(nil, "children.@count == SUBQUERY(children, $x, children.@count > \(count)).@count") {
                row, _ in
                row.children.isEmpty || row.children.count > count
            }
        }
    }

    private func bytes(_ text: String?) -> [UInt8] { Array((text ?? "").utf8) }

    private func ofValues(_ random: inout Seeded) -> Condition {
        let fields = Node.fields
        let name = Pool.names.randomElement(using: &random) ?? ""
        let amount = Pool.amounts.randomElement(using: &random) ?? 0
        let id = Int.random(in: -1...12, using: &random)
        let sought = bytes(name)
        switch Int.random(in: 0..<14, using: &random) {
        case 0: return Condition(fields.name == name, "name == %@", [name]) { row, _ in bytes(row.string) == sought }
        case 1: return Condition(fields.name != name, "name != %@", [name]) { row, _ in bytes(row.string) != sought }
        case 2:
            return Condition(fields.name < name, "name < %@", [name]) { row, _ in
                bytes(row.string).lexicographicallyPrecedes(sought)
            }
        case 3:
            return Condition(fields.name.starts(with: name), "name BEGINSWITH %@", [name]) { row, _ in
                bytes(row.string).starts(with: sought)
            }
        case 4:
            return Condition(fields.name.contains(name), "name CONTAINS %@", [name]) { row, _ in
                sought.isEmpty || bytes(row.string).firstRange(of: sought) != nil
            }
        case 5:
            return Condition(fields.name.ends(with: name), "name ENDSWITH %@", [name]) { row, _ in
                bytes(row.string).reversed().starts(with: sought.reversed())
            }
        case 6: return Condition(fields.amount == amount, "amount = %@", [amount]) { row, _ in row.double == amount }
        case 7: return Condition(fields.amount != amount, "%@ <> amount", [amount]) { row, _ in row.double != amount }
        case 8:
            return Condition(fields.amount >= amount, "%@ =< amount", [amount]) { row, _ in (row.double ?? 0) >= amount
            }
        case 9:
            return Condition(fields.amount < amount, "amount < %@", [amount]) { row, _ in (row.double ?? 0) < amount }
        case 10:
            return Condition(fields.id.in([id, id + 3]), "id IN {\(id), \(id + 3)}") { row, _ in
                row.id == id || row.id == id + 3
            }
        case 11:
            return Condition(fields.id.contains(id...(id + 2)), "id BETWEEN {\(id), \(id + 2)}") { row, _ in
                (id...(id + 2)).contains(row.id)
            }
        case 12:
            return Condition(fields.name.in([String]()), "name IN {}") { _, _ in false }
        default:
            return Condition(fields.name.in([name, "b"]), "name IN %@", [[name, "b"]]) { row, _ in
                bytes(row.string) == sought || bytes(row.string) == bytes("b")
            }
        }
    }

    private func ofLinks(_ random: inout Seeded) -> Condition {
        let fields = Node.fields
        let name = Pool.names.randomElement(using: &random) ?? ""
        let amount = Pool.amounts.randomElement(using: &random) ?? 0
        let sought = bytes(name)
        switch Int.random(in: 0..<9, using: &random) {
        case 0: return Condition(fields.next == nil, "next == nil") { row, _ in row.next == nil }
        case 1: return Condition(fields.next != nil, "next != NULL") { row, _ in row.next != nil }
        case 2:
            return Condition(fields.next.name == name, "next.name == %@", [name]) { row, rows in
                row.next.map { bytes(rows[$0].string) == sought } ?? false
            }
        case 3:
            return Condition(fields.next.amount != amount, "next.amount != %@", [amount]) { row, rows in
                row.next.map { rows[$0].double != amount } ?? true
            }
        case 4:
            return Condition(fields.next.amount < fields.amount, "amount > next.amount") { row, rows in
                row.next.map { (rows[$0].double ?? 0) < (row.double ?? 0) } ?? false
            }
        case 5: return Condition(fields.part.weight == nil, "part.weight == nil") { row, _ in row.int == nil }
        case 6:
            return Condition(fields.part.weight > amount, "part.weight > %@", [amount]) { row, _ in
                row.int.map { Double($0) > amount } ?? false
            }
        case 7:
            return Condition(fields.named["a"].name == name, "named['a'].name == %@", [name]) { row, rows in
                (row.named["a"] ?? nil).map { bytes(rows[$0].string) == sought } ?? false
            }
        default:
            return Condition(fields.named["b"] == nil, "named[\"b\"] == nil") { row, _ in (row.named["b"] ?? nil) == nil
            }
        }
    }

    private func ofCollections(_ random: inout Seeded) -> Condition {
        let fields = Node.fields
        let amount = Pool.amounts.randomElement(using: &random) ?? 0
        let count = Int.random(in: 0...3, using: &random)
        let tag = ["a", "b", "e\u{301}"].randomElement(using: &random) ?? ""
        func value(_ row: Int, _ rows: [Row]) -> Double { rows[row].double ?? 0 }
        switch Int.random(in: 0..<14, using: &random) {
        case 0:
            return Condition(fields.children.amount > amount, "ANY children.amount > %@", [amount]) { row, rows in
                row.children.contains { value($0, rows) > amount }
            }
        case 1:
            return Condition(!(fields.children.amount > amount), "NONE children.amount > %@", [amount]) { row, rows in
                !row.children.contains { value($0, rows) > amount }
            }
        case 2:
            return Condition(
                (!(fields.children.amount > amount) || fields.children.count == 0)
                    && (!(fields.children.amount > amount) || fields.children.count > 0),
                "NOT SOME children.amount > %@", [amount]
            ) { row, rows in !row.children.contains { value($0, rows) > amount } }
        case 3:
            return Condition(
                (!(fields.children.amount > amount)).count == 0, "ALL children.amount > %@", [amount]
            ) { row, rows in row.children.allSatisfy { value($0, rows) > amount } }
        case 4:
            return Condition(fields.children.count > count, "children.@count > \(count)") { row, _ in
                row.children.count > count
            }
        case 5:
            return Condition(
                (fields.children.amount >= amount && fields.children.id < 6).count >= count,
                "SUBQUERY(children, $x, $x.amount >= %@ AND $x.id < 6).@count >= \(count)", [amount]
            ) { row, rows in row.children.filter { value($0, rows) >= amount && $0 < 6 }.count >= count }
        case 6:
            return Condition(fields.named.keys == "a", "named.@allKeys = 'a'") { row, _ in row.named["a"] != nil }
        case 7:
            return Condition(fields.named.count == count, "named.@size == \(count)") { row, _ in
                row.named.count == count
            }
        case 8:
            return Condition(fields.named.amount < amount, "named.amount < %@", [amount]) { row, rows in
                row.named.values.contains { $0.map { value($0, rows) < amount } ?? false }
            }
        case 9:
            return Condition(fields.part.tags.contains(tag), "%@ IN part.tags", [tag]) { row, _ in
                row.tags.contains { bytes($0) == bytes(tag) }
            }
        case 10:
            return Condition(fields.previous.amount == amount, "ANY @links.Node.next.amount == %@", [amount]) {
                row, rows in rows.contains { $0.next == row.id && $0.double == amount }
            }
        case 11:
            return Condition(fields.parents.count == count, "@links.Node.children.@count == \(count)") { row, rows in
                rows.reduce(0) { $0 + $1.children.count { $0 == row.id } } == count
            }
        case 12:
            return Condition(fields.children.children.id == count, "children.children.id == \(count)") { row, rows in
                row.children.contains { rows[$0].children.contains(count) }
            }
        default:
            return Condition(fields.children.id.sum > 9, "children.@sum.id > 4 + 5") { row, _ in
                row.children.reduce(0, +) > 9
            }
        }
    }

    // What one element has, and what the object itself has, and both in one condition.
    private func ofElements(_ random: inout Seeded) -> Condition {
        let fields = Node.fields
        let name = Pool.names.randomElement(using: &random) ?? ""
        let tag = Pool.tags.randomElement(using: &random) ?? ""
        let count = Int.random(in: -2...3, using: &random)
        func value(_ row: Int, _ rows: [Row]) -> Double { rows[row].double ?? 0 }
        func isLike(_ text: String?, _ other: String) -> Bool { bytes(text?.lowercased()) == bytes(other.lowercased()) }
        func holds(_ text: String) -> Bool { bytes(text).firstRange(of: bytes(tag)) != nil }
        switch Int.random(in: 0..<14, using: &random) {
        case 0:
            return Condition(nil, "ANY part.tags CONTAINS %@", [tag]) { row, _ in row.tags.contains(where: holds) }
        case 1: return Condition(nil, "ALL part.tags CONTAINS %@", [tag]) { row, _ in row.tags.allSatisfy(holds) }
        case 2:
            return Condition(fields.part.tags.contains(tag), "part.tags CONTAINS %@", [tag]) { row, _ in
                row.tags.contains { bytes($0) == bytes(tag) }
            }
        case 3:
            return Condition(nil, "%@ IN[c] part.tags", [tag]) { row, _ in row.tags.contains { isLike($0, tag) } }
        case 4:
            return Condition(nil, "ALL part.tags IN[c] {'A', %@}", [tag]) { row, _ in
                row.tags.allSatisfy { isLike($0, tag) || isLike($0, "a") }
            }
        case 5:
            return Condition(nil, "ANY part.tags !=[c] %@", [tag]) { row, _ in row.tags.contains { !isLike($0, tag) } }
        case 6:
            return Condition(
                fields.children.name.notEquals(name, options: .caseInsensitive), "ANY children.name !=[c] %@", [name]
            ) { row, rows in row.children.contains { !isLike(rows[$0].string, name) } }
        case 7:
            return Condition(fields.children.name.notEquals(name), "ANY children.name != %@", [name]) { row, rows in
                row.children.contains { bytes(rows[$0].string) != bytes(name) }
            }
        case 8:
            return Condition(fields.children.next != nil, "ANY children.next != nil") { row, rows in
                row.children.contains { rows[$0].next != nil }
            }
        case 9:
            return Condition(nil, "ALL children.amount < amount + \(count)") { row, rows in
                row.children.allSatisfy { value($0, rows) < (row.double ?? 0) + Double(count) }
            }
        case 10:
            return Condition(nil, "ALL children.amount >= next.amount") { row, rows in
                row.children.allSatisfy { child in row.next.map { value(child, rows) >= value($0, rows) } ?? false }
            }
        case 11:
            return Condition(nil, "ANY children.id * 2 > id - \(abs(count))") { row, _ in
                row.children.contains { $0 * 2 > row.id - abs(count) }
            }
        case 12:
            return Condition(nil, "NONE children.id + id == 7") { row, _ in !row.children.contains { $0 + row.id == 7 }
            }
        default:
            return Condition(nil, "ALL children.children.id != \(abs(count))") { row, rows in
                row.children.allSatisfy { !rows[$0].children.contains(abs(count)) }
            }
        }
    }

    private func condition(_ random: inout Seeded, depth: Int) -> Condition {
        if depth == 0 { return comparison(&random) }
        let (a, b) = (condition(&random, depth: depth - 1), condition(&random, depth: depth - 1))
        let arguments = a.arguments + b.arguments
        func both(_ join: (Query<Node>, Query<Node>) -> Query<Node>) -> Query<Node>? {
            a.query.flatMap { first in b.query.map { join(first, $0) } }
        }
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            return Condition(both { $0 && $1 }, "(\(a.text)) AND (\(b.text))", arguments) {
                a.holds($0, $1) && b.holds($0, $1)
            }
        case 1:
            return Condition(both { $0 || $1 }, "(\(a.text)) || (\(b.text))", arguments) {
                a.holds($0, $1) || b.holds($0, $1)
            }
        default: return Condition(a.query.map { !$0 }, "NOT (\(a.text))", a.arguments) { !a.holds($0, $1) }
        }
    }

    private func rows(_ random: inout Seeded) -> [Row] {
        (0..<12).map { id in
            var row = Row(
                id: id, int: Bool.random(using: &random) ? Int.random(in: 0...3, using: &random) : nil,
                double: Pool.amounts.randomElement(using: &random), string: Pool.names.randomElement(using: &random),
                next: Bool.random(using: &random) ? Int.random(in: 0..<12, using: &random) : nil,
                children: (0..<Int.random(in: 0...3, using: &random)).map { _ in Int.random(in: 0..<12, using: &random)
                },
                named: Dictionary(
                    ["a", "b", "A"].filter { _ in Bool.random(using: &random) }.map {
                        ($0, Bool.random(using: &random) ? Int.random(in: 0..<12, using: &random) : nil)
                    }, uniquingKeysWith: { first, _ in first }),
                tags: (0..<Int.random(in: 0...2, using: &random)).map { _ in
                    Pool.tags.randomElement(using: &random) ?? ""
                })
            // Tags are those of the part.
            if row.int == nil { row.tags = [] }
            return row
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
                for (key, target) in row.named { node.named[key] = .some(target.map { nodes[$0] }) }
                node.part?.tags.append(objectsIn: row.tags)
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
        for _ in 0..<150 {
            let condition = condition(&random, depth: Int.random(in: 0...3, using: &random))
            let expected = rows.filter { condition.holds($0, rows) }.map(\.id)
            let read = try test.realm.objects(Node.self).filter(
                Realm.Predicate(parsing: condition.text, arguments: condition.arguments))
            #expect(read.map(\.id) == expected, "\(condition.text) \(condition.arguments)")
            guard let query = condition.query else { continue }
            let found = test.realm.objects(Node.self).where { _ in query }
            #expect(found.map(\.id) == expected, "\(query)")
            #expect(
                found.count == expected.count && found.isEmpty == expected.isEmpty && found.first?.id == expected.first)
        }
    }

    @Test(
        "O50 random conditions hold for the rows that changed, as observers ask them",
        arguments: 0..<12 as Range<UInt64>)
    func maintained(_ seed: UInt64) throws {
        var random = Seeded(state: seed &+ 500)
        let test = try TestRealm()
        var rows = rows(&random)
        try fill(test.realm, rows)
        for _ in 0..<25 {
            let condition = condition(&random, depth: Int.random(in: 0...2, using: &random))
            let read = try Realm.Predicate(parsing: condition.text, arguments: condition.arguments)
            let results = try test.realm.objects(Node.self).filter(read)
            var told = 0
            let token = results.observe { _ in told += 1 }
            while told == 0 && test.scheduler.waitForTurn() { test.scheduler.turn() }
            let changed = Int.random(in: 0..<rows.count, using: &random)
            let amount = Pool.amounts.randomElement(using: &random) ?? 0
            let next = Int.random(in: 0..<rows.count, using: &random)
            rows[changed].double = amount
            rows[changed].next = next
            rows[changed].children = [next, changed]
            rows[changed].named = ["a": next]
            try test.elsewhere { realm in
                try realm.write {
                    let nodes = realm.objects(Node.self)
                    let node = nodes[changed]
                    node.amount = amount
                    node.next = nodes[next]
                    node.children.removeAll()
                    node.children.append(objectsIn: [nodes[next], node])
                    node.named.removeAll()
                    node.named["a"] = nodes[next]
                }
            }
            test.realm.refresh()
            let expected = rows.filter { condition.holds($0, rows) }.map(\.id)
            #expect(results.map(\.id) == expected, "\(condition.text) \(condition.arguments)")
            token.invalidate()
        }
    }

    @Test("O52 random sorts order as plain Swift does, and are stable", arguments: 0..<6 as Range<UInt64>) func sorts(
        _ seed: UInt64
    ) throws {
        var random = Seeded(state: seed &+ 1_000)
        let test = try TestRealm()
        let rows = rows(&random)
        try fill(test.realm, rows)
        // The numbers of what a link leads to, which comes last where it leads nowhere.
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
        guard let x else { return y == nil ? 0 : 1 }
        guard let y else { return -1 }
        if x.isNaN || y.isNaN { return x.isNaN ? (y.isNaN ? 0 : -1) : 1 }
        return x == y ? 0 : x < y ? -1 : 1
    }
}
