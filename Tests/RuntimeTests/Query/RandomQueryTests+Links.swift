import ConformanceModels
import Foundation
import Martlet
import ModelTesting
import Testing

// Conditions on links, collections and their elements.
extension RandomQueryTests {
    func linkCondition(_ random: inout SeededRandom) -> RandomCondition {
        let fields = Node.fields
        let name = QueriedValues.names.randomElement(using: &random) ?? ""
        let amount = QueriedValues.amounts.randomElement(using: &random) ?? 0
        let sought = bytes(name)
        switch Int.random(in: 0..<9, using: &random) {
        case 0: return RandomCondition(fields.next == nil, "next == nil") { row, _ in row.next == nil }
        case 1: return RandomCondition(fields.next != nil, "next != NULL") { row, _ in row.next != nil }
        case 2:
            return RandomCondition(fields.next.name == name, "next.name == %@", [name]) { row, rows in
                row.next.map { bytes(rows[$0].name) == sought } ?? false
            }
        case 3:
            return RandomCondition(fields.next.amount != amount, "next.amount != %@", [amount]) { row, rows in
                row.next.map { rows[$0].amount != amount } ?? true
            }
        case 4:
            return RandomCondition(fields.next.amount < fields.amount, "amount > next.amount") { row, rows in
                row.next.map { (rows[$0].amount ?? 0) < (row.amount ?? 0) } ?? false
            }
        case 5:
            return RandomCondition(fields.part.weight == nil, "part.weight == nil") { row, _ in row.partWeight == nil }
        case 6:
            return RandomCondition(fields.part.weight > amount, "part.weight > %@", [amount]) { row, _ in
                row.partWeight.map { Double($0) > amount } ?? false
            }
        case 7:
            return RandomCondition(fields.named["a"].name == name, "named['a'].name == %@", [name]) { row, rows in
                (row.named["a"] ?? nil).map { bytes(rows[$0].name) == sought } ?? false
            }
        default:
            return RandomCondition(fields.named["b"] == nil, "named[\"b\"] == nil") { row, _ in
                (row.named["b"] ?? nil) == nil
            }
        }
    }

    func collectionCondition(_ random: inout SeededRandom) -> RandomCondition {
        let fields = Node.fields
        let amount = QueriedValues.amounts.randomElement(using: &random) ?? 0
        let count = Int.random(in: 0...3, using: &random)
        let tag = ["a", "b", "e\u{301}"].randomElement(using: &random) ?? ""
        func value(_ row: Int, _ rows: [QueriedRow]) -> Double { rows[row].amount ?? 0 }
        switch Int.random(in: 0..<14, using: &random) {
        case 0:
            return RandomCondition(fields.children.amount > amount, "ANY children.amount > %@", [amount]) { row, rows in
                row.children.contains { value($0, rows) > amount }
            }
        case 1:
            return RandomCondition(!(fields.children.amount > amount), "NONE children.amount > %@", [amount]) {
                row, rows in
                !row.children.contains { value($0, rows) > amount }
            }
        case 2:
            return RandomCondition(
                (!(fields.children.amount > amount) || fields.children.count == 0)
                    && (!(fields.children.amount > amount) || fields.children.count > 0),
                "NOT SOME children.amount > %@", [amount]
            ) { row, rows in !row.children.contains { value($0, rows) > amount } }
        case 3:
            return RandomCondition(
                (!(fields.children.amount > amount)).count == 0, "ALL children.amount > %@", [amount]
            ) { row, rows in row.children.allSatisfy { value($0, rows) > amount } }
        case 4:
            return RandomCondition(fields.children.count > count, "children.@count > \(count)") { row, _ in
                row.children.count > count
            }
        case 5:
            return RandomCondition(
                (fields.children.amount >= amount && fields.children.id < 6).count >= count,
                "SUBQUERY(children, $x, $x.amount >= %@ AND $x.id < 6).@count >= \(count)", [amount]
            ) { row, rows in row.children.filter { value($0, rows) >= amount && $0 < 6 }.count >= count }
        case 6:
            return RandomCondition(fields.named.keys == "a", "named.@allKeys = 'a'") { row, _ in row.named["a"] != nil }
        case 7:
            return RandomCondition(fields.named.count == count, "named.@size == \(count)") { row, _ in
                row.named.count == count
            }
        case 8:
            return RandomCondition(fields.named.amount < amount, "named.amount < %@", [amount]) { row, rows in
                row.named.values.contains { $0.map { value($0, rows) < amount } ?? false }
            }
        case 9:
            return RandomCondition(fields.part.tags.contains(tag), "%@ IN part.tags", [tag]) { row, _ in
                row.tags.contains { bytes($0) == bytes(tag) }
            }
        case 10:
            return RandomCondition(fields.previous.amount == amount, "ANY @links.Node.next.amount == %@", [amount]) {
                row, rows in rows.contains { $0.next == row.id && $0.amount == amount }
            }
        case 11:
            return RandomCondition(fields.parents.count == count, "@links.Node.children.@count == \(count)") {
                row, rows in
                rows.reduce(0) { $0 + $1.children.count { $0 == row.id } } == count
            }
        case 12:
            return RandomCondition(fields.children.children.id == count, "children.children.id == \(count)") {
                row, rows in
                row.children.contains { rows[$0].children.contains(count) }
            }
        default:
            return RandomCondition(fields.children.id.sum > 9, "children.@sum.id > 4 + 5") { row, _ in
                row.children.reduce(0, +) > 9
            }
        }
    }

