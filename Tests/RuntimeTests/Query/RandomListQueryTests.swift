import ConformanceModels
import Foundation
import MartletEngine
import MartletTestSupport
import ModelTesting
import Testing

@testable import Martlet

/// Compares the results of random queries with arrays that the test computes in Swift. The queried lists and linking
/// objects contain some objects repeatedly.
@Suite struct RandomListQueryTests {
    private struct Row {
        let id: Int
        let name: String
        let amount: Double
        let next: Int?
    }

    /// A value by which rows are sorted or compared.
    private enum Value: Hashable {
        case text(String), number(Double), nan, missing

        init(_ number: Double) { self = number.isNaN ? .nan : .number(number == 0 ? 0 : number) }

        private var rank: Int {
            switch self {
            case .nan: 0
            case .number, .text: 1
            case .missing: 2
            }
        }

        func compare(_ other: Value) -> Int {
            switch (self, other) {
            case (.text(let left), .text(let right)): left < right ? -1 : left > right ? 1 : 0
            case (.number(let left), .number(let right)): left < right ? -1 : left > right ? 1 : 0
            default: rank - other.rank
            }
        }
    }

    private static let paths = ["name", "amount", "next.name", "next.amount"]
    private static let amounts: [Double] = [0, -0.0, 1, 2, .nan, .infinity, -1]

    private func value(_ row: Row, _ path: String, _ rows: [Row]) -> Value {
        let end = path.hasPrefix("next.") ? row.next.map { rows[$0] } : row
        guard let end else { return .missing }
        return path.hasSuffix("name") ? .text(end.name) : Value(end.amount)
    }

    private func start(_ random: inout SeededRandom) throws -> (test: TestRealm, rows: [Row], elements: [Int]) {
        let rows = (0..<10).map { id in
            Row(
                id: id, name: ["a", "b", "c"].randomElement(using: &random) ?? "",
                amount: Self.amounts.randomElement(using: &random) ?? 0,
                next: Bool.random(using: &random) ? Int.random(in: 0..<10, using: &random) : nil)
        }
        let elements = (0..<Int.random(in: 0...25, using: &random)).map { _ in Int.random(in: 0..<10, using: &random) }
        let test = try TestRealm { $0.environment.chunkLimit = 3 }
        try test.realm.write {
            let nodes = rows.map { Node(id: $0.id, name: $0.name, amount: $0.amount) }
            test.realm.add(nodes)
            for (node, row) in zip(nodes, rows) { node.next = row.next.map { nodes[$0] } }
            test.realm.add(ScalarLists(id: 1, nodes: elements.map { nodes[$0] }))
            for element in elements { nodes[element].children.append(nodes[0]) }
        }
        return (test, rows, elements)
    }

