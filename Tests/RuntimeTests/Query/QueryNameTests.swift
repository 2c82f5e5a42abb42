import ConformanceModels
import Foundation
import MartletTestSupport
import Testing

@testable import Martlet

/// Properties with the names of keywords, conditions that are always true or always false, and other special cases.
@Suite struct QueryNameTests {
    // Keywords of the query language and of SQL, names that SQLite reads as values or built-in columns, and names that
    // the SQL of compiled queries contains.
    private static let names = [
        "true", "false", "nan", "inf", "infinity", "nil", "null", "yes", "no", "not", "and", "or", "any", "all", "none",
        "some", "in", "between", "contains", "beginswith", "endswith", "like", "text", "self", "subquery",
        "truepredicate", "falsepredicate", "sort", "distinct", "limit", "matches", "rowid", "oid", "current_date",
        "current_time", "current_timestamp", "is", "isnull", "notnull", "glob", "exists", "case", "when", "then", "end",
        "cast", "select", "from", "where", "group", "order", "by", "k", "v", "n", "t", "x", "count", "owner",
        "elements",
        "target", "value",
    ]

    @Test("a property can have the name of a keyword of the query language or of SQL O51", arguments: names)
    func words(_ name: String) throws {
        let schema = """
            object Words
            primaryKey id
            property id Int
            property \(name) Int
            property others List<link:Words>
            """
        let past = try PreviousFile([schema]) { create in
            var created: [Any] = []
            for id in 0..<5 { created.append(create("Words", ["id": id, name: id, "others": created])) }
        }
        let realm = try Realm(configuration: past.configuration([Keyless.self], schemaVersion: 0))
        func ids(_ text: String, _ arguments: Any?...) throws -> [Int] {
            let predicate = try Realm.Predicate(parsing: text, arguments: arguments)
            return try realm.dynamicObjects("Words").filter(predicate).compactMap { $0["id"] as? Int }
        }
        #expect(try ids("#\(name) > 2") == [3, 4])
        #expect(try ids("NOT #\(name) > 2") == [0, 1, 2])
        #expect(try ids("NOT id > 2") == [0, 1, 2])
        #expect(try ids("%K BETWEEN {1, 2}", name) == [1, 2])
        #expect(try ids("ANY others.\(name) > 2") == [4])
        #expect(try ids("NONE others.#\(name) > 2") == [0, 1, 2, 3])
        #expect(try ids("ALL others.\(name) > 0") == [0])
        #expect(try ids("SUBQUERY(others, $x, NOT $x.\(name) > 1).@count == 2") == [2, 3, 4])
        #expect(try ids("SUBQUERY(others, $x, $x.\(name) + 1 == #\(name)).@count == 1") == [1, 2, 3, 4])
        #expect(try ids("#\(name) != nil AND #\(name) != id") == [])
        #expect(try ids("id > 0 SORT(#\(name) DESC) DISTINCT(#\(name)) LIMIT(2)") == [4, 3])
    }

    private func maps() throws -> TestRealm {
        let test = try TestRealm()
        try test.realm.write {
            test.realm.add([ScalarMaps(id: 0), ScalarMaps(id: 1)])
            let map = test.realm.objects(ScalarMaps.self)[1]
            map.ints["k"] = 1
            map.doubles["k"] = .nan
            map.anyValues["k"] = .int(1)
            let node = Node(id: 7)
            map.nodes["k"] = .some(node)
            map.nodes["none"] = .some(nil)
        }
        return test
    }

    @Test("a condition on a map entry can be always true or always false O50 O51") func constants() throws {
        let test = try maps()
        let all = test.realm.objects(ScalarMaps.self)
        func expect(_ found: Results<ScalarMaps>, _ text: String) {
            #expect(found.map(\.id) == [], "\(text)")
            #expect(found.count == 0 && found.first == nil && found.isEmpty)
            var calls = 0
            let token = found.observe { _ in calls += 1 }
            while calls == 0 && test.scheduler.waitForWork() { test.scheduler.run() }
            token.invalidate()
        }
        for text in [
            "ints['k'] < nil", "ints['k'] IN {}", "doubles['k'] == NaN", "nodes['k'].id IN {}", "anyValues['k'] < nil",
            "anyValues['k'] IN {}", "ints['k'] BETWEEN {nil, nil}", "nodes['k'].id > nil", "nodes['k'] IN {}",
            "ANY nodes.id IN {}", "nodes.id < nil", "SUBQUERY(nodes, $x, $x.id < nil).@count > 0",
        ] {
            expect(all.filter(text), text)
            #expect(all.filter("NOT (\(text))").map(\.id) == [0, 1], "NOT \(text)")
            #expect(all.filter("id == %@ AND \(text)", 1).isEmpty && all.filter("\(text) AND id == %@", 1).isEmpty)
            #expect(all.filter("id == %@ OR \(text)", 1).count == 1 && all.filter("\(text) OR id == %@", 1).count == 1)
        }
        expect(all.where { $0.ints["k"].in([]) }, "typed")
        #expect(all.where { !$0.ints["k"].in([]) }.count == 2)
        expect(all.where { $0.doubles["k"] == .nan }, "typed NaN")
        expect(all.where { $0.nodes["k"].id.in([]) }, "typed link")
    }

