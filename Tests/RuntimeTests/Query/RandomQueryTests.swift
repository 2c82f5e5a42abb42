import ConformanceModels
import Foundation
import Martlet
import MartletTestSupport
import ModelTesting
import Testing

/// A copy of the values of a queried row, for which conditions are evaluated in Swift.
struct QueriedRow {
    var id = 0
    /// The weight of the part. Nil if there is no part.
    var partWeight: Int?
    var amount: Double?
    var name: String?
    var next: Int?
    var children: [Int] = []
    var named: [String: Int?] = [:]
    /// The tags of the part. Empty if there is no part.
    var tags: [String] = []
}

/// A condition in both notations, typed and as a query text, and the function that evaluates the condition in Swift.
struct RandomCondition {
    /// The typed condition. Nil if the condition can be written only as a query text.
    let query: Query<Node>?
    let text: String
    let arguments: [Any?]
    let holds: (QueriedRow, [QueriedRow]) -> Bool

    init(
        _ query: Query<Node>?, _ text: String, _ arguments: [Any?] = [],
        _ holds: @escaping (QueriedRow, [QueriedRow]) -> Bool
    ) {
        self.query = query
        self.text = text
        self.arguments = arguments
        self.holds = holds
    }
}

enum QueriedValues {
    static let names = ["", "a", "ab", "b", "\u{e9}", "e\u{301}", "a\0", "B", "zz"]
    static let tags = ["a", "b", "A", "ab", "\u{e9}", "e\u{301}"]
    static let amounts: [Double] = [
        0, -0.0, 1, 2, 2.5, .nan, .infinity, -1, 0.1, 0x1p53, 0x1p53 + 2, 0x1p62, -0x1p63, 1e23, -.infinity,
    ]
}