    /// Applies one random operation to results and to the rows that the results are expected to contain.
    private func step(
        _ results: Results<Node>, _ expected: [Row], _ rows: [Row], _ random: inout SeededRandom
    ) -> (Results<Node>, [Row]) {
        let path = Self.paths.randomElement(using: &random) ?? ""
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            let limit = Double(Int.random(in: -1...2, using: &random))
            return (results.filter("amount >= %@", limit), expected.filter { $0.amount >= limit })
        case 1:
            return (results.where { $0.next.name == "a" }, expected.filter { $0.next.map { rows[$0].name } == "a" })
        case 2:
            let ascending = Bool.random(using: &random)
            let sorted = expected.enumerated().sorted { left, right in
                let order = value(left.element, path, rows).compare(value(right.element, path, rows))
                return order == 0 ? left.offset < right.offset : (order < 0) == ascending
            }
            return (results.sorted(byKeyPath: path, ascending: ascending), sorted.map(\.element))
        case 3:
            var known: Set<Value> = []
            let distinct = expected.filter { row in
                let value = value(row, path, rows)
                return value != .missing && known.insert(value).inserted
            }
            return (results.distinct(by: [path]), distinct)
        default:
            let (count, offset) = (Int.random(in: 0...12, using: &random), Int.random(in: 0...2, using: &random))
            return (results.limit(count, offset: offset), Array(expected.dropFirst(offset).prefix(count)))
        }
    }

    @Test(
        "results of lists and linking objects keep the order and the repetitions of elements O75 O42 O50 O52",
        arguments: 0..<25 as Range<UInt64>)
    func queries(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed &+ 7_000)
        let (test, rows, elements) = try start(&random)
        let list = try #require(test.realm.objects(ScalarLists.self).first).nodes
        let origins = try #require(test.realm.object(ofType: Node.self, forPrimaryKey: 0)).parents
        for _ in 0..<40 {
            let isList = Bool.random(using: &random)
            var results = isList ? list.filter("TRUEPREDICATE") : origins.filter("TRUEPREDICATE")
            var expected = (isList ? elements : elements.sorted()).map { rows[$0] }
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                (results, expected) = step(results, expected, rows, &random)
            }
            let text = "\(results.storage.plan)"
            #expect(results.map(\.id) == expected.map(\.id), "\(text)")
            #expect(
                results.indices.map { results[$0].id } == expected.map(\.id) && results.count == expected.count,
                "\(text)")
            #expect((results.sum(ofProperty: "id") as Int) == expected.reduce(0) { $0 + $1.id }, "\(text)")
            #expect((results.max(ofProperty: "id") as Int?) == expected.map(\.id).max(), "\(text)")
            let sections = results.sectioned(by: { $0.name }, sortDescriptors: [])
            for section in sections {
                #expect(section.map(\.id) == expected.filter { $0.name == section.key }.map(\.id), "\(text)")
            }
            #expect(results.freeze().map(\.id) == expected.map(\.id), "\(text)")
        }
    }

    @Test(
        "an update of results of a list converts the old elements to the new elements O75 N46",
        arguments: 0..<25 as Range<UInt64>)
    func observers(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed &+ 9_000)
        let (test, rows, _) = try start(&random)
        let list = try #require(test.realm.objects(ScalarLists.self).first).nodes
        var observed: [(results: Results<Node>, known: [Int], token: NotificationToken?)] = []
        for position in 0..<6 {
            var results = list.filter("TRUEPREDICATE")
            for _ in 0..<position { results = step(results, [], rows, &random).0 }
            observed.append((results, [], nil))
            observed[position].token = results.observe { change in
                switch change {
                case .initial(let members): observed[position].known = members.map(\.id)
                case .update(let members, let deletions, let insertions, _):
                    var known = observed[position].known
                    for index in deletions.reversed() { known.remove(at: index) }
                    for index in insertions { known.insert(members[index].id, at: index) }
                    #expect(known == members.map(\.id), "\(results.storage.plan)")
                    observed[position].known = members.map(\.id)
                case .error(let error): Issue.record(error)
                }
            }
        }
        test.realm.refresh()
        for _ in 0..<40 {
            try test.realm.write {
                for _ in 0..<Int.random(in: 1...3, using: &random) { edit(list, &random) }
            }
            test.realm.refresh()
            for (results, known, _) in observed { #expect(results.map(\.id) == known, "\(results.storage.plan)") }
        }
        for entry in observed { entry.token?.invalidate() }
    }

    private func edit(_ list: List<Node>, _ random: inout SeededRandom) {
        let nodes = list.realm?.objects(Node.self)
        guard let node = nodes?[Int.random(in: 0..<10, using: &random)] else { return }
        let (a, b) = (Int.random(in: 0..<99, using: &random), Int.random(in: 0..<99, using: &random))
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1: list.insert(node, at: a % (list.count + 1))
        case 2 where !list.isEmpty: list.remove(at: a % list.count)
        case 3 where !list.isEmpty: list.move(from: a % list.count, to: b % list.count)
        case 4 where !list.isEmpty: list.swapAt(a % list.count, b % list.count)
        case 5 where !list.isEmpty: list[a % list.count] = node
        case 6: node.amount = Self.amounts.randomElement(using: &random) ?? 0
        default: node.name = ["a", "b", "c"].randomElement(using: &random) ?? ""
        }
    }
}
