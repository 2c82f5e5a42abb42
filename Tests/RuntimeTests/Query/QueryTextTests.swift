import ConformanceModels
import Foundation
import Martlet
import MartletTestSupport
import Testing

@Suite struct QueryTextTests {
    private func nodes() throws -> TestRealm {
        let test = try TestRealm()
        try test.realm.write {
            let nodes = (0..<6).map {
                Node(id: $0, name: ["a", "B", "b", "a", "é", "any"][$0], amount: Double($0) / 2)
            }
            test.realm.add(nodes)
            nodes[0].next = nodes[1]
            nodes[0].children.append(objectsIn: [nodes[1], nodes[2], nodes[2]])
            nodes[3].children.append(nodes[4])
            nodes[0].named["k"] = nodes[3]
        }
        return test
    }

    private func ids(_ test: TestRealm, _ text: String, _ arguments: Any?...) throws -> [Int] {
        try test.realm.objects(Node.self).filter(Realm.Predicate(parsing: text, arguments: arguments)).map(\.id)
    }

    private func message(_ test: TestRealm, _ text: String, _ arguments: Any?...) -> String? {
        do {
            _ = try test.realm.objects(Node.self).filter(Realm.Predicate(parsing: text, arguments: arguments))
            return nil
        } catch {
            return (error as? Realm.Error)?.code == .invalidInput ? (error as? Realm.Error)?.message : "\(error)"
        }
    }

