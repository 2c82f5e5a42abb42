import Testing

@Suite("properties")
struct PropertyTests {
    @Test("every type of Realm has a counterpart in the schema")
    func types() throws {
        let lines = try Sample.properties(
            """
            @Persisted var a: Bool; @Persisted var b: Int8; @Persisted var c: Int64?; @Persisted var d: Float
            @Persisted var e: String?; @Persisted var f: Data; @Persisted var g: Decimal128
            @Persisted var h: AnyRealmValue; @Persisted var i: Color; @Persisted var j: Optional<Level>
            @Persisted var k: Other?; @Persisted var l: Part?; @Persisted var m: TimeInterval
            """)
        #expect(
            lines == [
                "a: Bool", "b: Int8", "c: Int64?", "d: Float", "e: String?", "f: Data", "g: Decimal128",
                "h: AnyRealmValue", "i: Color", "j: Level?", "k: Other?", "l: Part?", "m: Double",
            ])
    }

    @Test("a property whose value Realm generates for each object has a generated default")
    func implicitDefaults() throws {
        let lines = try Sample.properties(
            """
            @Persisted var a: UUID; @Persisted var b: ObjectId; @Persisted var c: Date
            @Persisted var d: UUID?; @Persisted var e: ObjectId?; @Persisted var f: Date?
            """)
        #expect(
            lines == ["a: UUID = new", "b: ObjectId = new", "c: Date = now", "d: UUID?", "e: ObjectId?", "f: Date?"])
    }

    @Test("collections are imported, with and without optional elements")
    func collections() throws {
        let lines = try Sample.properties(
            """
            @Persisted var a: List<Int?>; @Persisted var b: MutableSet<Color>; @Persisted var c: Map<String, Double?>
            @Persisted var d: List<Other>; @Persisted var e: Map<String, Other?>; @Persisted var f: List<Part>
            @Persisted var g: RealmSwift.List<String>; @Persisted var h = List<Other>()
            @Persisted var i: MutableSet<Other>; @Persisted var j: List<AnyRealmValue>
            @Persisted(originProperty: "thing") var k: LinkingObjects<Other>
            """)
        #expect(
            lines == [
                "a: List<Int?>", "b: Set<Color>", "c: Map<Double?>", "d: List<Other>", "e: Map<Other?>",
                "f: List<Part>", "g: List<String>", "h: List<Other>", "i: Set<Other>", "j: List<AnyRealmValue>",
                "k: LinkingObjects<Other.thing>",
            ])
    }

    @Test("properties that a schema does not support are omitted or changed, with a finding")
    func unsupported() throws {
        let sample = try Sample(
            """
            class Part: EmbeddedObject { @Persisted var name: String }
            class Thing: Object {
                @Persisted var name: String
                @Persisted var part: Part
                @Persisted var parts: MutableSet<Part>
                @Persisted var links: [String]
                @Persisted var maker: Maker?
                @Persisted var url: URL
                @Persisted var counts: Map<Int, String>
                @Persisted var matrix: List<List<Int>>
            }
            """)
        #expect(sample.yaml.contains("      name: String\n      part: Part?\n\nembedded"))
        #expect(
            sample.findings == [
                "4:20 warning: 'part' becomes 'Part?': a link is optional, since its target can be deleted",
                "5:20 warning: 'parts' is left out: a set cannot hold embedded objects; write 'List<Part>'",
                "6:20 warning: 'links' of type '[String]' is left out: a schema has no arrays; "
                    + "write 'List<String>' in the schema",
                "7:20 warning: 'maker' of type 'Maker?' is left out: the type 'Maker' is in none of these files; "
                    + "add the file that declares it, or store its parts",
                "8:20 warning: 'url' of type 'URL' is left out: a schema has no type 'URL'; "
                    + "write 'String' in the schema and convert in an extension",
                "9:20 warning: 'counts' of type 'Map<Int, String>' is left out: the keys of a map are 'String'; "
                    + "store 'Int' as text",
                "10:20 warning: 'matrix' of type 'List<List<Int>>' is left out: a collection cannot hold collections; "
                    + "put an embedded object between",
            ])
    }

    @Test("an optional primary key becomes required, and indexes are imported")
    func keys() throws {
        let sample = try Sample(
            """
            class Thing: Object {
                @Persisted(primaryKey: true) var code: String?
                @Persisted(indexed: true) var name: String
                @Persisted(wrappedValue: 5, indexed: true) var count: Int
            }
            """)
        #expect(
            sample.yaml == """
                objects:
                  Thing:
                    primaryKey: code
                    index: [name, count]
                    properties:
                      code: String
                      name: String
                      count: Int = 5

                """)
        #expect(sample.findings.count == 1 && sample.findings[0].hasPrefix("2:38 warning: the primary key 'code'"))
    }

    @Test("plain values that are not stored become ignored properties, and other variables are reported")
    func ignored() throws {
        let sample = try Sample(
            """
            class Thing: Object {
                @Persisted var name: String
                var isOpen = false
                private lazy var width = 2.5
                var cache: [String] = []
                weak var parent: Thing?
                let limit = 5
                var now = Date().addingTimeInterval(5)
                var others: List<Thing>
            }
            """)
        #expect(sample.yaml.hasSuffix("    ignored:\n      isOpen: Bool = false\n      width: Double = 2.5\n"))
        #expect(
            sample.findings.map { $0.prefix { $0 != "'" } } == [
                "4:22 note: the access level of ", "5:9 warning: ", "6:14 warning: ", "7:9 note: constant ",
                "8:9 warning: ",
                "9:9 warning: ",
            ])
    }

    @Test("observers, private access and other property wrappers are reported")
    func around() throws {
        let sample = try Sample(
            """
            class Thing: Object {
                @Persisted var name: String { didSet { print(name) } }
                @Persisted private(set) var count: Int
                @Clamped @Persisted var level: Int
                @Persisted(indexed: true, secret: 5) var code: Int
            }
            """)
        #expect(
            sample.findings == [
                "2:20 warning: 'willSet' and 'didSet' of 'name' are left out; observe the object instead, "
                    + "or write a setter method",
                "3:33 note: the access level of 'count' is left out: all properties of a generated class are visible",
                "4:5 warning: '@Clamped' is left out; replace what it did for 'level'",
                "5:46 warning: 'secret: 5' of 'code' is left out; a schema does not support it",
            ])
    }

    @Test("attributes and tuples that the importer cannot read are reported")
    func unread() throws {
        let sample = try Sample(
            """
            class Thing: Object {
                @Persisted(primaryKey: isKeyed) var id: Int
                #if os(iOS)
                @Persisted
                #endif
                var name: String
            }
            class Other: Object {
                @objc dynamic var a = 0
                @objc dynamic var (b, c) = (1, 2)
                var (d, e): (Int, Int) = (1, 2)
            }
            """)
        #expect(
            sample.findings.filter { $0.contains("warning") }.map { $0.prefix { $0 != "," && $0 != ";" } } == [
                "2:41 warning: 'primaryKey: isKeyed' of 'id' is left out",
                "3:5 warning: attributes below '#if' are not read",
                "10:24 warning: 'b' is left out: it is part of a tuple",
                "10:27 warning: 'c' is left out: it is part of a tuple",
                "11:10 warning: 'd' is not stored and not a plain value",
                "11:13 warning: 'e' is not stored and not a plain value",
            ])
    }

    @Test("types with a custom representation are reported with their stored type")
    func custom() throws {
        let sample = try Sample(
            """
            class Thing: Object { @Persisted var name: String; @Persisted var place: Point }
            struct Point { }
            extension Point: CustomPersistable { typealias PersistedType = StoredPoint }
            """)
        #expect(
            sample.findings == [
                "1:67 warning: 'place' of type 'Point' is left out: 'Point' is a CustomPersistable, which a schema "
                    + "does not support; write 'StoredPoint' in the schema and convert in an extension"
            ])
    }

    @Test("type aliases are resolved everywhere")
    func aliases() throws {
        let lines = try Sample.properties(
            """
            typealias Name = String
            typealias Names = List<Name?>
            @Persisted var a: Name; @Persisted var b: Names; @Persisted var c: Thing.Name?
            """)
        #expect(lines == ["a: String", "b: List<String?>", "c: String?"])
    }

    @Test("generic aliases and aliases in the class are resolved")
    func genericAliases() throws {
        let sample = try Sample(
            """
            typealias Many<Element> = List<Element>
            class Dog: Object {
                typealias Names = List<String>
                @objc dynamic var name = ""
                let friends = Many<Dog>()
                let names = Names()
                let others: Many<Dog> = .init()
            }
            class Cat: Object { @Persisted var friends: Many<Cat> }
            """)
        #expect(
            sample.yaml.contains(
                "      friends: List<Dog>\n      names: List<String>\n      others: List<Dog>\n"))
        #expect(sample.yaml.hasSuffix("      friends: List<Cat>\n"))
    }
}
