import MartletLint
import MartletSchema
import Testing

@Suite("Breaking: suggested renames")
struct RenameSuggestionTests {
    private let help = "if 'Person' is the new name of 'Human', write 'renamedFrom: Human' there"

    /// The mend is looked at, and then used: the type or property lives on.
    private func mend(_ old: String, _ new: String, becomes expected: String) throws {
        let change = try SchemaChange(old, new)
        #expect(change.changes.contains { $0.level == .data })
        #expect(Set(change.findings().compactMap(\.span)) == Set(change.new.marks))
        let mended = try change.mended()
        #expect(mended == expected)
        #expect(try SchemaChange(old, mended).changes.map(\.level) == [.source])
    }

    @Test("S43 MRT0601 a type that went and one that came with the same shape")
    func type() throws {
        let old = "objects:\n  Human:\n    properties: {age: Int, friend: Human?}\n"
        let new = "objects:\n  «Person»:\n    properties: {age: Int, friend: Person?}\n"
        #expect(try SchemaChange(old, new).findings().map(\.help) == [help])
        try mend(
            old, new,
            becomes: "objects:\n  Person:\n    renamedFrom: Human\n    properties: {age: Int, friend: Person?}\n")
        try mend(
            "objects:\n  Human: {properties: {age: Int}}\n", "objects:\n  «Person»: { properties: {age: Int}}\n",
            becomes: "objects:\n  Person: {renamedFrom: Human,  properties: {age: Int}}\n")
    }

    @Test("S43 MRT0601 the new line has the depth and the line ends of its neighbours")
    func lines() throws {
        try mend(
            "objects:\n  Human:\n    properties: {age: Int}\n",
            "objects:\r\n   «Person»:  # somebody\r\n\r\n     # private\r\n      properties: {age: Int}\r\n",
            becomes: "objects:\r\n   Person:  # somebody\r\n      renamedFrom: Human\r\n\r\n     # private\r\n"
                + "      properties: {age: Int}\r\n")
    }

    @Test("S43 MRT0601 types that have less than half in common are strangers, and so are embedded ones")
    func strangers() throws {
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

    @Test("S43 MRT0601 the likeliest of several types comes first")
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

    @Test("S43 MRT0601 a property that went and one that came with the same type")
    func property() throws {
        try mend(
            dog("years: Int = 1"), "objects:\n  Dog:\n    properties:\n      «age»: Int = 1\n",
            becomes: "objects:\n  Dog:\n    properties:\n      age: {type: Int = 1, renamedFrom: years}\n")
        try mend(
            dog("years: List<Int?>"), dog("«ages»: List<Int?>"),
            becomes: dog("ages: {type: List<Int?>, renamedFrom: years}"))
        try mend(
            dog("years: Int"), dog("«age»: {type: Int}"), becomes: dog("age: {renamedFrom: years, type: Int}"))
        try mend(
            dog("years: Int"), "objects:\n  Dog:\n    properties:\n      «age»:\n        type: Int\n",
            becomes: "objects:\n  Dog:\n    properties:\n      age:\n        renamedFrom: years\n        type: Int\n")
    }

    @Test("S43 MRT0601 a property of another type is no successor")
    func otherType() throws {
        try check(
            dog("«years»: Int"), "objects:\n  «Dog»: {properties: {age: Double}}\n",
            ["data: property 'Dog.years' is gone, and its stored values with it; declare it again"])
    }

    @Test("S43 MRT0601 where braces would change the meaning, the mend is in words alone")
    func words() throws {
        let change = try SchemaChange(
            dog("name: String"), "objects:\n  Dog:\n    properties:\n      called: String = \"a, b\"\n")
        let finding = try #require(change.findings().first)
        #expect(finding.help == "if 'called' is the new name of 'name', write 'renamedFrom: name' there")
        #expect(finding.fixes == [])
    }

    @Test("S43 MRT0601 an enum that went and one that came with the same cases")
    func enumeration() throws {
        let change = try SchemaChange("enums:\n  Size: [small]\n", "enums:\n  Height:\n    cases: [small]\n")
        #expect(try change.mended() == "enums:\n  Height:\n    renamedFrom: Size\n    cases: [small]\n")
    }
}