    @Test("map entries without an object are elements with the value nil O50 O51") func nilEntries() throws {
        let test = try maps()
        let all = test.realm.objects(ScalarMaps.self)
        let node = test.realm.objects(Node.self)[0]
        for (text, ids) in [
            ("ANY nodes == nil", [1]), ("nodes == nil", [1]), ("ALL nodes != nil", [0]), ("NONE nodes == nil", [0]),
            ("ANY nodes != nil", [1]), ("nil IN nodes", [1]), ("nodes CONTAINS nil", [1]), ("nodes.@count == 2", [1]),
            ("SUBQUERY(nodes, $x, $x == nil).@count == 1", [1]), ("SUBQUERY(nodes, $x, $x != nil).@count == 1", [1]),
            ("SUBQUERY(nodes, $x, TRUEPREDICATE).@count == nodes.@count", [0, 1]), ("ANY nodes.id == nil", []),
            ("ANY nodes.id != 7", []), ("ANY nodes IN {nil}", [1]),
        ] as [(String, [Int])] {
            let found = all.filter(text)
            #expect(found.map(\.id) == ids, "\(text)")
            #expect(all.filter("NOT (\(text))").map(\.id) == [0, 1].filter { !ids.contains($0) }, "NOT \(text)")
        }
        #expect(all.filter("ANY nodes != %@", node).map(\.id) == [1] && all.filter("ALL nodes == %@", node).count == 1)
        #expect(all.filter("ANY nodes IN %@", [node]).count == 1 && all.filter("ANY nodes == %@", node).count == 1)
        #expect(
            all.where { $0.nodes.contains(nil) }.map(\.id) == [1] && all.where { $0.nodes.contains(node) }.count == 1)
        // Observers evaluate the same condition for the changed rows.
        let found = all.filter("ANY nodes == nil")
        var changes: [[Int]] = []
        let token = found.observe { change in
            if case .update(_, let deletions, let insertions, _) = change { changes.append(deletions + insertions) }
            if case .initial(let found) = change { changes.append(found.map(\.id)) }
        }
        while changes.isEmpty && test.scheduler.waitForWork() { test.scheduler.run() }
        try test.realm.write {
            all[0].nodes["x"] = .some(nil)
            all[1].nodes["none"] = .some(node)
        }
        while changes.count < 2 && test.scheduler.waitForWork() { test.scheduler.run() }
        #expect(changes == [[1], [0, 0]] && found.map(\.id) == [0])
        token.invalidate()
    }

    @Test("a counted condition can use properties of the owner of the collection O50") func outer() throws {
        let test = try TestRealm()
        try test.realm.write {
            let nodes = (0..<5).map { Node(id: $0, name: ["a", "b", "a", "c", "a"][$0], amount: Double($0)) }
            test.realm.add(nodes)
            nodes[0].children.append(objectsIn: nodes)
            nodes[1].children.append(objectsIn: nodes[0..<2])
            nodes[3].next = nodes[1]
            nodes[3].children.append(objectsIn: nodes[0...1])
            nodes[4].children.append(objectsIn: nodes[2...3])
        }
        let all = test.realm.objects(Node.self)
        #expect(all.where { ($0.children.name == $0.name).count >= 1 }.map(\.id) == [0, 1, 4])
        #expect(all.where { ($0.children.name == $0.name).count == 3 }.map(\.id) == [0])
        #expect(all.where { ($0.children.name == $0.next.name && $0.children.id > 0).count == 1 }.map(\.id) == [3])
        #expect(all.where { ($0.children.amount > $0.amount || $0.id == 3).count == 2 }.map(\.id) == [3])
        #expect(all.where { ($0.children.id == 2 && $0.children.count == 5).count == 1 }.map(\.id) == [0])
        #expect(
            all.where { (($0.children.children.id == $0.children.id).count > 0 && $0.children.id <= $0.id).count > 0 }
                .map(\.id) == [0, 1, 3])
        // Observers are notified of changes of the owner.
        let found = all.where { ($0.children.name == $0.name).count >= 1 }
        var changes = 0
        let token = found.observe { _ in changes += 1 }
        while changes == 0 && test.scheduler.waitForWork() { test.scheduler.run() }
        try test.realm.write { all[3].name = "b" }
        while changes < 2 && test.scheduler.waitForWork() { test.scheduler.run() }
        #expect(found.map(\.id) == [0, 1, 3, 4])
        token.invalidate()
    }

    @Test("string options fold case and diacritics of ASCII strings like Foundation O50") func folding() throws {
        let ascii = (1..<128).map { String(Unicode.Scalar(UInt8($0))) }
        let test = try TestRealm()
        try test.realm.write {
            for (id, text) in ascii.enumerated() { test.realm.add(Node(id: id, name: text)) }
            test.realm.add(Node(id: 500, name: "\u{212A}elvin É"))
        }
        let all = test.realm.objects(Node.self)
        for (options, compare) in [
            (StringOptions.caseInsensitive, String.CompareOptions.caseInsensitive),
            (.diacriticInsensitive, .diacriticInsensitive),
            ([.caseInsensitive, .diacriticInsensitive], [.caseInsensitive, .diacriticInsensitive]),
        ] {
            for text in ascii where text.first?.isLetter == true || "^`~\"'".contains(text) {
                let folded = text.folding(options: compare, locale: nil)
                let expected = ascii.indices.filter { ascii[$0].folding(options: compare, locale: nil) == folded }
                #expect(all.where { $0.name.equals(text, options: options) && $0.id < 500 }.map(\.id) == expected)
            }
        }
        #expect(all.filter("name CONTAINS[cd] 'KELVIN e'").map(\.id) == [500])
        #expect(all.filter("name LIKE[cd] 'k*\u{e9}'").map(\.id) == [500])
        #expect(
            all.filter("name ENDSWITH[c] 'é'").map(\.id) == [500] && all.filter("name BEGINSWITH[c] 'kel'").count == 1)
    }
}
