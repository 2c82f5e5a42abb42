import Testing

@testable import MartletEngine

@Suite("schema differences")
struct SchemaDiffTests {
    private func diff(_ stored: [String], _ declared: [String]) -> SchemaDiff {
        SchemaDiff(
            stored: stored.compactMap(SchemaFactsParser.objectType),
            declared: declared.compactMap(SchemaFactsParser.objectType))
    }

    @Test("equal types need no step, and types that exist only in the file are kept O68")
    func nothing() {
        let dog = "object Dog\nproperty name String"
        #expect(diff([dog], [dog]).isEmpty)
        #expect(diff([dog, "object Cat\nproperty lives Int"], [dog]).isEmpty)
    }

    @Test("additive changes become steps O68")
    func additive() {
        let found = diff(
            ["object Dog\nproperty name String\nproperty age Int"],
            [
                "object Dog\nunique name\nproperty name String index\nproperty age Int?\nproperty tags Set<Int>\nproperty on Bool",
                "object Cat\nproperty lives Int",
            ])
        #expect(found.migrationReasons == [])
        #expect(
            found.steps == [
                .rebuildIndex(type: "Dog", property: "name"), .addProperty(type: "Dog", property: "tags"),
                .addProperty(type: "Dog", property: "on"), .rebuildUniques("Dog"), .replaceSchemaFacts("Dog"),
                .createType("Cat"),
            ])
    }

    @Test("renamed types and properties keep their rows, and links are updated O68")
    func renames() {
        let found = diff(
            ["object Dog\nproperty name String\nproperty tags List<Int>", "object Man\nproperty dog link:Dog?"],
            [
                "object Hound\nrenamedFrom Dog\nproperty title String renamedFrom=name\nproperty marks List<Int> renamedFrom=tags",
                "object Man\nproperty dog link:Hound?",
            ])
        #expect(found.migrationReasons == [])
        #expect(
            found.steps == [
                .renameType(from: "Dog", to: "Hound"), .renameProperty(type: "Hound", from: "name", to: "title"),
                .renameProperty(type: "Hound", from: "tags", to: "marks"), .replaceSchemaFacts("Hound"),
                .replaceSchemaFacts("Man"),
            ])
    }

    @Test("'renamedFrom' has no effect if the former name is still declared, or if another rename uses it O68")
    func staleRenames() {
        let dog = "object Dog\nproperty a Int\nproperty b Int"
        #expect(
            diff([dog], ["object Dog\nproperty a Int renamedFrom=b\nproperty b Int renamedFrom=a"]).steps == [
                .replaceSchemaFacts("Dog")
            ])
        #expect(diff([dog], [dog, "object Hound\nrenamedFrom Dog\nproperty a Int"]).steps == [.createType("Hound")])
        let twice = diff(
            ["object Dog\nproperty a Int"], ["object Dog\nproperty b Int renamedFrom=a\nproperty c Int renamedFrom=a"])
        #expect(
            twice.steps == [
                .renameProperty(type: "Dog", from: "a", to: "b"), .addProperty(type: "Dog", property: "c"),
                .replaceSchemaFacts("Dog"),
            ])
        let types = diff(
            ["object Dog\nproperty a Int"],
            ["object Hound\nrenamedFrom Dog\nproperty a Int", "object Wolf\nrenamedFrom Dog\nproperty a Int"])
        #expect(
            types.steps == [.renameType(from: "Dog", to: "Hound"), .replaceSchemaFacts("Hound"), .createType("Wolf")])
    }

    @Test("floating-point properties that change their position keep NaN and negative zero O68")
    func specials() {
        let found = diff(
            ["object Dog\nproperty name String\nproperty weight Double\nproperty height Float"],
            [
                "object Dog\nproperty age Int\nproperty name String\nproperty mass Double renamedFrom=weight\nproperty height Float"
            ])
        #expect(found.migrationReasons == [])
        #expect(found.steps.contains(.moveSpecials(type: "Dog", positions: [1: 2, 2: 3])))
        #expect(found.steps.first == .moveSpecials(type: "Dog", positions: [1: 2, 2: 3]))
    }

    @Test(
        "a change that would lose or invent data is not made, but reported as a difference O68",
        arguments: [
            ("property a Int", "property a String", "'Int' in the file and 'String'"),
            ("property a Int", "property a Int8", "'Int' in the file and 'Int8'"),
            ("property a Int?", "property a Int", "may be nil"),
            ("property a List<Int?>", "property a List<Int>", "may hold nil"),
            ("property a List<Int>", "property a Set<Int>", "'List<Int>' in the file and 'Set<Int>'"),
            ("property a List<Int>", "property a Int", "'List<Int>' in the file and 'Int'"),
            ("property a link:Dog?", "property a embedded:Dog?", "'Dog?' (linked) in the file"),
            ("property a link:Dog?", "property a link:Cat?", "'Dog?' in the file and 'Cat?'"),
            ("property a Int", "property b Int", "is in the file but not in the schema"),
            ("property a List<Int>", "property b Int", "is in the file but not in the schema"),
            ("property a List<link:Dog>", "property a LinkingObjects<Dog.b>", "'List<Dog>' in the file"),
            ("property a Int", "primaryKey a\nproperty a Int", "the primary key of 'Dog' is absent"),
            ("primaryKey a\nproperty a Int", "property a Int", "'a' in the file and absent"),
            (
                "primaryKey a\nproperty a Int\nproperty b Int", "primaryKey b\nproperty a Int\nproperty b Int",
                "'a' in the file and 'b'"
            ),
        ])
    func differences(stored: String, declared: String, text: String) {
        let found = diff(["object Dog\n\(stored)"], ["object Dog\n\(declared)"])
        #expect(found.migrationReasons.count == 1)
        #expect(found.migrationReasons.first?.contains(text) == true, "\(found.migrationReasons)")
        #expect(found.migrationReasons.first?.contains(": ") == true, "every difference includes a fix")
    }

    @Test("an embedded type that becomes a top-level type is a difference O68")
    func embedding() {
        #expect(diff(["embedded Chip\nproperty a Int"], ["object Chip\nproperty a Int"]).migrationReasons.count == 1)
    }

    @Test("every difference is listed O68")
    func all() {
        let found = diff(
            ["object Dog\nproperty a Int\nproperty b Int\nproperty c Int", "object Cat\nproperty d String?"],
            ["object Dog\nproperty a String\nproperty b Double", "object Cat\nproperty d String"])
        #expect(found.migrationReasons.count == 4)
    }

    @Test("linking objects are not stored and can be added, removed and replaced O68")
    func linkingObjects() {
        let with = "object Dog\nproperty a LinkingObjects<Man.dog>"
        #expect(diff([with], ["object Dog\nproperty b LinkingObjects<Man.cat>"]).migrationReasons == [])
        #expect(
            diff([with], ["object Dog\nproperty a List<Int>"]).steps == [
                .addProperty(type: "Dog", property: "a"), .replaceSchemaFacts("Dog"),
            ])
        #expect(
            diff([with], ["object Dog\nproperty b Int renamedFrom=a"]).steps.first
                == .addProperty(type: "Dog", property: "b"))
    }

    @Test("a primary key may be renamed O68")
    func primaryKey() {
        let found = diff(
            ["object Dog\nprimaryKey a\nproperty a Int"], ["object Dog\nprimaryKey b\nproperty b Int renamedFrom=a"])
        #expect(found.migrationReasons == [])
    }
}