    @Test("the query language supports its operators and keywords O51") func language() throws {
        let test = try nodes()
        let expected: [(String, [Int])] = [
            ("", [0, 1, 2, 3, 4, 5]), ("TRUEPREDICATE", [0, 1, 2, 3, 4, 5]), ("FALSEPREDICATE", []),
            ("id = 1", [1]), ("id == 1", [1]), ("1 == id", [1]), ("id != 1", [0, 2, 3, 4, 5]),
            ("id <> 1", [0, 2, 3, 4, 5]),
            ("id < 2", [0, 1]), ("2 > id", [0, 1]), ("id <= 1", [0, 1]), ("id =< 1", [0, 1]), ("id >= 5", [5]),
            ("id => 5", [5]), ("id BETWEEN {1, 2}", [1, 2]), ("id in {1, 9}", [1]), ("id == 0x2", [2]),
            ("amount == 0.5", [1]), ("amount == .5", [1]), ("amount == 5e-1", [1]), ("amount < -1", []),
            ("amount < inf", [0, 1, 2, 3, 4, 5]), ("amount == nan", []),
            ("name == 'a'", [0, 3]), ("name == \"a\"", [0, 3]), ("name ==[c] 'b'", [1, 2]),
            ("name !=[c] 'b'", [0, 3, 4, 5]),
            ("name CONTAINS 'n'", [5]), ("name beginswith[cd] 'E'", [4]), ("name ENDSWITH 'y'", [5]),
            ("name LIKE 'a*'", [0, 3, 5]), ("name like[c] '?'", [0, 1, 2, 3, 4]),
            ("name IN[c] {'A', 'B'}", [0, 1, 2, 3]),
            ("id == 0 OR id == 1 AND id == 2", [0]), ("(id == 0 OR id == 1) && id == 1", [1]),
            ("!(id > 0) || NOT id < 5", [0, 5]), ("not not id == 1", [1]), ("id + 1 == 2 * 2 - 1", [2]),
            ("id * 2 > amount + 7", [5]), ("10 / 2 == id", [5]), ("(id + 1) * 2 == 4", [1]), ("((id)) == 1", [1]),
            ("next == nil", [1, 2, 3, 4, 5]), ("next.name = 'B'", [0]), ("children.@count == 3", [0]),
            ("children.@size > 0", [0, 3]), ("children.name == 'b'", [0]), ("ANY children.id == 4", [3]),
            ("ALL children.id > 1", [1, 2, 3, 4, 5]), ("NONE children.id > 1", [1, 2, 4, 5]),
            ("SOME children.id == 2", [0]),
            ("children.@sum.id == 5", [0]), ("children.@avg.id > 3", [3]), ("children.@max.id == 2", [0]),
            ("children.@min.id == 1", [0]), ("children.id.@sum == 5", [0]),
            ("SUBQUERY(children, $c, $c.id == 2 && $c.name == 'b').@count == 2", [0]),
            ("@links.Node.children.@count == 1", [1, 4]), ("@links.Node.children.id == 0", [1, 2]),
            ("previous.id == 0", [1]),
            ("'b' IN children.name", [0]), ("NOT 'b' IN children.name", [1, 2, 3, 4, 5]),
            ("'B' IN[c] children.name", [0]), ("nil IN children.next", [0, 3]), ("4 IN @links.Node.next.id", []),
            ("0 IN @links.Node.children.id", [1, 2]), ("ANY children.name IN next.children.name", []),
            ("SUBQUERY(children, $c, $c.id > id + 1).@count == 2", [0]),
            (
                "SUBQUERY(children, $c, SUBQUERY($c.parents, $p, $p.id == id && $p.id < $c.id).@count == 1).@count > 0",
                [0, 3]
            ),
            ("SUBQUERY(children, $c, next == nil AND $c.id == 4).@count == 1", [3]),
            ("SUBQUERY(children, $c, ANY children.id == $c.id).@count == 3", [0]),
            ("SUBQUERY(children, $c, children.@count == 1).@count == 1", [3]),
            ("id == +2", [2]), ("id == - 1 + 3", [2]), ("amount < +inf", [0, 1, 2, 3, 4, 5]),
            ("amount > -inf", [0, 1, 2, 3, 4, 5]),
            ("amount == -nan", []), ("name ==[c] nil", []), ("name !=[c] nil", [0, 1, 2, 3, 4, 5]),
            ("name IN[c] {nil, 'B'}", [1, 2]), ("name == '\\u00e9'", [4]),
            ("name != '\\ud83d\\ude00'", [0, 1, 2, 3, 4, 5]),
            ("named['k'].id == 3", [0]), ("named.@allKeys == 'k'", [0]), ("named.@allValues.id == 3", [0]),
            ("named.@count == 1", [0]), ("SELF.id == 2", [2]), ("#name == 'any'", [5]),
            ("id > 0 SORT(name DESC, id ASC) DISTINCT(name) LIMIT(3)", [4, 2, 5]),
            ("SORT(id DESCENDING) LIMIT(2)", [5, 4]),
        ]
        for (text, ids) in expected { #expect(try self.ids(test, text) == ids, "\(text)") }
    }

    @Test("%@, %K and $0 take arguments, whose content is never parsed O51") func arguments() throws {
        let test = try nodes()
        let all = test.realm.objects(Node.self)
        #expect(try ids(test, "name == %@", "a' OR 1 == 1 OR '") == [])
        #expect(try ids(test, "%K == %@ AND id < %d", "next.name", "B", 4) == [0])
        #expect(try ids(test, "id == $1 OR id == $0", 2, 4) == [2, 4])
        #expect(try ids(test, "$K1 == $0 AND $K2 < 4", "B", "next.name", "id") == [0])
        #expect(try ids(test, "name == %@", AnyRealmValue.string("any")) == [5])
        #expect(try ids(test, "id > %@ AND amount < %@", AnyRealmValue.int(1), AnyRealmValue.float(2)) == [2, 3])
        #expect(try ids(test, "next == %@", AnyRealmValue.object(all[1])) == [0])
        #expect(try ids(test, "next == %@", AnyRealmValue.none) == [1, 2, 3, 4, 5])
        #expect(try ids(test, "id IN %@", [AnyRealmValue.int(1), .double(2), .string("x")].dropLast()) == [1, 2])
        #expect(try ids(test, "id IN %@", AnyRealmValue.list([.int(4), .int(5)])) == [4, 5])
        #expect(try ids(test, "id == %d AND amount < %f", 4, 9.5) == [4])
        #expect(try ids(test, "id IN %@", [1, 2]) == [1, 2])
        #expect(try ids(test, "id IN %@", Set([5])) == [5])
        #expect(try ids(test, "id BETWEEN %@", [2, 3]) == [2, 3])
        #expect(try ids(test, "next == %@", all[1]) == [0])
        #expect(try ids(test, "next != %@", all[1]) == [1, 2, 3, 4, 5])
        #expect(try ids(test, "next == %@", nil as Node?) == [1, 2, 3, 4, 5])
        #expect(try ids(test, "SELF IN %@", [all[1], all[4]]) == [1, 4])
        #expect(try ids(test, "%@ IN children", all[4]) == [3])
        #expect(try ids(test, "ANY children == %@", all[2]) == [0])
        #expect(try ids(test, "children CONTAINS %@", all[2]) == [0])
        #expect(try ids(test, "next == %@", Node(id: 77)) == [], "an unmanaged object equals no link")
        #expect(all.filter("id > %@", 3).map(\.id) == [4, 5])
        #expect(all.index(matching: "name == %@", "B") == 1 && all.index(matching: "id > 9") == nil)
        #expect(all[0].children.filter("id == 2").map(\.id) == [2, 2])
        #expect(all[1].previous.filter("id == 0").count == 1)
    }

    @Test("every type has literals, and strings are converted where the type is known O51") func literals() throws {
        let test = try TestRealm()
        let id = try ObjectId(string: "0123456789abcdef01234567")
        let uuid = try #require(UUID(uuidString: "6F9619FF-8B86-D011-B42D-00CF4FC964FF"))
        let date = Date(timeIntervalSince1970: 1_706_695_200.5)
        try test.realm.write {
            let scalars = Scalars(id: 1)
            scalars.bool = true
            scalars.int = .min
            scalars.float = 0.1
            scalars.string = "it's \"so\"\n"
            scalars.data = Data([1, 2, 3])
            scalars.date = date
            scalars.uuid = uuid
            scalars.objectId = id
            scalars.decimal128 = try Decimal128(string: "1234567890.123456789012345678901234")
            scalars.anyValue = .float(2.5)
            test.realm.add(scalars)
        }
        let found = [
            "bool == true", "bool == YES", "bool == 1", "bool", "bool AND NOT bool == NO",
            "int == -9223372036854775808",
            "float == 0.1", "string == 'it\\'s \"so\"\\n'", "string == \"it's \\\"so\\\"\\n\"",
            "string ENDSWITH '\\u000a'",
            "data == B64'AQID'", "data BEGINSWITH B64\"AQI=\"", "date == 2024-01-31T10:00:00.5Z", "date > 2024-01-31",
            "date == 2024-01-31@10:00:00:500000000", "date == T1706695200:500000000",
            "date == '2024-01-31T10:00:00.5Z'",
            "date BETWEEN {2024-01-31, 2024-02-01}", "date > 2024-01-31T10:00:00+02:00", "date < 2024-02-29",
            "data == bin('\\u0001\\u0002\\u0003')", "data == binary(\"\\u0001\\u0002\\u0003\")", "data != bin('a)')",
            "uuid == uuid(6F9619FF-8B86-D011-B42D-00CF4FC964FF)",
            "uuid == '6f9619ff-8b86-d011-b42d-00cf4fc964ff'", "objectId == oid(0123456789abcdef01234567)",
            "objectId == '0123456789abcdef01234567'", "decimal128 == 1234567890.123456789012345678901234",
            "decimal128 > 1234567890.123456789012345678901233", "decimal128 > int", "decimal128 != double",
            "anyValue == 2.5", "anyValue > 2", "anyValue != 'x'", "anyValue IN {1, 2.5}",
            "anyValue == %@ OR TRUEPREDICATE",
        ]
        let all = test.realm.objects(Scalars.self)
        for text in found {
            let arguments: [Any?] = text.contains("%@") ? [AnyRealmValue.double(2.5)] : []
            let predicate = try Realm.Predicate(parsing: text, arguments: arguments)
            #expect(try all.filter(predicate).count == 1, "\(text)")
            #expect(
                try all.filter(Realm.Predicate(parsing: "NOT (\(text))", arguments: arguments)).isEmpty, "NOT \(text)")
        }
    }

