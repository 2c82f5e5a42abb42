import MartletEngine
import MartletValues
import Testing

@testable import MartletSyncProtocol

@Suite("conversion of queries to conditions of subscriptions")
struct ConditionBuilderTests {
    private let builder = ConditionBuilder(type: 0, schema: SampleSchema.agreed) { type, key in
        type == "Airport" && key == 1 ? .text("JFK") : nil
    }

    private func text(_ predicate: Predicate) throws -> String {
        try builder.condition(predicate).text(type: 0, in: SampleSchema.agreed)
    }

    private func path(_ text: String) -> Predicate.Operand { .path(PropertyPath(text)) }

    private func compare(_ name: String, _ comparison: Predicate.Comparison, _ value: SQLValue) -> Predicate {
        .comparison(path(name), comparison, .value(value))
    }

    // MARK: Canonical form

    @Test("equivalent queries have conditions with the same bytes")
    func equalQueries() throws {
        let a = compare("number", .equal, .integer(1)), b = compare("name", .less, .text("x"))
        let c = compare("flag", .equal, .integer(1))
        let pairs: [(Predicate, Predicate)] = [
            (.and([a, b]), .and([b, a])),
            (.and([a, .and([b, c])]), .and([.and([c, a]), b])),
            (.or([a, a]), a),
            (.and([a, .constant(true)]), a),
            (.or([a, .constant(true)]), .constant(true)),
            (.not(.and([a, b])), .or([.not(b), .not(a)])),
            (.not(.not(b)), b),
            (.or([a, .not(a)]), .constant(true)),
            (.and([b, .not(b)]), .constant(false)),
            (compare("number", .greater, .integer(3)), compare("number", .greaterOrEqual, .integer(4))),
            (compare("number", .less, .real(3.5)), compare("number", .lessOrEqual, .integer(3))),
            (compare("number", .equal, .real(3.5)), .constant(false)),
            (compare("ratio", .equal, .real(-0.0)), compare("ratio", .equal, .integer(0))),
            (compare("maybeNumber", .lessOrEqual, .integer(.max)), compare("maybeNumber", .notEqual, .null)),
            (
                .or([a, compare("number", .equal, .integer(7))]),
                .contained(path("number"), [.integer(7), .integer(1)])
            ),
            (.and([.contained(path("number"), [.integer(1), .integer(2)]), a]), a),
            (
                .and([.not(a), compare("number", .notEqual, .integer(7))]),
                .not(.contained(path("number"), [.integer(7), .integer(1)]))
            ),
            (
                .range(path("number"), lower: .value(.integer(1)), upper: .value(.integer(5)), includesUpper: false),
                .and([compare("number", .lessOrEqual, .integer(4)), compare("number", .greater, .integer(0))])
            ),
            (.isRow(PropertyPath("origin"), [1, 2]), compare("origin.iata", .equal, .text("JFK"))),
            (.text(path("name"), .equals, .value(.text("x")), []), compare("name", .equal, .text("x"))),
            (.text(path("name"), .like, .value(.text("x")), []), compare("name", .equal, .text("x"))),
            (.text(path("name"), .contains, .value(.text("")), []), compare("name", .notEqual, .null)),
            (
                .comparison(path("number"), .less, path("maybeNumber")),
                .comparison(path("maybeNumber"), .greater, path("number"))
            ),
            (
                compare("extra", .equal, AnyValueTag.float.tagged(AnyValueTag.bigEndian(UInt64(Float(2).bitPattern)))),
                compare("extra", .equal, .integer(2))
            ),
            (.isRow(.itself, []), .constant(false)),
        ]
        for (left, right) in pairs {
            #expect(try builder.condition(left).encoded() == builder.condition(right).encoded(), "\(left)")
        }
    }

    @Test("the negation of a comparison is not the opposite comparison, because nil and NaN satisfy no comparison")
    func negation() throws {
        let less = try builder.condition(.not(compare("maybeRatio", .less, .real(1))))
        #expect(less != (try builder.condition(compare("maybeRatio", .greaterOrEqual, .real(1)))))
        #expect(less.matches(values: [:]))
        #expect(less.matches(values: [SampleSchema.path("maybeRatio"): .scalar(.real(.nan))]))
    }

