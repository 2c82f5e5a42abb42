import Testing

@Suite("names")
struct NameTests {
    @Test("invalid names are changed, together with all references MRT0402")
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

    @Test("a type without a valid name is omitted, with one finding")
    func unnameable() throws {
        let sample = try Sample(
            "class sqlite_t: Object { @Persisted var a: Int }\nenum Kept: String, RealmEnum { case a }")
        #expect(sample.yaml == "enums:\n  Kept: [a]\n")
        #expect(sample.findings.count == 1 && sample.findings[0].hasPrefix("1:7 warning: 'sqlite_t' is left out: "))
    }

    @Test("if two names differ only in case, the property with the later name is omitted MRT0102")
    func caseAlone() throws {
        let sample = try Sample("class Dog: Object { @Persisted var id: Int; @Persisted var ID: Int }")
        #expect(sample.yaml.hasSuffix("      id: Int\n"))
        #expect(sample.findings.count == 1 && sample.findings[0].hasPrefix("1:60 warning: 'ID' is left out: "))
    }

    @Test("types with the name of a built-in type get another name MRT0204")
    func builtInType() throws {
        let sample = try Sample(
            "class Model: Object { @Persisted var name: String; @Persisted var next: Model? }",
            "class Data: Object { @Persisted var name: String; @Persisted var model: Model? }")
        #expect(sample.yaml.contains("  ModelObject:\n    properties:\n      name: String\n      next: ModelObject?\n"))
        #expect(sample.yaml.contains("  DataObject:\n    properties:\n      name: String\n      model: ModelObject?\n"))
        #expect(sample.findings.count == 2)
    }

    @Test("nested types move to the top level, and the finding says how to keep the old name")
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
                == "2:10 warning: 'Dog.Size' becomes 'DogSize', since types of a schema cannot be nested; "
                + "to keep the name, write 'extension Dog { typealias Size = DogSize }'")
        #expect(
            sample.findings.last
                == "8:18 warning: 'Zoo.Bear' becomes 'Bear', since types of a schema cannot be nested; "
                + "rename it in code that uses it")
        #expect(sample.findings.count == 3)
    }

    @Test("properties with non-ASCII letters in their names are omitted")
    func foreignLetters() throws {
        let sample = try Sample("class Hund: Object { @Persisted var name: String; @Persisted var größe: Int }")
        #expect(sample.yaml.hasSuffix("      name: String\n"))
        #expect(sample.findings.count == 1 && sample.findings[0].hasPrefix("1:66 warning: 'größe' is left out: "))
    }

    @Test("the second declaration of a type is omitted")
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