@Suite struct RandomQueryTests {
    func comparison(_ random: inout SeededRandom) -> RandomCondition {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: valueCondition(&random)
        case 1: linkCondition(&random)
        case 2: elementCondition(&random)
        case 3: mapCondition(&random)
        case 4: ownerCondition(&random)
        default: collectionCondition(&random)
        }
    }

    // Conditions on map entries without an object, and conditions that are always true or always false.
    func mapCondition(_ random: inout SeededRandom) -> RandomCondition {
        let fields = Node.fields
        let amount = QueriedValues.amounts.randomElement(using: &random) ?? 0
        let count = Int.random(in: 0...2, using: &random)
        func nils(_ row: QueriedRow) -> Int { row.named.values.filter { $0 == nil }.count }
        func value(_ row: Int, _ rows: [QueriedRow]) -> Double { rows[row].amount ?? 0 }
        switch Int.random(in: 0..<14, using: &random) {
        case 0: return RandomCondition(fields.named.contains(nil), "ANY named == nil") { row, _ in nils(row) > 0 }
        case 1: return RandomCondition(nil, "ALL named != nil") { row, _ in nils(row) == 0 }
        case 2: return RandomCondition(nil, "nil IN named") { row, _ in nils(row) > 0 }
        case 3: return RandomCondition(nil, "NONE named IN {nil}") { row, _ in nils(row) == 0 }
        case 4:
            return RandomCondition(nil, "SUBQUERY(named, $x, $x == nil).@count == \(count)") { row, _ in
                nils(row) == count
            }
        case 5:
            return RandomCondition(nil, "SUBQUERY(named, $x, NOT $x.amount > %@).@count > \(count)", [amount]) {
                row, rows in
                row.named.values.filter { $0.map { !(value($0, rows) > amount) } ?? true }.count > count
            }
        case 6: return RandomCondition(nil, "ANY named == next") { row, _ in row.named.values.contains(row.next) }
        case 7:
            return RandomCondition(nil, "ANY named != %@", [nil]) { row, _ in row.named.values.contains { $0 != nil } }
        case 8: return RandomCondition(fields.named["a"].amount.in([]), "named['a'].amount IN {}") { _, _ in false }
        case 9: return RandomCondition(nil, "named['b'].id < nil") { _, _ in false }
        case 10: return RandomCondition(fields.named["a"].amount == .nan, "named['a'].amount == nan") { _, _ in false }
        case 11: return RandomCondition(nil, "named['a'].amount != NaN") { _, _ in true }
        case 12: return RandomCondition(nil, "ANY named.id BETWEEN {nil, nil}") { _, _ in false }
        default: return RandomCondition(nil, "ANY children.name !=[c] nil") { row, _ in !row.children.isEmpty }
        }
    }

    // Subqueries that use the owner of the collection, arguments of type `AnyRealmValue`, and 'IN' with key paths.
    func ownerCondition(_ random: inout SeededRandom) -> RandomCondition {
        let fields = Node.fields
        let name = QueriedValues.names.randomElement(using: &random) ?? ""
        let amount = QueriedValues.amounts.randomElement(using: &random) ?? 0
        let count = Int.random(in: 0...2, using: &random)
        func value(_ row: Int, _ rows: [QueriedRow]) -> Double { rows[row].amount ?? 0 }
        switch Int.random(in: 0..<12, using: &random) {
        case 0:
            return RandomCondition(
                (fields.children.amount > fields.amount).count == count,
                "SUBQUERY(children, $x, $x.amount > amount).@count == \(count)"
            ) { row, rows in row.children.filter { value($0, rows) > row.amount ?? 0 }.count == count }
        case 1:
            return RandomCondition(
                (!(fields.children.id <= fields.next.id) && fields.children.amount != amount).count > count,
                "SUBQUERY(children, $x, NOT $x.id <= next.id AND $x.amount != %@).@count > \(count)", [amount]
            ) { row, rows in
                row.children.filter { child in
                    !(row.next.map { child <= $0 } ?? false) && value(child, rows) != amount
                }.count > count
            }
        case 2:
            return RandomCondition(
                nil,
                "SUBQUERY(children, $x, SUBQUERY($x.children, $y, $y.id == $x.id OR $y.id == id).@count > 0).@count > 0"
            ) { row, rows in
                row.children.contains { child in rows[child].children.contains { $0 == child || $0 == row.id } }
            }
        case 3:
            return RandomCondition(nil, "SUBQUERY(children, $x, ANY children.amount > $x.amount).@count == \(count)") {
                row, rows in
                row.children.filter { child in row.children.contains { value($0, rows) > value(child, rows) } }.count
                    == count
            }
        case 4:
            return RandomCondition(nil, "SUBQUERY(part.tags, $x, $x == name).@count > 0") { row, _ in
                row.tags.contains { bytes($0) == bytes(row.name) }
            }
        case 5:
            return RandomCondition(nil, "%@ IN children.name", [name]) { row, rows in
                row.children.contains { bytes(rows[$0].name) == bytes(name) }
            }
        case 6:
            return RandomCondition(nil, "NOT amount IN children.amount") { row, rows in
                !row.children.contains { rows[$0].amount == row.amount }
            }
        case 7:
            return RandomCondition(nil, "%@ IN @links.Node.next.amount", [amount]) { row, rows in
                rows.contains { $0.next == row.id && $0.amount == amount }
            }
        case 8:
            return RandomCondition(nil, "name == %@", [AnyRealmValue.string(name)]) { row, _ in
                bytes(row.name) == bytes(name)
            }
        case 9:
            return RandomCondition(nil, "amount < %@", [AnyRealmValue.double(amount)]) { row, _ in
                (row.amount ?? 0) < amount
            }
        case 10:
            return RandomCondition(nil, "id IN %@", [AnyRealmValue.list([.int(count), .double(5)])]) { row, _ in
                row.id == count || row.id == 5
            }
        default:
            return RandomCondition(nil, "children.@count == SUBQUERY(children, $x, children.@count > \(count)).@count")
            {
                row, _ in
                row.children.isEmpty || row.children.count > count
            }
        }
    }

    func bytes(_ text: String?) -> [UInt8] { Array((text ?? "").utf8) }

    func valueCondition(_ random: inout SeededRandom) -> RandomCondition {
        let fields = Node.fields
        let name = QueriedValues.names.randomElement(using: &random) ?? ""
        let amount = QueriedValues.amounts.randomElement(using: &random) ?? 0
        let id = Int.random(in: -1...12, using: &random)
        let sought = bytes(name)
        switch Int.random(in: 0..<17, using: &random) {
        case 0:
            return RandomCondition(fields.name == name, "name == %@", [name]) { row, _ in bytes(row.name) == sought }
        case 1:
            return RandomCondition(fields.name != name, "name != %@", [name]) { row, _ in bytes(row.name) != sought }
        case 2:
            return RandomCondition(fields.name < name, "name < %@", [name]) { row, _ in
                bytes(row.name).lexicographicallyPrecedes(sought)
            }
        case 3:
            return RandomCondition(fields.name.starts(with: name), "name BEGINSWITH %@", [name]) { row, _ in
                bytes(row.name).starts(with: sought)
            }
        case 4:
            return RandomCondition(fields.name.contains(name), "name CONTAINS %@", [name]) { row, _ in
                sought.isEmpty || bytes(row.name).firstRange(of: sought) != nil
            }
        case 5:
            return RandomCondition(fields.name.ends(with: name), "name ENDSWITH %@", [name]) { row, _ in
                bytes(row.name).reversed().starts(with: sought.reversed())
            }
        case 6:
            return RandomCondition(fields.amount == amount, "amount = %@", [amount]) { row, _ in row.amount == amount }
        case 7:
            return RandomCondition(fields.amount != amount, "%@ <> amount", [amount]) { row, _ in row.amount != amount }
        case 8:
            return RandomCondition(fields.amount >= amount, "%@ =< amount", [amount]) { row, _ in
                (row.amount ?? 0) >= amount
            }
        case 9:
            return RandomCondition(fields.amount < amount, "amount < %@", [amount]) { row, _ in
                (row.amount ?? 0) < amount
            }
        case 10:
            return RandomCondition(fields.id.in([id, id + 3]), "id IN {\(id), \(id + 3)}") { row, _ in
                row.id == id || row.id == id + 3
            }
        case 11:
            return RandomCondition(fields.id.contains(id...(id + 2)), "id BETWEEN {\(id), \(id + 2)}") { row, _ in
                (id...(id + 2)).contains(row.id)
            }
        case 12:
            return RandomCondition(fields.name.in([String]()), "name IN {}") { _, _ in false }
        case 13:
            // The query binds more than 256 values as one list.
            let amounts = (0..<300).map { Double($0) * 1e3 } + [amount, 2]
            return RandomCondition(fields.amount.in(amounts), "amount IN %@", [amounts]) { row, _ in
                amounts.contains(row.amount ?? 0)
            }
        case 14:
            return RandomCondition(nil, "id IN %@", [[Double(id), Decimal128(id + 3), 0.5] as [Any]]) { row, _ in
                row.id == id || row.id == id + 3
            }
        case 15:
            let wholes = (0..<300).map { Decimal128($0 * 2 + 1) }
            return RandomCondition(nil, "id IN %@", [wholes]) { row, _ in row.id % 2 == 1 }
        default:
            return RandomCondition(fields.name.in([name, "b"]), "name IN %@", [[name, "b"]]) { row, _ in
                bytes(row.name) == sought || bytes(row.name) == bytes("b")
            }
        }
    }

    func condition(_ random: inout SeededRandom, depth: Int) -> RandomCondition {
        if depth == 0 { return comparison(&random) }
        let (a, b) = (condition(&random, depth: depth - 1), condition(&random, depth: depth - 1))
        let arguments = a.arguments + b.arguments
        func both(_ join: (Query<Node>, Query<Node>) -> Query<Node>) -> Query<Node>? {
            a.query.flatMap { first in b.query.map { join(first, $0) } }
        }
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            return RandomCondition(both { $0 && $1 }, "(\(a.text)) AND (\(b.text))", arguments) {
                a.holds($0, $1) && b.holds($0, $1)
            }
        case 1:
            return RandomCondition(both { $0 || $1 }, "(\(a.text)) || (\(b.text))", arguments) {
                a.holds($0, $1) || b.holds($0, $1)
            }
        default: return RandomCondition(a.query.map { !$0 }, "NOT (\(a.text))", a.arguments) { !a.holds($0, $1) }
        }
    }

    func rows(_ random: inout SeededRandom) -> [QueriedRow] {
        (0..<12).map { id in
            var row = QueriedRow(
                id: id, partWeight: Bool.random(using: &random) ? Int.random(in: 0...3, using: &random) : nil,
                amount: QueriedValues.amounts.randomElement(using: &random),
                name: QueriedValues.names.randomElement(using: &random),
                next: Bool.random(using: &random) ? Int.random(in: 0..<12, using: &random) : nil,
                children: (0..<Int.random(in: 0...3, using: &random)).map { _ in Int.random(in: 0..<12, using: &random)
                },
                named: Dictionary(
                    ["a", "b", "A"].filter { _ in Bool.random(using: &random) }.map {
                        ($0, Bool.random(using: &random) ? Int.random(in: 0..<12, using: &random) : nil)
                    }, uniquingKeysWith: { first, _ in first }),
                tags: (0..<Int.random(in: 0...2, using: &random)).map { _ in
                    QueriedValues.tags.randomElement(using: &random) ?? ""
                })
            // A row without a part has no tags.
            if row.partWeight == nil { row.tags = [] }
            return row
        }
    }

    func fill(_ realm: Realm, _ rows: [QueriedRow]) throws {
        try realm.write {
            realm.deleteAll()
            let nodes = rows.map { row in
                Node(
                    id: row.id, name: row.name ?? "", amount: row.amount ?? 0,
                    part: row.partWeight.map { Part(weight: Double($0)) })
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

    @Test("random conditions match the same rows as in Swift O50", arguments: 0..<12 as Range<UInt64>)
    func conditions(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
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
        "random conditions are evaluated correctly for the changed rows of observed results O50",
        arguments: 0..<12 as Range<UInt64>)
    func maintained(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed &+ 500)
        let test = try TestRealm()
        var rows = rows(&random)
        try fill(test.realm, rows)
        for _ in 0..<25 {
            let condition = condition(&random, depth: Int.random(in: 0...2, using: &random))
            let read = try Realm.Predicate(parsing: condition.text, arguments: condition.arguments)
            let results = try test.realm.objects(Node.self).filter(read)
            var calls = 0
            let token = results.observe { _ in calls += 1 }
            while calls == 0 && test.scheduler.waitForWork() { test.scheduler.run() }
            let changed = Int.random(in: 0..<rows.count, using: &random)
            let amount = QueriedValues.amounts.randomElement(using: &random) ?? 0
            let next = Int.random(in: 0..<rows.count, using: &random)
            rows[changed].amount = amount
            rows[changed].next = next
            rows[changed].children = [next, changed]
            rows[changed].named = ["a": next]
            try test.onNewThread { realm in
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

    @Test("random sort orders equal those of Swift arrays, and are stable O52", arguments: 0..<6 as Range<UInt64>)
    func sorts(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed &+ 1_000)
        let test = try TestRealm()
        let rows = rows(&random)
        try fill(test.realm, rows)
        // A sort key is read as text or as a number: one of the two functions returns nil. If a link on the path is
        // nil, both functions return nil, and the row sorts last in ascending order.
        let keys: [(String, (QueriedRow) -> [UInt8]?, (QueriedRow) -> Double?)] = [
            ("name", { Array(($0.name ?? "").utf8) }, { _ in nil }), ("amount", { _ in nil }, { $0.amount }),
            ("next.amount", { _ in nil }, { $0.next.flatMap { rows[$0].amount } }),
            ("part.weight", { _ in nil }, { $0.partWeight.map(Double.init) }),
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
