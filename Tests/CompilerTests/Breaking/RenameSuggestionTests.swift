import MartletLint
import MartletSchema
import Testing

@Suite("Breaking: suggested renames")
struct RenameSuggestionTests {
    private let help = "if 'Person' is the new name of 'Human', write 'renamedFrom: Human' there"

    /// Checks that the change from `old` to `new` breaks data, and applies the suggested fix to `new`. The fixed text
    /// must be `expected`, and must break only code, because the renamed type or property keeps its data.
    private func checkFix(_ old: String, _ new: String, becomes expected: String) throws {
        let change = try SchemaChange(old, new)
        #expect(change.changes.contains { $0.level == .data })
        #expect(Set(change.findings().compactMap(\.span)) == Set(change.new.marks))
        let fixed = try change.fixed()
        #expect(fixed == expected)
        #expect(try SchemaChange(old, fixed).changes.map(\.level) == [.source])
    }

    @Test("a rename is suggested if a removed type and an added type have the same shape S43 MRT0601")
    func type() throws {
        let old = "objects:\n  Human:\n    properties: {age: Int, friend: Human?}\n"
        let new = "objects:\n  «Person»:\n    properties: {age: Int, friend: Person?}\n"
        #expect(try SchemaChange(old, new).findings().map(\.help) == [help])
        try checkFix(
            old, new,
            becomes: "objects:\n  Person:\n    renamedFrom: Human\n    properties: {age: Int, friend: Person?}\n")
        try checkFix(
            "objects:\n  Human: {properties: {age: Int}}\n", "objects:\n  «Person»: { properties: {age: Int}}\n",
            becomes: "objects:\n  Person: {renamedFrom: Human,  properties: {age: Int}}\n")
    }

    @Test("the inserted line has the indentation and line ending of the lines around it S43 MRT0601")
    func lines() throws {
        try checkFix(
            "objects:\n  Human:\n    properties: {age: Int}\n",
            "objects:\r\n   «Person»:  # a person\r\n\r\n     # private\r\n      properties: {age: Int}\r\n",
            becomes: "objects:\r\n   Person:  # a person\r\n      renamedFrom: Human\r\n\r\n     # private\r\n"
                + "      properties: {age: Int}\r\n")
    }

    @Test("no rename is suggested for dissimilar types or between embedded and top-level types S43 MRT0601")
    func dissimilarTypes() throws {
        let old = "objects:\n  Dog: {properties: {a: Tag?}}\n  Human: {properties: {age: Int, name: String, no: Int}}\n"
        let tag = "embedded:\n  Tag: {properties: {a: Int}}\n"
        for new in [
            "  Person: {properties: {age: Int, name: Data, no: Bool}}\n" + tag,
            tag + "  Person: {properties: {age: Int, name: String, no: Int}}\n",
        ] {
            let change = try SchemaChange(old + tag, "objects:\n  Dog: {properties: {a: Tag?}}\n" + new)
            #expect(change.findings().map(\.help) == [nil])
        }
    }

    @Test("the rename to the most similar of several types is suggested first S43 MRT0601")
    func several() throws {
        let change = try SchemaChange(
            "objects:\n  Human: {properties: {age: Int, name: String}}\n",
            """
            objects:
              Robot: {properties: {age: Int}}
              «Person»: {properties: {age: Int, name: String}}

            """)
        let finding = try #require(change.findings().first)
        #expect(
            finding.help == "if 'Person' or 'Robot' is the new name of 'Human', write 'renamedFrom: Human' there")
        #expect(
            finding.fixes.map(\.title) == [
                "write 'renamedFrom: Human' for 'Person'", "write 'renamedFrom: Human' for 'Robot'",
            ])
        #expect(finding.span == change.new.marks[0])
    }

    @Test("a rename is suggested if a removed property and an added property have the same type S43 MRT0601")
    func property() throws {
        try checkFix(
            dog("years: Int = 1"), "objects:\n  Dog:\n    properties:\n      «age»: Int = 1\n",
            becomes: "objects:\n  Dog:\n    properties:\n      age: {type: Int = 1, renamedFrom: years}\n")
        try checkFix(
            dog("years: List<Int?>"), dog("«ages»: List<Int?>"),
            becomes: dog("ages: {type: List<Int?>, renamedFrom: years}"))
        try checkFix(
            dog("years: Int"), dog("«age»: {type: Int}"), becomes: dog("age: {renamedFrom: years, type: Int}"))
        try checkFix(
            dog("years: Int"), "objects:\n  Dog:\n    properties:\n      «age»:\n        type: Int\n",
            becomes: "objects:\n  Dog:\n    properties:\n      age:\n        renamedFrom: years\n        type: Int\n")
    }

    @Test("no rename is suggested if the added property has another type S43 MRT0601")
    func otherType() throws {
        try check(
            dog("«years»: Int"), "objects:\n  «Dog»: {properties: {age: Double}}\n",
            ["data: property 'Dog.years' was removed, and its stored values with it; declare it again"])
    }

    @Test("if braces would change the meaning of a declaration, a rename is suggested without a fix S43 MRT0601")
    func helpOnly() throws {
        let change = try SchemaChange(
            dog("name: String"), "objects:\n  Dog:\n    properties:\n      called: String = \"a, b\"\n")
        let finding = try #require(change.findings().first)
        #expect(finding.help == "if 'called' is the new name of 'name', write 'renamedFrom: name' there")
        #expect(finding.fixes == [])
    }

    @Test("a rename is suggested if a removed enum and an added enum have the same cases S43 MRT0601")
    func enumeration() throws {
        let change = try SchemaChange("enums:\n  Size: [small]\n", "enums:\n  Height:\n    cases: [small]\n")
        #expect(try change.fixed() == "enums:\n  Height:\n    renamedFrom: Size\n    cases: [small]\n")
    }
}
