import Testing

@Suite("members that are implicitly visible to Objective-C")
struct ObjectiveCTests {
    @Test("a member that satisfies a requirement of an '@objc' protocol is stored, without a warning")
    func witness() throws {
        let sample = try Sample(
            """
            class Dog: Object, Named {
                var name: String?
                dynamic var nick = "Rex"
                @objc dynamic var age = 0
                var isOpen = false
            }
            """, "@objc protocol Named { var name: String? { get set }; @objc optional var nick: String { get } }")
        #expect(
            sample.yaml == """
                objects:
                  Dog:
                    properties:
                      name: String?
                      nick: String = "Rex"
                      age: Int = 0
                    ignored:
                      isOpen: Bool = false

                """)
        #expect(sample.findings == ["1:20 note: 'Named' stays in Swift; write 'extension Dog: Named {}'"])
    }

    @Test(
        "the conformance may be inherited, or declared with an alias, in a composition or in an extension",
        arguments: [
            "class Dog: Object, Animal { var name: String? }",
            "class Dog: Object, Alias { var name: String? }",
            "class Dog: Object, Named & Codable { var name: String? }",
            "class Dog: Both { var name: String? }",
            "class Dog: Object, Models.Named { var name: String? }",
            "class Dog: Object { var name: String? }\nextension Dog: Named {}",
            "class Dog: Object, Outer.Inner { var name: String? }",
            "#if os(iOS)\nclass Dog: Object, Named { var name: String? }\n#endif",
        ])
    func ways(swift: String) throws {
        let sample = try Sample(
            swift,
            """
            @objc(XYNamed) public protocol Named: NSObjectProtocol { var name: String? { get set } }
            protocol Animal: Named { var legs: Int { get } }
            typealias Alias = Named
            typealias Both = Object & Named
            enum Outer { @objc protocol Inner { var name: String? { get } } }
            """)
        #expect(sample.yaml == "objects:\n  Dog:\n    properties:\n      name: String?\n")
        #expect(!sample.findings.contains { $0.contains("'name'") })
    }

    @Test("members that only a Swift protocol requires, computed members and constants are not stored")
    func notWitness() throws {
        let sample = try Sample(
            """
            class Dog: Object, Named, Tagged, Identifiable, Comparable {
                @objc dynamic var age = 0
                var name = ""
                var tag: Int { 5 }
                let code = 5
                @nonobjc var color = 3
            }
            protocol Named { var name: String { get } }
            @objc protocol Tagged { var tag: Int { get }; var code: Int { get } }
            """)
        #expect(
            sample.yaml.hasSuffix(
                "    properties:\n      age: Int = 0\n    ignored:\n      name: String = \"\"\n      color: Int = 3\n"))
        #expect(!sample.findings.contains { $0.contains("warning") })
    }

    @Test("protocols of a base class apply only to the variables that the base class declares")
    func inherited() throws {
        let sample = try Sample(
            "class Base: Object, Named { var name: String? }", "class Dog: Base { var age = 0; var other: String? }",
            "@objc protocol Named { var name: String? { get set }; @objc optional var other: String? { get } }")
        #expect(
            sample.yaml == """
                objects:
                  Dog:
                    properties:
                      name: String?
                    ignored:
                      age: Int = 0
                      other: String?

                """)
    }

    @Test("if no file declares the protocol, the variables that it may require are reported")
    func unknownProtocol() throws {
        let sample = try Sample(
            """
            class Dog: Object, Named {
                @objc dynamic var age = 0
                var name: String?
                var count: Int?
                private var secret = ""
            }
            """)
        #expect(
            sample.yaml == """
                objects:
                  Dog:
                    properties:
                      age: Int = 0
                    ignored:
                      name: String?
                      count: Int?
                      secret: String = ""

                """)
        #expect(
            sample.findings.filter { $0.contains("warning") } == [
                "3:9 warning: Realm stores 'name' only if 'Named', which is not in these files, is an '@objc' "
                    + "protocol that requires it; the property is imported as not stored, so add the file that "
                    + "declares the protocol, or add the property to 'properties' in the schema"
            ])
    }

    @Test("if a class would store nothing else, variables that an undeclared protocol may require are stored")
    func onlyUndecided() throws {
        let sample = try Sample("class Dog: Object, Named { var name: String?; var owner: Dog? }")
        #expect(sample.yaml == "objects:\n  Dog:\n    properties:\n      name: String?\n      owner: Dog?\n")
        #expect(sample.findings.filter { $0.contains("the property is imported as stored, so add") }.count == 2)
    }

    @Test("a variable of an undeclared type, in a class with an undeclared protocol, is reported once")
    func unknownType() throws {
        let sample = try Sample("class Dog: Object, Named { @objc dynamic var age = 0; var owner: Person? }")
        #expect(sample.findings.filter { $0.contains("'owner'") }.count == 1)
        #expect(sample.findings.contains { $0.contains("Realm stores 'owner' only if 'Named'") })
    }

    @Test("a primary key is stored even without attributes")
    func primaryKey() throws {
        let sample = try Sample(
            """
            class Shop: Object, ShopProtocol {
                var identifier = ""
                override static func primaryKey() -> String { return "identifier" }
            }
            """)
        #expect(
            sample.yaml
                == "objects:\n  Shop:\n    primaryKey: identifier\n    properties:\n      identifier: String = \"\"\n")
        #expect(!sample.findings.contains { $0.contains("warning") })
    }

    @Test("'@objcMembers' is inherited across files, and exposes only what Objective-C supports")
    func objcMembers() throws {
        let sample = try Sample(
            """
            class Leaf: Middle { var z = 2; private var hidden = 3; var count: Int?; @nonobjc var no = 4 }
            class Middle: Base { dynamic var x = 0; var y = 1 }
            """, "@objcMembers class Base: Object { dynamic var b = 0; lazy var lazy = 5 }")
        #expect(
            sample.yaml == """
                objects:
                  Leaf:
                    properties:
                      b: Int = 0
                      x: Int = 0
                      y: Int = 1
                      z: Int = 2
                    ignored:
                      lazy: Int = 5
                      hidden: Int = 3
                      count: Int?
                      no: Int = 4

                """)
        #expect(!sample.findings.contains { $0.contains("Swift 3") })
    }

    @Test("'@objcMembers' exposes only '@objc' enums")
    func enums() throws {
        let sample = try Sample(
            """
            @objcMembers class Dog: Object { dynamic var size = Size.small; var kind = Kind.one }
            @objc enum Size: Int, RealmEnum { case small }
            enum Kind: Int, RealmEnum { case one }
            """)
        #expect(
            sample.yaml.hasSuffix(
                "    properties:\n      size: Size = small\n    ignored:\n      kind: Kind = one\n"))
    }

    @Test("a variable with another name in Objective-C is reported, because Realm does not find it")
    func renamed() throws {
        let sample = try Sample(
            "class Dog: Object { @objc dynamic var a = 0; @objc(hasName) dynamic var b = 0; @objc(c) dynamic var c = 0 }"
        )
        #expect(sample.yaml.hasSuffix("      a: Int = 0\n      c: Int = 0\n"))
        #expect(
            sample.findings == [
                "1:73 warning: 'b' is called 'hasName' in Objective-C, so Realm did not find and store it; "
                    + "add it to 'properties' in the schema if it should be stored"
            ])
    }
}