    // Conditions that compare elements of collections with constants, or with values of the collection's owner.
    func elementCondition(_ random: inout SeededRandom) -> RandomCondition {
        let fields = Node.fields
        let name = QueriedValues.names.randomElement(using: &random) ?? ""
        let tag = QueriedValues.tags.randomElement(using: &random) ?? ""
        let count = Int.random(in: -2...3, using: &random)
        func value(_ row: Int, _ rows: [QueriedRow]) -> Double { rows[row].amount ?? 0 }
        func isLike(_ text: String?, _ other: String) -> Bool { bytes(text?.lowercased()) == bytes(other.lowercased()) }
        func holds(_ text: String) -> Bool { bytes(text).firstRange(of: bytes(tag)) != nil }
        switch Int.random(in: 0..<14, using: &random) {
        case 0:
            return RandomCondition(nil, "ANY part.tags CONTAINS %@", [tag]) { row, _ in row.tags.contains(where: holds)
            }
        case 1: return RandomCondition(nil, "ALL part.tags CONTAINS %@", [tag]) { row, _ in row.tags.allSatisfy(holds) }
        case 2:
            return RandomCondition(fields.part.tags.contains(tag), "part.tags CONTAINS %@", [tag]) { row, _ in
                row.tags.contains { bytes($0) == bytes(tag) }
            }
        case 3:
            return RandomCondition(nil, "%@ IN[c] part.tags", [tag]) { row, _ in row.tags.contains { isLike($0, tag) } }
        case 4:
            return RandomCondition(nil, "ALL part.tags IN[c] {'A', %@}", [tag]) { row, _ in
                row.tags.allSatisfy { isLike($0, tag) || isLike($0, "a") }
            }
        case 5:
            return RandomCondition(nil, "ANY part.tags !=[c] %@", [tag]) { row, _ in
                row.tags.contains { !isLike($0, tag) }
            }
        case 6:
            return RandomCondition(
                fields.children.name.notEquals(name, options: .caseInsensitive), "ANY children.name !=[c] %@", [name]
            ) { row, rows in row.children.contains { !isLike(rows[$0].name, name) } }
        case 7:
            return RandomCondition(fields.children.name.notEquals(name), "ANY children.name != %@", [name]) {
                row, rows in
                row.children.contains { bytes(rows[$0].name) != bytes(name) }
            }
        case 8:
            return RandomCondition(fields.children.next != nil, "ANY children.next != nil") { row, rows in
                row.children.contains { rows[$0].next != nil }
            }
        case 9:
            return RandomCondition(nil, "ALL children.amount < amount + \(count)") { row, rows in
                row.children.allSatisfy { value($0, rows) < (row.amount ?? 0) + Double(count) }
            }
        case 10:
            return RandomCondition(nil, "ALL children.amount >= next.amount") { row, rows in
                row.children.allSatisfy { child in row.next.map { value(child, rows) >= value($0, rows) } ?? false }
            }
        case 11:
            return RandomCondition(nil, "ANY children.id * 2 > id - \(abs(count))") { row, _ in
                row.children.contains { $0 * 2 > row.id - abs(count) }
            }
        case 12:
            return RandomCondition(nil, "NONE children.id + id == 7") { row, _ in
                !row.children.contains { $0 + row.id == 7 }
            }
        default:
            return RandomCondition(nil, "ALL children.children.id != \(abs(count))") { row, rows in
                row.children.allSatisfy { !rows[$0].children.contains(abs(count)) }
            }
        }
    }
}