    @Test("a value of any type cannot be compared with a link O51") func linkComparison() throws {
        let realm = try TestRealm().realm
        for text in ["p68 == p66", "p66 == p68"] {
            let error = #expect(throws: Realm.Error.self) {
                try realm.objects(Wide.self).filter(Realm.Predicate(parsing: text))
            }
            #expect(error.map { "\($0)".contains("cannot be compared") } == true, "\(text)")
        }
    }

    @Test("errors contain the offset in the text and what was expected O51") func errors() throws {
        let test = try nodes()
        let wrong: [(String, Int, String)] = [
            ("id ==", 5, "expected a property, a value or a condition, but the text ends here"),
            ("id = 1 2", 7, "expected 'AND', 'OR' or the end, but found a literal"),
            ("(id == 1", 8, "expected ')', but the text ends here"), ("id == 'a", 6, "no closing quote"),
            ("agee > 5", 0, "'Node' has no property 'agee'; it has 'id', 'name'"),
            ("next.nme == 'a'", 5, "'Node' has no property 'nme'"),
            ("name.x == 1", 5, "'Node.name' has no property 'x'"),
            ("name > 5", 5, "'name', which is 'String', and the number 5 cannot be compared"),
            ("id == 'x'", 3, "'id', which is 'Int', and the text 'x' cannot be compared"),
            ("id == name", 3, "'id', which is 'Int', and 'name', which is 'String', cannot be compared"),
            ("id CONTAINS 'x'", 3, "cannot be compared"), ("name CONTAINS 5", 5, "cannot be compared"),
            ("next > 5", 5, "cannot be compared"), ("id", 0, "expected a condition, but found 'id', which is 'Int',"),
            ("id == 1 AND", 11, "expected a property, a value or a condition"), ("id ! 1", 3, "but found '!'"),
            ("name MATCHES 'x'", 5, "regular expressions are not supported"), ("id IN 5", 6, "expected a list"),
            ("id BETWEEN {1}", 11, "expected two bounds"), ("ANY id == 1", 4, "'id', which is 'Int', has none"),
            ("name.@count == 1", 0, "'name' is not a collection"),
            ("children.@sum.name == 1", 0, "has no sum or average"),
            ("children.@foo == 1", 9, "expected '@count'"), ("$x.id == 1", 0, "there is no variable '$x'"),
            ("SUBQUERY(children, $x, $y.id == 1).@count == 1", 23, "there is no variable '$y' here"),
            (
                "SUBQUERY(children, $x, SUBQUERY(peers, $y, $y.id == 1).@count == 1).@count == 1", 32,
                "must begin with '$x'"
            ),
            ("name == '\\ud83d'", 9, "half of a surrogate pair"), ("name == '\\ud83dx'", 9, "half of a surrogate pair"),
            ("name == '\\ud83d\\u0041'", 9, "half of a surrogate pair"),
            ("name == '\\u+123'", 9, "four hexadecimal digits"),
            ("name == bin(12)", 12, "expected a text"), ("name == bin('x'", 8, "expected ')'"),
            ("id == -true", 7, "expected a number after '-'"), ("id == +name", 7, "expected a number after '+'"),
            ("id == $K7", 6, "argument 8 is missing"), ("id == #", 7, "expected a name"),
            ("'a' IN name", 7, "a path that leads to or through a collection"),
            ("SUBQUERY(children, $x, $x.id == 1) == 1", 35, "expected '.'"),
            ("SUBQUERY(next, $x, $x.id == 1).@count == 1", 0, "a SUBQUERY needs a collection"),
            ("id == %@", 6, "argument 1 is missing; 0 were given"), ("id == %q", 6, "expected '%@'"),
            ("id == 12abc", 6, "'12abc' is not a number"), ("id == 99999999999x", 6, "is not a number"),
            ("id ~ 1", 3, "'~' is not expected here"), ("é == 1", 0, "'Node' has no property 'é'"),
            ("id == 1 AND é ~ 1", 15, "'~' is not expected here"), ("name TEXT 'a'", 0, "fullText: true"),
            ("id + name == 1", 3, "needs integers or floating-point numbers"),
            ("SORT(children.id)", 5, "needs properties with one value"),
            ("SORT(id) id == 1", 9, "expected 'AND', 'OR' or the end"), ("LIMIT(x)", 6, "expected a whole number"),
            ("named[1] == nil", 6, "expected the key of a map"),
            ("name['k'] == nil", 4, "'Node.name' has no property '['k']'"),
            ("ALL children.id > peers.id + 1", 18, "'ALL' compares with one value"),
            ("id == 2024-13-45", 6, "is not a date"),
            ("name == oid(12)", 8, "not an object id of 24 hexadecimal digits"),
            (String(repeating: "(", count: 5_000) + "id == 1", 101, "more than 100 nested parentheses"),
        ]
        for (text, offset, expected) in wrong {
            let found = message(test, text) ?? "no error"
            #expect(found.contains(expected), "\(text.prefix(80)): \(found.prefix(300))")
            #expect(found.contains("; see offset \(offset) of the query:"), "\(text.prefix(80)): \(found.prefix(300))")
        }
        #expect(
            message(test, "id == %@", Node.self)?
                .contains("argument 1 of the query 'id == %@' is of type 'Node.Type'") == true)
        #expect(message(test, "id == %@", AnyRealmValue.string("x"))?.contains("and the text 'x' cannot be") == true)
        #expect(message(test, "name == %@", AnyRealmValue.list([]))?.contains("a list in an 'AnyRealmValue'") == true)
        #expect(message(test, "id == 1", 1)?.contains("the number of arguments is 1, but the text uses 0") == true)
        #expect(
            message(test, "id == %@ ", 1, 2)?.contains("the number of arguments is 2, but the text uses 1") == true)
        #expect(
            message(test, "id == 1 AND\n  agee == 2")
                == """
                'Node' has no property 'agee'; it has 'id', 'name', 'amount', 'next', 'children', 'peers', 'named', \
                'previous', 'parents', 'peersOf', 'namedBy', 'part' and others; see offset 14 of the query:
                      agee == 2
                      ^
                """)
    }

    @Test("a subtraction without spaces is not read as a date, unless it has the form of one O51")
    func subtractions() throws {
        let test = try TestRealm()
        try test.realm.write { test.realm.add([Node(id: 1171), Node(id: 1110)]) }
        for text in ["id == 1234-56-7", "1234-56-7 == id", "1234-56-7 < id + 1 AND id > 1170", "id == 1234-56-7.0"] {
            #expect(test.realm.objects(Node.self).filter(text).map(\.id) == [1171], "\(text)")
        }
        #expect(test.realm.objects(Node.self).filter("id == 1234 - 56-68").map(\.id) == [1110])
    }

    @Test("dates that do not exist are rejected O51") func dates() throws {
        let test = try TestRealm()
        for date in [
            "1970-02-30", "2023-02-29", "1900-02-29", "2024-00-10", "2024-01-00", "2024-04-31", "2024-01-01T24:00:00Z",
            "2024-01-01T25:00:00Z", "2024-01-01T10:60:00Z", "2024-01-01T10:00:60Z", "2024-01-01T10:00Z",
            "2024-01-01T10:00:00+25:00", "2024-01-01T10:00:00+01:75", "2024-01-01@10:00:00:1000000000", "T1:-1",
            "T-1:1",
            "T1:1000000000", "T-1:-1000000000",
        ] {
            for text in ["date == \(date)", "date == '\(date)'"] where !(date.hasPrefix("T") && text.contains("'")) {
                #expect(throws: Realm.Error.self, "\(text)") {
                    _ = try test.realm.objects(Scalars.self).filter(Realm.Predicate(parsing: text)).count
                }
            }
        }
        for (month, days) in zip(1..., [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]) {
            func count(_ day: Int) throws -> Int {
                let text = "date == 2024-\(month < 10 ? "0" : "")\(month)-\(day)"
                return try test.realm.objects(Scalars.self).filter(Realm.Predicate(parsing: text)).count
            }
            #expect(try count(days) == 0)
            #expect(throws: Realm.Error.self) { try count(days + 1) }
        }
        for date in ["2024-02-29", "2000-02-29T23:59:59.5Z", "2024-01-01T10:00:00-0130", "T0:1", "T0:-1", "T-1:-1"] {
            _ = try test.realm.objects(Scalars.self).filter(Realm.Predicate(parsing: "date == \(date)")).count
        }
    }

    @Test("'filter' with an invalid text traps with the message of the error O51") func traps() async {
        let output = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestRealm().realm.objects(Node.self).filter("agee > 5")
        }
        expectMessage(output, "this query is not valid: 'Node' has no property 'agee'")
        let foreign = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (one, other) = (try TestRealm(), try TestRealm())
            let node = Node(id: 1)
            try one.realm.write { one.realm.add(node) }
            _ = other.realm.objects(Node.self).filter("next == %@", node)
        }
        expectMessage(foreign, "a 'Node' of another Realm")
    }

    @Test("distinct, limit, filter and sort take effect in the order of their calls O52 O55") func stages() throws {
        let test = try nodes()
        let all = test.realm.objects(Node.self)
        #expect(all.distinct(by: ["name"]).map(\.id) == [0, 1, 2, 4, 5])
        #expect(all.sorted(byKeyPath: "id", ascending: false).distinct { $0.name }.map(\.id) == [5, 4, 3, 2, 1])
        #expect(all.limit(2).map(\.id) == [0, 1] && all.limit(2, offset: 4).map(\.id) == [4, 5])
        #expect(all.limit(9, offset: 9).isEmpty && all.limit(0).count == 0)
        #expect(all.limit(3).where { $0.id > 0 }.map(\.id) == [1, 2])
        #expect(all.where { $0.id > 0 }.limit(3).map(\.id) == [1, 2, 3])
        #expect(all.limit(3).sorted(byKeyPath: "name").map(\.id) == [1, 0, 2])
        #expect(
            all.distinct(by: ["next.name", "name"]).map(\.id) == [0] && all.distinct(by: ["next"]).map(\.id) == [0, 1])
        let page = all.sorted(byKeyPath: "amount", ascending: false).limit(2)
        #expect(page.map(\.id) == [5, 4] && page.count == 2 && page.first?.id == 5 && page.last?.id == 4)
        #expect(page.sum { $0.id } == 9 && page.max { $0.id } == 5 && page.index(of: all[4]) == 1)
        try test.realm.write { all[0].amount = 99 }
        #expect(page.map(\.id) == [0, 5])
        for sorted in [
            all.distinct(by: ["name"]).sorted(byKeyPath: "amount", ascending: false),
            all.limit(5).sorted(byKeyPath: "name").limit(4), all.filter("id > 0 DISTINCT(name) SORT(id DESC)"),
            all.limit(5, offset: 1), all.distinct(by: ["name"]),
        ] {
            #expect(sorted.map { sorted.index(of: $0) } == Array(0..<sorted.count))
            for id in 0..<6 {
                #expect(sorted.index(matching: { $0.id == id }) == sorted.map(\.id).firstIndex(of: id))
                #expect(sorted.index(matching: "id == \(id)") == sorted.map(\.id).firstIndex(of: id))
            }
        }
        #expect(all.limit(2) == all.limit(2) && all.limit(2) != all.limit(3))
    }

    @Test("results sorted by a map entry stay sorted when the entry changes O51 O52") func entries() throws {
        let test = try TestRealm()
        var amounts = [50, 10, 40, 20, 30, 0]
        try test.realm.write {
            for (id, amount) in amounts.enumerated() {
                test.realm.add(OptionalMaps(id: id, ints: ["a": amount, "b": id]))
            }
        }
        let sorted = test.realm.objects(OptionalMaps.self).filter("id >= 0 SORT(ints['a'] ASC)")
        var received = 0
        let token = sorted.observe { _ in received += 1 }
        while received == 0 && test.scheduler.waitForWork() { test.scheduler.run() }
        for (id, amount) in [(2, 5), (0, 25), (5, 35), (1, 100), (3, -1)] {
            amounts[id] = amount
            try test.onNewThread { realm in
                try realm.write { realm.object(ofType: OptionalMaps.self, forPrimaryKey: id)?.ints["a"] = amount }
            }
            test.realm.refresh()
            #expect(sorted.map(\.id) == (0..<6).sorted { amounts[$0] < amounts[$1] })
        }
        #expect(received == 6)
        token.invalidate()
    }

    @Test("results with a limit report exact changes O52 O55") func observed() throws {
        let test = try nodes()
        let page = test.realm.objects(Node.self).sorted(byKeyPath: "amount").limit(2)
        var received: [RealmCollectionChange<Results<Node>>] = []
        let token = page.observe { received.append($0) }
        while received.isEmpty && test.scheduler.waitForWork() { test.scheduler.run() }
        try test.onNewThread { realm in
            try realm.write { realm.object(ofType: Node.self, forPrimaryKey: 0)?.amount = 0.75 }
        }
        test.realm.refresh()
        guard case .update(let now, let deletions, let insertions, let modifications)? = received.last else {
            Issue.record("no change was delivered")
            return
        }
        #expect(now.map(\.id) == [1, 0])
        #expect(deletions == [0] && insertions == [1] && modifications == [])
        token.invalidate()
    }
}
