import Testing

@Suite("names")
struct NameTests {
    @Test("MRT0402 what a schema cannot name is renamed, with all that leads to it")
    func renamed() throws {
        let sample = try Sample(
            """
            class Reading: Object {
                @Persisted(primaryKey: true) var _key: ObjectId
                @Persisted(indexed: true) var description: Int
                @Persisted var next: Reading?
                @Persisted(originProperty: "_next") var before: LinkingObjects<Reading>
                @Persisted var _next: Reading?
            }
            class Row: Projection<Reading> {
                @Projected(\\Reading._next?.description) var description
                @Projected(\\Reading._key) var _key
            }
            """)
        #expect(
            sample.yaml == """
                objects:
                  Reading:
                    primaryKey: key
                    index: [readingDescription]
                    properties:
                      key: ObjectId = new
                      readingDescription: Int
                      next: Reading?
                      before: LinkingObjects<Reading.readingNext>
                      readingNext: Reading?

                projections:
                  Row:
                    of: Reading
                    properties:
                      rowDescription: readingNext.readingDescription
                      key: key

                """)
        #expect(sample.findings.count == 5)
        #expect(sample.findings.allSatisfy { $0.contains("so rename it in code that uses it") })
    }

    @Test("where no other name is right either, a type is left out, with one finding")
    func unnameable() throws {
        let sample = try Sample(
            "class sqlite_t: Object { @Persisted var a: Int }\nenum Kept: String, RealmEnum { case a }")
        #expect(sample.yaml == "enums:\n  Kept: [a]\n")
        #expect(sample.findings.count == 1 && sample.findings[0].hasPrefix("1:7 warning: 'sqlite_t' is left out: "))
    }

    @Test("MRT0102 names that differ by case alone are left out, the later ones")
    func caseAlone() throws {
        let sample = try Sample("class Dog: Object { @Persisted var id: Int; @Persisted var ID: Int }")
        #expect(sample.yaml.hasSuffix("      id: Int\n"))
        #expect(sample.findings.count == 1 && sample.findings[0].hasPrefix("1:60 warning: 'ID' is left out: "))
    }

    @Test("MRT0204 types that a schema has already get another name")
    func builtInType() throws {
        let sample = try Sample(
            "class Model: Object { @Persisted var name: String; @Persisted var next: Model? }",
            "class Data: Object { @Persisted var name: String; @Persisted var model: Model? }")
        #expect(sample.yaml.contains("  ModelObject:\n    properties:\n      name: String\n      next: ModelObject?\n"))
        #expect(sample.yaml.contains("  DataObject:\n    properties:\n      name: String\n      model: ModelObject?\n"))
        #expect(sample.findings.count == 2)
    }

    @Test("nested types stand alone; the mend keeps the old name")
    func nested() throws {
        let sample = try Sample(
            """
            class Dog: Object {
                enum Size: String, PersistableEnum { case small }
                @Persisted var size: Size
                @Persisted var other: Cat.Size?
            }
            class Cat: Object { @Persisted var size: Cat.Size }
            extension Cat { enum Size: String, PersistableEnum { case huge } }
            enum Zoo { class Bear: Object { @Persisted var bear: Bear? } }
            """)
        #expect(sample.yaml.contains("      size: DogSize\n      other: CatSize?\n"))
        #expect(sample.yaml.contains("  CatSize: [huge]\n"))
        #expect(sample.yaml.contains("  Bear:\n    properties:\n      bear: Bear?\n"))
        #expect(
            sample.findings[0]
                == "2:10 warning: 'Dog.Size' becomes 'DogSize', since no type of a schema stands in another; "
                + "to keep the name, write 'extension Dog { typealias Size = DogSize }'")
        #expect(
            sample.findings.last
                == "8:18 warning: 'Zoo.Bear' becomes 'Bear', since no type of a schema stands in another; "
                + "rename it in code that uses it")
        #expect(sample.findings.count == 3)
    }

    @Test("names that no letter of ASCII begins with are left out, and can be renamed first")
    func foreignLetters() throws {
        let sample = try Sample("class Hund: Object { @Persisted var name: String; @Persisted var größe: Int }")
        #expect(sample.yaml.hasSuffix("      name: String\n"))
        #expect(sample.findings.count == 1 && sample.findings[0].hasPrefix("1:66 warning: 'größe' is left out: "))
    }

    @Test("what is declared twice is taken once")
    func twice() throws {
        let sample = try Sample(
            "class Dog: Object { @Persisted var name: String }", "class Dog: Object { @Persisted var age: Int }")
        #expect(sample.yaml == "objects:\n  Dog:\n    properties:\n      name: String\n")
        #expect(
            sample.findings == [
                "1:7 warning: 'Dog' is declared a second time, and this one is left out; rename one of them"
            ])
    }
}
