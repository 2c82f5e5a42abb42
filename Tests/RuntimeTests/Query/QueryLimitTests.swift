import ConformanceModels
import Foundation
import Martlet
import MartletTestSupport
import Testing

/// Query texts from users can have any size and depth. The runtime executes or rejects each text.
@Suite struct QueryLimitTests {
    private func filled() throws -> TestRealm {
        let test = try TestRealm()
        try test.realm.write {
            let nodes = (0..<6).map { Node(id: $0, name: "n\($0)", amount: Double(10 - $0)) }
            test.realm.add(nodes)
            for node in nodes { node.children.append(objectsIn: nodes) }
            for node in nodes { node.next = node }
        }
        return test
    }

    /// Returns the message with which a text is rejected, or nil if it is accepted. Checks that the results of an
    /// accepted text can be counted, filtered, sorted, made distinct, limited and summed.
    private func rejection(_ test: TestRealm, _ text: String, finds expected: [Int]? = nil) throws -> String? {
        let found: Results<Node>
        do {
            found = try test.realm.objects(Node.self).filter(Realm.Predicate(parsing: text))
        } catch let error as Realm.Error {
            #expect(error.code == .invalidInput)
            return error.message
        }
        let ids = found.map(\.id)
        #expect(found.count == ids.count && (expected ?? ids) == ids, "\(text.prefix(100))")
        // Adds conditions, sort orders and a limit to the query.
        let more = found.where { $0.id < 50 }.sorted(byKeyPath: "name", ascending: false)
            .distinct(by: ["name", "next.next.name"]).limit(40).where { $0.id > -1 }.sorted(byKeyPath: "amount")
        #expect(Set(more.map(\.id)) == Set(ids) && more.sum { $0.id } == ids.reduce(0, +))
        return nil
    }