    @Test("conditions have a readable text, with or without their values")
    func readableText() throws {
        let condition = try builder.condition(
            .and([
                compare("home.city", .equal, .text("a'\n")), .not(compare("moment", .less, .real(5))),
                .or([.isRow(PropertyPath("stops"), [1]), compare("price", .greater, .blob(DecimalNumber(3).bytes))]),
            ]))
        #expect(
            condition.text(type: 0, in: SampleSchema.agreed)
                == #"(price > 3 OR ANY stops.iata IN {'JFK'}) AND home.city == 'a\'\n' AND NOT (moment < date(5.0))"#)
        #expect(
            condition.text(type: 0, in: SampleSchema.agreed, includesValues: false)
                == "(price > ? OR ANY stops.iata IN {?}) AND home.city == ? AND NOT (moment < ?)")
    }

    @Test("the sort order of a query is ignored, and its filters are joined with AND")
    func plans() throws {
        var plan = QueryPlan(table: 1)
        plan.add(compare("number", .equal, .integer(1)))
        plan.add(sort: [SortTerm(PropertyPath("name"), ascending: true)])
        plan.stages = [.sort([]), .filter(compare("flag", .equal, .integer(0)))]
        #expect(try builder.condition(plan).text(type: 0, in: SampleSchema.agreed) == "flag == false AND number == 1")
        #expect(try builder.condition(QueryPlan(table: 1)) == .constant(true))
    }

    // MARK: Refusals

    private func refusal(_ body: () throws -> SubscriptionCondition) -> String {
        do {
            return "accepted: \(try body())"
        } catch { return (error as? UnsupportedQuery)?.description ?? "another error: \(error)" }
    }

    @Test("a query that a subscription cannot contain is refused; the error names the part and gives advice")
    func refusedPredicates() {
        let search = FullTextSearch("a")
        let one = Predicate.Operand.value(.integer(1))
        let refused: [(Predicate, String)] = [
            (.comparison(.count(PropertyPath("tags")), .equal, one), "'tags' is compared by its number of elements"),
            (
                .comparison(.aggregate(.max, PropertyPath("scores")), .equal, one),
                "'scores' is compared by the max of its elements"
            ),
            (
                .comparison(.matching(PropertyPath("stops"), .constant(true)), .greater, one),
                "'stops' is compared by a count of matching elements"
            ),
            (.comparison(.matchingShared(.constant(true)), .greater, one), "a count of matching elements"),
            (.comparison(.arithmetic(path("number"), .plus, one), .equal, one), "a calculation"),
            (
                .comparison(.kind(PropertyPath("extra")), .equal, .value(.text("int"))),
                "the type of the value of 'extra'"
            ),
            (.comparison(.outer(1, path("number")), .equal, one), "a subquery"),
            (.fullText(PropertyPath("words"), search), "a full-text search in 'words'"),
            (.element(of: 1, 2, owner: 3), "the condition that an object is an element"),
            (.exists(PropertyPath("stops"), .constant(true)), "a condition on several properties of the same element"),
            (
                compare("origin.name", .equal, .text("a")),
                "'origin.name' leads through a link; a subscription can compare a link only with nil, with an object, or "
                    + "by the primary key of its target ('iata')"
            ),
            (compare("origin.hub.iata", .equal, .text("a")), "'origin.hub.iata' leads through a link"),
            (compare("stops.name", .equal, .text("a")), "'stops.name' leads through a link"),
            (compare("home.rooms", .equal, .integer(1)), "'home.rooms' is a collection of an embedded object"),
            (compare("places", .equal, .null), "'places' is a collection of embedded objects"),
            (compare("tags", .notEqual, .text("a")), "'tags' is compared with '!='"),
            (.someNot(compare("tags", .equal, .text("a"))), "'ALL' and the condition that an element differs"),
            (compare("tags", .less, .text("a")), "'tags' has no order"),
            (.text(path("tags"), .begins, .value(.text("a")), []), "'tags' is searched for a part"),
            (.text(path("extra"), .contains, .value(.text("a")), []), "'extra' is searched for a part"),
            (.text(path("name"), .contains, path("maybeName"), []), "'name' is searched for a part"),
            (
                .text(path("name"), .contains, .value(.text("a")), .caseInsensitive),
                "'name' is compared without regard to case"
            ),
            (
                .contained(path("name"), [.text("a")], .diacriticInsensitive),
                "'name' is compared without regard to case"
            ),
            (.comparison(path("extra"), .equal, path("name")), "'extra' and 'name' cannot be compared"),
            (.comparison(path("price"), .less, path("number")), "'price' and 'number' cannot be compared"),
            (
                compare("extra", .equal, AnyValueTag.list.tagged(ElementBytes.list([]))),
                "'extra' is compared with an object, a list or a map"
            ),
            (compare("token", .equal, .blob([1])), "'token' is compared with a value of another type"),
            (compare("unknown", .equal, .null), "'Sample.unknown' is not synchronized"),
            (
                compare("name.length", .equal, .integer(1)),
                "'name.length' continues after a property that contains values"
            ),
            (
                .comparison(.path(PropertyPath(components: [.property("named"), .entry("a")])), .equal, .value(.null)),
                "'named['a']' compares the keys of a map"
            ),
            (
                .comparison(.path(PropertyPath(components: [.property("named"), .keys])), .equal, .value(.text(""))),
                "'named.@allKeys' compares the keys of a map"
            ),
            (
                .isRow(PropertyPath(components: [.backlinks(type: "Sample", property: "origin")]), [1]),
                "'@links.Sample.origin' contains linking objects"
            ),
            (.isRow(PropertyPath("home"), [1]), "'home' is compared with an object without a primary key"),
        ]
        for (predicate, message) in refused {
            let description = refusal { try builder.condition(predicate) }
            #expect(description.hasPrefix(message), "\(predicate): \(description)")
            #expect(description.contains("; "), "no advice: \(description)")
        }
        let notes = ConditionBuilder(type: 4, schema: SampleSchema.agreed) { _, _ in nil }
        #expect(refusal { try notes.condition(compare("sample", .equal, .null)) }.hasPrefix("'sample' leads to a type"))
        #expect(refusal { try notes.condition(.isRow(.itself, [1])) }.hasPrefix("'Note' has no primary key"))
        let airports = ConditionBuilder(type: 3, schema: SampleSchema.agreed) { _, _ in nil }
        #expect(refusal { try airports.condition(.isRow(PropertyPath("visitors"), [1])) }.contains("linking objects"))
    }

    @Test("'distinct', 'limit', queries on collections, and queries that are too large are refused")
    func refusedPlans() {
        var plan = QueryPlan(table: 1)
        plan.add(.limit(1, offset: 0))
        #expect(refusal { try builder.condition(plan) }.hasPrefix("a subscription cannot contain 'limit'"))
        plan.stages = [.distinct([])]
        #expect(refusal { try builder.condition(plan) }.hasPrefix("a subscription cannot contain 'distinct'"))
        let elements = QueryPlan(table: 1, source: .elements(CollectionID(table: 1, property: 1, owner: 1)))
        #expect(refusal { try builder.condition(elements) }.hasPrefix("the results are elements of a collection"))
        plan.stages = []
        plan.predicate = .and((0..<1_001).map { compare("name", .less, .text("\($0)")) })
        #expect(refusal { try builder.condition(plan) }.contains("more than 1000 comparisons"))
        plan.predicate = .contained(path("number"), (0..<30_000).map { .integer($0) })
        #expect(refusal { try builder.condition(plan) }.contains("65536 bytes"))
        let deep = (0..<500).reduce(compare("flag", .equal, .null)) { part, _ in .not(part) }
        #expect(refusal { try builder.condition(deep) }.contains("levels of parentheses"))
    }
}
