import Testing

@Suite("legacy style, without '@Persisted'")
struct LegacyTests {
    @Test("dynamic variables, 'RealmOptional', 'RealmProperty' and collections are stored, and other variables are not")
    func stored() throws {
        let sample = try Sample(
            """
            class Dog: Object {
                @objc dynamic var name = "", nick = "Rex"
                @objc dynamic var owner: Person?
                @objc dynamic var bornAt: NSDate!
                let age = RealmOptional<Int>()
                let weight = RealmProperty<Double?>()
                let extra = RealmProperty<AnyRealmValue>()
                let tags = List<String>()
                let rooms = MutableSet<Int>()
                let marks = Map<String, Int>()
                var isOpen = false
                @objc dynamic var title: String { name }
            }
            class Person: Object {
                @objc dynamic var name = ""
                let dogs = LinkingObjects(fromType: Dog.self, property: "owner")
                let more: LinkingObjects<Dog> = LinkingObjects(fromType: Dog.self, property: #keyPath(Dog.owner))
            }
            """)
        #expect(
            sample.yaml == """
                objects:
                  Dog:
                    properties:
                      name: String = ""
                      nick: String = "Rex"
                      owner: Person?
                      bornAt: Date?
                      age: Int?
                      weight: Double?
                      extra: AnyRealmValue
                      tags: List<String>
                      rooms: Set<Int>
                      marks: Map<Int>
                    ignored:
                      isOpen: Bool = false

                  Person:
                    properties:
                      name: String = ""
                      dogs: LinkingObjects<Dog.owner>
                      more: LinkingObjects<Dog.owner>

                """)
        #expect(
            sample.findings == [
                "12:23 note: computed property 'title' stays in Swift; move it to an extension of 'Dog'"
            ])
    }

    @Test("overridden methods define the primary key, the indexes and the ignored properties")
    func overrides() throws {
        let sample = try Sample(
            """
            @objcMembers class Dog: Object {
                dynamic var id = 0
                dynamic var name = ""
                dynamic var scratch = 5
                override static func primaryKey() -> String? { return "id" }
                override class func indexedProperties() -> [String] { [#keyPath(Dog.name), "gone"] }
                override static func ignoredProperties() -> [String] { return ["scratch"] }
            }
            class Cat: Object {
                @objc dynamic var id = 0
                override static func primaryKey() -> String? { Names.id }
            }
            """)
        #expect(
            sample.yaml == """
                objects:
                  Dog:
                    primaryKey: id
                    index: [name]
                    properties:
                      id: Int = 0
                      name: String = ""
                    ignored:
                      scratch: Int = 5

                  Cat:
                    properties:
                      id: Int = 0

                """)
        #expect(
            sample.findings == [
                "6:80 warning: the index of 'gone' is left out: there is no such stored property",
                "11:26 warning: what 'primaryKey()' returns is not a literal; write it into the schema",
            ])
    }

    @Test("if a class uses both styles, only '@Persisted' properties are stored, as in Realm")
    func mixed() throws {
        let sample = try Sample(
            """
            class Dog: Object {
                @Persisted var name: String
                @objc dynamic var age = 0
                let tags = List<String>()
            }
            """)
        #expect(sample.yaml.hasSuffix("      name: String\n"))
        #expect(sample.findings.count == 2)
        #expect(sample.findings.allSatisfy { $0.contains("has no '@Persisted' in a class that uses it") })
    }

    @Test("variables with 'dynamic' alone are stored, as in Swift 3")
    func dynamicAlone() throws {
        let sample = try Sample("class Dog: Object {\n    dynamic var name: String! = nil\n    var age = 0\n}")
        #expect(sample.yaml.hasSuffix("      name: String?\n    ignored:\n      age: Int = 0\n"))
        #expect(sample.findings.count == 1 && sample.findings[0].hasPrefix("2:17 warning: 'name' is 'dynamic'"))
    }

    @Test("'RealmOptional' and 'RealmProperty' can contain an enum or have an initial value")
    func boxes() throws {
        let sample = try Sample(
            """
            @objc enum Size: Int, RealmEnum { case small, large }
            class Dog: Object {
                let size = RealmOptional<Size>()
                let age = RealmProperty<Int?>(5)
                @objc dynamic var other = Size.large
            }
            """)
        #expect(sample.yaml.contains("      size: Size?\n      age: Int? = 5\n      other: Size = large\n"))
    }
}
