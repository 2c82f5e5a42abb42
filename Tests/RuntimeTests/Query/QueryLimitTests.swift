import ConformanceModels
import Foundation
import Martlet
import MartletTestSupport
import Testing

/// Texts from outside may ask for anything: they are answered or refused.
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

    /// What is wrong with a text; nil when it can be used in every way.
    private func refusal(_ test: TestRealm, _ text: String, finds expected: [Int]? = nil) throws -> String? {
        let found: Results<Node>
        do {
            found = try test.realm.objects(Node.self).filter(Realm.Predicate(parsing: text))
        } catch let error as Realm.Error {
            #expect(error.code == .invalidInput)
            return error.message
        }
        let ids = found.map(\.id)
        #expect(found.count == ids.count && (expected ?? ids) == ids, "\(text.prefix(100))")
        // In more ways than the text itself asks for.
        let more = found.where { $0.id < 50 }.sorted(byKeyPath: "name", ascending: false)
            .distinct(by: ["name", "next.next.name"]).limit(40).where { $0.id > -1 }.sorted(byKeyPath: "amount")
        #expect(Set(more.map(\.id)) == Set(ids) && more.sum { $0.id } == ids.reduce(0, +))
        return nil
    }

    /// The number of steps with which a text is still accepted, each of which keeps what is found.
    private func greatest(_ test: TestRealm, _ step: (String) -> String) throws -> (steps: Int, text: String) {
        var text = "id == 1"
        for steps in 0..<150 {
            let next = step(text)
            if let refusal = try refusal(test, next, finds: [1]) {
                #expect(refusal.contains("too deep or too large") || refusal.contains("more than 100"), "\(refusal)")
                return (steps, text)
            }
            text = next
        }
        Issue.record("everything was accepted")
        return (150, text)
    }

    @Test("O76 O51 conditions within each other are carried out or refused, never half way") func depth() throws {
        let test = try filled()
        let forms: [(Int, (String) -> String)] = [
            (10, { "id < 9 AND (id > 90 OR (\($0)))" }), (35, { "((\($0)) OR id > 90) AND id < 9" }),
            (20, { "NOT (NOT (\($0)) AND id < 9)" }), (35, { "NOT (id > 90 OR NOT (\($0)))" }),
            (3, { "SUBQUERY(next.children, $x, $x.id == 3).@count == 1 AND (\($0))" }),
        ]
        for (least, form) in forms {
            let (steps, text) = try greatest(test, form)
            #expect(steps >= least, "\(text.prefix(100))")
            // Observers ask it of the rows that changed.
            let found = try test.realm.objects(Node.self).filter(Realm.Predicate(parsing: text))
            var told: [RealmCollectionChange<Results<Node>>] = []
            let token = found.observe { told.append($0) }
            while told.isEmpty && test.scheduler.waitForTurn() { test.scheduler.turn() }
            try test.elsewhere { realm in
                try realm.write { realm.object(ofType: Node.self, forPrimaryKey: 1)?.amount += 1 }
            }
            test.realm.refresh()
            guard case .update(_, [], [], [0])? = told.last else {
                Issue.record("no change was told: \(text.prefix(100))")
                return
            }
            token.invalidate()
        }
    }

    @Test("O76 O51 subqueries, links and collections within each other are refused where they are too deep")
    func paths()
        throws
    {
        let test = try filled()
        func subquery(_ depth: Int, _ path: String) -> String {
            depth == 0 ? "$x.id == 1" : "SUBQUERY(\(path), $x, \(subquery(depth - 1, "$x.children"))).@count >= 1"
        }
        func refused(_ text: (Int) -> String) throws -> Int {
            var first = 0
            for depth in 1...60 where first == 0 {
                if try refusal(test, text(depth)) != nil { first = depth }
            }
            return first
        }
        // What is asked of the elements of the elements of … is asked of six to the power of the depth.
        #expect(try (1...3).allSatisfy { try refusal(test, subquery($0, "children")) == nil })
        #expect(try refusal(test, subquery(60, "children"))?.contains("too deep or too large") == true)
        let links = try refused { String(repeating: "next.", count: $0) + "id == 1" }
        #expect(links > 10 && links < 40)
        #expect(try refusal(test, String(repeating: "children.", count: 40) + "id == 1")?.contains("too deep") == true)
        #expect(
            try refusal(test, String(repeating: "next.", count: 50_000) + "id == 1")?
                .contains("a key path has at most 100 names") == true)
        #expect(
            try refusal(test, "SORT(\(String(repeating: "next.", count: 60))id)")?.contains("too deep") == true)
    }

    @Test("O76 O51 lists in lists, long calculations and many stages are refused, however long the text is")
    func length()
        throws
    {
        let test = try filled()
        let braces = String(repeating: "{", count: 50_000)
        #expect(
            try refusal(test, "id IN " + braces)?
                .contains("a list holds no lists, but found '{', at offset 7 of the query") == true)
        #expect(try refusal(test, braces)?.contains("a list holds no lists") == true)
        #expect(
            try refusal(test, "id IN " + String(repeating: "({", count: 50_000))?
                .contains("more than 100 parentheses are open here") == true)
        func sum(_ count: Int) -> String { "id" + String(repeating: " + 1", count: count) + " == \(count + 1)" }
        #expect(try refusal(test, sum(50), finds: [1]) == nil)
        #expect(try refusal(test, sum(50_000))?.contains("more than 100 calculations build on one another") == true)
        var nested = "id"
        for _ in 0..<90 { nested = "(\(nested)\(String(repeating: " * 1", count: 90)))" }
        #expect(try refusal(test, nested + " == 1")?.contains("more than 100 calculations") == true)
        for count in 85..<100 { _ = try refusal(test, sum(count), finds: [1]) }
        let stages = "SORT(id ASC) LIMIT(9) DISTINCT(name) "
        #expect(try refusal(test, String(repeating: stages, count: 10)) == nil)
        #expect(try refusal(test, String(repeating: stages, count: 5_000))?.contains("expected at most 32") == true)
        let terms = Array(repeating: "id", count: 3_000).joined(separator: ", ")
        #expect(try refusal(test, "SORT(\(terms))")?.contains("too deep or too large") == true)
        let chain = (0..<3_000).map { "id == \($0 + 5)" }.joined(separator: " OR ")
        #expect(try refusal(test, chain, finds: [5]) == nil)
        #expect(try refusal(test, "NOT (\(chain)) AND NOT id > 1", finds: [0, 1]) == nil)
    }

    // SQLite takes a time that grows with the square of the size: 8,000 conditions kept a thread busy for minutes.
    @Test("O76 O51 conditions of too many comparisons are refused and not worked on", .timeLimit(.minutes(1)))
    func size()
        throws
    {
        let test = try filled()
        func joined(_ count: Int, _ word: String, _ part: (Int) -> String) -> String {
            (0..<count).map(part).joined(separator: word)
        }
        for word in [" AND ", " OR "] {
            #expect(try refusal(test, joined(3_500, word) { "id != \($0 + 6)" }) == nil)
            #expect(
                try refusal(test, joined(8_000, word) { "id != \($0 + 6)" })?
                    .contains("it has more than 4000 comparisons") == true)
            #expect(try refusal(test, joined(200, word) { "ANY children.id != \($0 + 6)" }) == nil)
            #expect(
                try refusal(test, joined(8_000, word) { "ANY children.id != \($0 + 6)" })?
                    .contains("it looks into more than 1000 collections") == true)
        }
    }

    @Test("O76 O51 numbers beyond all bounds are refused or compared") func numbers() throws {
        let test = try filled()
        #expect(try refusal(test, "id == $9223372036854775807")?.contains("no argument of this number") == true)
        #expect(try refusal(test, "id == $99999999999999999999")?.contains("no argument of this number") == true)
        #expect(try refusal(test, "id == $2147483647")?.contains("argument 2147483648 is missing") == true)
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

    @Test("O76 O50 a long chain and a loop that builds on its own condition work") func typed() throws {
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

    @Test("O76 O50 a condition that is too deep traps and says so") func traps() async {
        let asked = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var condition = Node.fields.id == 1
            for _ in 0..<2_000 { condition = (condition && Node.fields.id < 9) || Node.fields.id > 90 }
            _ = try TestRealm().realm.objects(Node.self).where { _ in condition }.count
        }
        expectMessage(asked, "this query cannot be carried out: the condition is too deep or too large")
        let observed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var condition = Node.fields.id == 1
            for _ in 0..<60 { condition = Node.fields.id < 9 && (Node.fields.id > 90 || condition) }
            let test = try TestRealm()
            _ = test.realm.objects(Node.self).where { _ in condition }.observe { _ in }
        }
        expectMessage(observed, "this query cannot be carried out: the condition is too deep or too large")
    }

    @Test("O76 O50 O51 as many values of any type as one likes may be asked for") func values() throws {
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