    /// Applies `step` to a condition repeatedly, until the resulting text is rejected. Returns the number of accepted
    /// applications and the last accepted text. `step` must not change the results.
    private func greatestAcceptedDepth(
        _ test: TestRealm, _ step: (String) -> String
    ) throws -> (steps: Int, text: String) {
        var text = "id == 1"
        for steps in 0..<150 {
            let next = step(text)
            if let rejection = try rejection(test, next, finds: [1]) {
                #expect(
                    rejection.contains("too deep or too large") || rejection.contains("more than 100"), "\(rejection)")
                return (steps, text)
            }
            text = next
        }
        Issue.record("no number of steps was rejected")
        return (150, text)
    }

    @Test("nested conditions are executed correctly or rejected O76 O51") func depth() throws {
        let test = try filled()
        let forms: [(Int, (String) -> String)] = [
            (10, { "id < 9 AND (id > 90 OR (\($0)))" }), (35, { "((\($0)) OR id > 90) AND id < 9" }),
            (20, { "NOT (NOT (\($0)) AND id < 9)" }), (35, { "NOT (id > 90 OR NOT (\($0)))" }),
            (3, { "SUBQUERY(next.children, $x, $x.id == 3).@count == 1 AND (\($0))" }),
        ]
        for (least, form) in forms {
            let (steps, text) = try greatestAcceptedDepth(test, form)
            #expect(steps >= least, "\(text.prefix(100))")
            // Observers evaluate the condition for the changed rows.
            let found = try test.realm.objects(Node.self).filter(Realm.Predicate(parsing: text))
            var changes: [RealmCollectionChange<Results<Node>>] = []
            let token = found.observe { changes.append($0) }
            while changes.isEmpty && test.scheduler.waitForWork() { test.scheduler.run() }
            try test.onNewThread { realm in
                try realm.write { realm.object(ofType: Node.self, forPrimaryKey: 1)?.amount += 1 }
            }
            test.realm.refresh()
            guard case .update(_, [], [], [0])? = changes.last else {
                Issue.record("no change was delivered: \(text.prefix(100))")
                return
            }
            token.invalidate()
        }
    }

    @Test("subqueries, links and collections are rejected if they are nested too deeply O76 O51")
    func paths() throws {
        let test = try filled()
        func subquery(_ depth: Int, _ path: String) -> String {
            depth == 0 ? "$x.id == 1" : "SUBQUERY(\(path), $x, \(subquery(depth - 1, "$x.children"))).@count >= 1"
        }
        func firstRejectedDepth(_ text: (Int) -> String) throws -> Int {
            var first = 0
            for depth in 1...60 where first == 0 {
                if try rejection(test, text(depth)) != nil { first = depth }
            }
            return first
        }
        // With a depth of d, the innermost condition is evaluated for 6^d elements, so only small depths are executed.
        #expect(try (1...3).allSatisfy { try rejection(test, subquery($0, "children")) == nil })
        #expect(try rejection(test, subquery(60, "children"))?.contains("too deep or too large") == true)
        let links = try firstRejectedDepth { String(repeating: "next.", count: $0) + "id == 1" }
        #expect(links > 10 && links < 40)
        #expect(
            try rejection(test, String(repeating: "children.", count: 40) + "id == 1")?.contains("too deep") == true)
        #expect(
            try rejection(test, String(repeating: "next.", count: 50_000) + "id == 1")?
                .contains("a key path has at most 100 names") == true)
        #expect(
            try rejection(test, "SORT(\(String(repeating: "next.", count: 60))id)")?.contains("too deep") == true)
    }

    @Test("nested lists, long calculations and many sort orders are rejected, for texts of any length O76 O51")
    func length() throws {
        let test = try filled()
        let braces = String(repeating: "{", count: 50_000)
        #expect(
            try rejection(test, "id IN " + braces)?
                .contains("a list cannot contain lists, but found '{'; see offset 7 of the query") == true)
        #expect(try rejection(test, braces)?.contains("a list cannot contain lists") == true)
        #expect(
            try rejection(test, "id IN " + String(repeating: "({", count: 50_000))?
                .contains("more than 100 nested parentheses") == true)
        func sum(_ count: Int) -> String { "id" + String(repeating: " + 1", count: count) + " == \(count + 1)" }
        #expect(try rejection(test, sum(50), finds: [1]) == nil)
        #expect(try rejection(test, sum(50_000))?.contains("more than 100 calculations are nested") == true)
        var nested = "id"
        for _ in 0..<90 { nested = "(\(nested)\(String(repeating: " * 1", count: 90)))" }
        #expect(try rejection(test, nested + " == 1")?.contains("more than 100 calculations") == true)
        for count in 85..<100 { _ = try rejection(test, sum(count), finds: [1]) }
        #expect(try rejection(test, sum(100), finds: [1])?.contains("calculations are nested") != true)
        #expect(try rejection(test, sum(101))?.contains("more than 100 calculations are nested") == true)
        func parentheses(_ count: Int) -> String {
            String(repeating: "(", count: count) + "id == 1" + String(repeating: ")", count: count)
        }
        #expect(try rejection(test, parentheses(100), finds: [1]) == nil)
        #expect(try rejection(test, parentheses(101))?.contains("more than 100 nested parentheses") == true)
        let stages = "SORT(id ASC) LIMIT(9) DISTINCT(name) "
        #expect(try rejection(test, String(repeating: stages, count: 10)) == nil)
        #expect(try rejection(test, String(repeating: stages, count: 5_000))?.contains("expected at most 32") == true)
        let terms = Array(repeating: "id", count: 3_000).joined(separator: ", ")
        #expect(try rejection(test, "SORT(\(terms))")?.contains("too deep or too large") == true)
        let chain = (0..<3_000).map { "id == \($0 + 5)" }.joined(separator: " OR ")
        #expect(try rejection(test, chain, finds: [5]) == nil)
        #expect(try rejection(test, "NOT (\(chain)) AND NOT id > 1", finds: [0, 1]) == nil)
    }

    // The time in which SQLite prepares a query grows with the square of the number of comparisons. Without the limit
    // of 4,000 comparisons, SQLite would need minutes for 8,000 comparisons.
    @Test("conditions with too many comparisons are rejected quickly O76 O51", .timeLimit(.minutes(1)))
    func size() throws {
        let test = try filled()
        func joined(_ count: Int, _ word: String, _ part: (Int) -> String) -> String {
            (0..<count).map(part).joined(separator: word)
        }
        for word in [" AND ", " OR "] {
            #expect(try rejection(test, joined(3_500, word) { "id != \($0 + 6)" }) == nil)
            #expect(
                try rejection(test, joined(8_000, word) { "id != \($0 + 6)" })?
                    .contains("it has more than 4000 comparisons") == true)
            #expect(try rejection(test, joined(200, word) { "ANY children.id != \($0 + 6)" }) == nil)
            #expect(
                try rejection(test, joined(8_000, word) { "ANY children.id != \($0 + 6)" })?
                    .contains("it uses more than 1000 collections") == true)
        }
    }

    @Test("too large argument indexes and exponents of decimals are rejected; extreme dates are compared O76 O51")
    func numbers() throws {
        let test = try filled()
        #expect(try rejection(test, "id == $9223372036854775807")?.contains("no argument with this index") == true)
        #expect(try rejection(test, "id == $99999999999999999999")?.contains("no argument with this index") == true)
        #expect(try rejection(test, "id == $2147483647")?.contains("argument 2147483648 is missing") == true)
        try test.realm.write { test.realm.add(Scalars(id: 1)) }
        let all = test.realm.objects(Scalars.self)
        #expect(all.filter("date > T-9223372036854775808:0").count == 1)
        #expect(all.filter("date > T9223372036854775807:999999999").isEmpty)
        #expect(all.filter("date > T-9223372036854775808:-999999999").count == 1)
        for power in ["1e-9223372036854775808", "1e9223372036854775807", "-1e-9223372036854775808", "0e100001"] {
            #expect(throws: (any Error).self) { try Decimal128(string: power) }
            #expect(throws: (any Error).self) {
                try JSONDecoder().decode([Decimal128].self, from: Data("[\"\(power)\"]".utf8))
            }
        }
        #expect(all.filter("decimal128 < 1e-9223372036854775808").isEmpty)
    }

    @Test("typed conditions that are built in long loops are executed correctly O76 O50") func typed() throws {
        let test = try filled()
        let fields = Node.fields
        var condition = fields.id == 1
        for _ in 0..<45 { condition = (condition && fields.id < 9) || fields.id > 90 }
        #expect(test.realm.objects(Node.self).where { _ in condition }.map(\.id) == [1])
        for _ in 0..<2_001 { condition = !condition }
        #expect(test.realm.objects(Node.self).where { _ in condition }.map(\.id) == [0, 2, 3, 4, 5])
        var results = test.realm.objects(Node.self)
        for bound in 0..<500 { results = results.where { $0.id != bound + 5 } }
        #expect(results.map(\.id) == [0, 1, 2, 3, 4])
        for bound in 0..<20 { results = results.limit(5).where { $0.id != bound + 4 } }
        #expect(results.map(\.id) == [0, 1, 2, 3])
    }

    @Test("a typed condition that is nested too deeply traps O76 O50") func traps() async {
        let evaluated = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var condition = Node.fields.id == 1
            for _ in 0..<2_000 { condition = (condition && Node.fields.id < 9) || Node.fields.id > 90 }
            _ = try TestRealm().realm.objects(Node.self).where { _ in condition }.count
        }
        expectMessage(evaluated, "this query is not valid: the condition is too deep or too large")
        let observed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var condition = Node.fields.id == 1
            for _ in 0..<60 { condition = Node.fields.id < 9 && (Node.fields.id > 90 || condition) }
            let test = try TestRealm()
            _ = test.realm.objects(Node.self).where { _ in condition }.observe { _ in }
        }
        expectMessage(observed, "this query is not valid: the condition is too deep or too large")
    }

    @Test("conditions accept any number of AnyRealmValue values O76 O50 O51") func values() throws {
        let test = try TestRealm()
        let sought = (0..<50_000).map { AnyRealmValue.int($0) } + [.string("x"), .double(0.5), .none]
        try test.realm.write {
            for (id, value) in [AnyRealmValue.int(7), .double(8), .string("x"), .none, .int(-1)].enumerated() {
                let scalars = Scalars(id: id)
                scalars.anyValue = value
                test.realm.add(scalars)
                let lists = ScalarLists(id: id)
                lists.anyValues.append(objectsIn: [.int(-2), value])
                test.realm.add(lists)
            }
        }
        let all = test.realm.objects(Scalars.self)
        #expect(all.where { $0.anyValue.in(sought) }.map(\.id) == [0, 1, 2, 3])
        #expect(all.where { !$0.anyValue.in(sought) }.map(\.id) == [4])
        #expect(all.filter("anyValue IN %@", sought).map(\.id) == [0, 1, 2, 3])
        #expect(all.where { $0.anyValue.in([]) }.isEmpty)
        let lists = test.realm.objects(ScalarLists.self)
        #expect(lists.where { $0.anyValues.containsAny(in: sought) }.map(\.id) == [0, 1, 2, 3])
        let names = (0..<50_000).map { "N\($0)" }
        #expect(try filled().realm.objects(Node.self).filter("name IN[c] %@", names).count == 6)
    }
}
