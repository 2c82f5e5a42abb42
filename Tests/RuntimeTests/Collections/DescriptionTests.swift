import ConformanceModels
import Foundation
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("descriptions of collections")
struct DescriptionTests {
    private let test: TestRealm

    init() throws { test = try TestRealm() }

    private func addTreasures(_ count: Int) throws {
        let treasures = (0..<count).map { Treasure(id: $0, name: $0 < 2 ? "ring" : "coin") }
        try test.realm.write { test.realm.add(treasures) }
    }

    @Test("results show their objects, one per line O82") func results() throws {
        let treasures = test.realm.objects(Treasure.self)
        #expect("\(treasures)" == "Results<Treasure> []")
        try addTreasures(2)
        #expect(
            "\(treasures)" == """
                Results<Treasure> [
                    Treasure { id = 0; name = ring; owners = LinkingObjects<Owner.treasure> },
                    Treasure { id = 1; name = ring; owners = LinkingObjects<Owner.treasure> }
                ]
                """)
    }

    @Test("a description shows at most 100 elements, and the number of omitted elements O82") func long() throws {
        try addTreasures(130)
        let lines = "\(test.realm.objects(Treasure.self))".split(separator: "\n")
        #expect(lines.count == 103)
        #expect(lines[100].contains("id = 99;") && lines[101] == "    … 30 more")
        let list = ScalarLists(id: 1, ints: Array(0..<102)).ints
        #expect("\(list)".hasPrefix("List<Int> [0, 1, ") && "\(list)".hasSuffix(" 99, … 2 more]"))
    }

    @Test("lists, sets, maps and linking objects show their elements O82", arguments: [false, true])
    func properties(isManaged: Bool) throws {
        let node = Node(id: 1, children: [Node(id: 2, name: "b")], named: ["a": nil])
        let scalars = ScalarLists(id: 1, ints: [1, 2], strings: ["x", "y"])
        if isManaged { try test.realm.write { test.realm.add([node, scalars] as [Object]) } }
        #expect("\(scalars.ints)" == "List<Int> [1, 2]")
        #expect("\(scalars.strings)" == "List<String> [\"x\", \"y\"]")
        #expect("\(node.children)".hasPrefix("List<Node> [\n    Node { id = 2; name = b; "))
        #expect("\(node.peers)" == "MutableSet<Node> []")
        #expect("\(node.named)" == "Map<Optional<Node>> [\"a\": nil]")
        if isManaged {
            #expect("\(node.children[0].parents)".hasPrefix("LinkingObjects<Node> [\n    Node { id = 1; "))
            let (children, named) = (node.children, node.named)
            try test.realm.write { test.realm.delete(node) }
            #expect("\(children)" == "List<Node> (invalidated)")
            #expect("\(named)" == "Map<Optional<Node>> (invalidated)")
        }
    }

    @Test(
        "a description can contain a date that is NaN or extremely large O11 O82",
        arguments: [Double.nan, .infinity, 1e300])
    func extremeDates(_ seconds: Double) throws {
        let date = Date(timeIntervalSinceReferenceDate: seconds)
        let object = Scalars(id: 1, date: date, anyValue: .list([.date(date)]))
        let list = ScalarLists(id: 1, dates: [date])
        #expect(object.description.contains("date = ") && list.description.contains("dates = ["))
        #expect(object.description.contains("nan") == seconds.isNaN && "\(list.dates)".contains("nan") == seconds.isNaN)
    }

    @Test("a description of a value that contains a NaN date shows the date as 'nan' O11 O82")
    func nestedDates() throws {
        struct Day: Hashable {
            let date: Date
            let name: String?
        }
        let nan = Date(timeIntervalSinceReferenceDate: .nan)
        let value = AnyRealmValue.list([.date(nan), .map(["a": .date(nan)]), .string("s")])
        #expect("\(value)" == "list([date(nan), map([\"a\": date(nan)]), string(\"s\")])")
        let values: [(Any?, String)] = [
            (nan, "nan"), (Date??.some(nan) as Any?, "nan"), (nil, "nil"), (Date??.some(nil) as Any?, "nil"), (5, "5"),
            ("s", "s"),
            ([nan], "[nan]"), (["s", nan, nil] as [Any?], "[\"s\", nan, nil]"), (Set([nan]), "[nan]"),
            (["a": [nan]], "[\"a\": [nan]]"), (AnyRealmValue.date(nan), "date(nan)"), ([value], "[\(value)]"),
            ([:] as [String: Any], "[:]"), (Day(date: nan, name: "n"), "Day(date: nan, name: \"n\")"),
            ((nan, 1), "(nan, 1)"), (Result<Date, Never>.success(nan), "success(nan)"), (Data([1]), "1 bytes"),
        ]
        for (value, text) in values { #expect("\(ValueDescription(value))" == text) }
        let change = ObjectChange.change(1, [PropertyChange(name: "date", oldValue: nil, newValue: nan)])
        #expect("\(change)" == "change(1, [date: nil → nan])")
        let object = Scalars(id: 1, date: nan, anyValue: value)
        try test.realm.write { test.realm.add(object) }
        #expect("\(object)".contains("anyValue = list([date(nan), "))
        let all = test.realm.objects(Scalars.self)
        #expect("\(all.sectioned(by: \.date))".contains("nan: ["))
        #expect("\(all.sectioned(by: { [$0.date] }, sortDescriptors: []))".contains("[nan]: ["))
        #expect("\(all.sectioned(by: { Optional($0.date) }, sortDescriptors: [])[0])".contains("nan: ["))
    }

    @Test("sections show their keys O82") func sections() throws {
        try addTreasures(3)
        let sections = test.realm.objects(Treasure.self).sectioned(by: \.name)
        #expect(
            "\(sections)" == """
                SectionedResults<String, Treasure> [
                    coin: [
                        Treasure { id = 2; name = coin; owners = LinkingObjects<Owner.treasure> }
                    ],
                    ring: [
                        Treasure { id = 0; name = ring; owners = LinkingObjects<Owner.treasure> },
                        Treasure { id = 1; name = ring; owners = LinkingObjects<Owner.treasure> }
                    ]
                ]
                """)
    }
}
