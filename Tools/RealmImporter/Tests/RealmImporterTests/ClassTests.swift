import RealmImporter
import Testing

@Suite("classes")
struct ClassTests {
    @Test("the properties of a subclass begin with the inherited ones, and unused base classes have no table")
    func inheritance() throws {
        let sample = try Sample(
            """
            class Base: Object {
                @Persisted(primaryKey: true) var id: UUID
                @Persisted var previous: Leaf?
            }
            class Middle: Base { @Persisted(indexed: true) var name: String }
            class Leaf: Middle { @Persisted var middle: Middle? }
            """)
        #expect(
            sample.yaml == """
                objects:
                  Middle:
                    primaryKey: id
                    index: [name]
                    properties:
                      id: UUID = new
                      previous: Leaf?
                      name: String

                  Leaf:
                    primaryKey: id
                    index: [name]
                    properties:
                      id: UUID = new
                      previous: Leaf?
                      name: String
                      middle: Middle?

                """)
        #expect(
            sample.findings == [
                "1:7 warning: a schema has no inheritance, so the properties of 'Base' are repeated in 'Middle', "
                    + "and it has no table itself; write a protocol for code that accepts all of them",
                "5:7 warning: a schema has no inheritance, so the properties of 'Middle' are repeated in 'Leaf'; "
                    + "write a protocol for code that accepts all of them",
            ])
    }

    @Test("the code of an omitted base class moves to a protocol")
    func codeOfBase() throws {
        let sample = try Sample(
            """
            class Base: Object {
                enum Kind: String, PersistableEnum { case one }
                @Persisted var kind: Kind
                func bark() {}
            }
            class Dog: Base {}
            class Cat: Base {}
            """)
        #expect(sample.yaml.contains("  Dog:\n    properties:\n      kind: BaseKind\n"))
        #expect(
            sample.findings.dropFirst() == [
                "2:10 warning: 'Base.Kind' becomes 'BaseKind', since types of a schema cannot be nested; "
                    + "rename it in code that uses it",
                "4:10 note: method 'bark()' stays in Swift; move it to a protocol for 'Dog', 'Cat'",
            ])
    }

    @Test("a class with an undeclared base class is reported")
    func unknownBase() throws {
        let sample = try Sample(
            "class Dog: StoredObject { @Persisted var name: String }", "class View: UIView { var name = 5 }")
        #expect(sample.result.outputs.isEmpty)
        #expect(
            sample.findings == [
                "1:7 warning: 'Dog' is left out: its base class 'StoredObject' is in none of these files; "
                    + "add the file that declares it"
            ])
    }

    @Test(
        "a class that looks like a model is reported if its base class is unknown or not supported",
        arguments: [
            (
                "class Dog: Stored { @objc dynamic var name = \"\" }",
                "its base class 'Stored' is in none of these files"
            ),
            ("class Dog: Stored { let tags = List<String>() }", "its base class 'Stored' is in none of these files"),
            (
                "class Dog: Stored { static func primaryKey() -> String? { nil } }",
                "its base class 'Stored' is in none of these files"
            ),
            (
                "class Base: Stored {}; class Dog: Base { @Persisted var a: Int }",
                "its base class 'Stored' is in none of these files"
            ),
            (
                "class Base<T>: Object { @objc dynamic var a = 0 }; class Dog: Base<Int> { @objc dynamic var b = 0 }",
                "its base class 'Base' is generic"
            ),
            ("class Dog: RLMObject { @objc dynamic var a = 0 }", "'RLMObject' belongs to Realm for Objective-C"),
            ("class Dog { @Persisted var a: Int }", "it inherits from no class of Realm"),
        ])
    func unknownBases(swift: String, reason: String) throws {
        let sample = try Sample(swift)
        #expect(sample.result.outputs.isEmpty)
        #expect(sample.findings.contains { $0.contains("'Dog' is left out: \(reason)") })
    }

    @Test("subclasses of system classes with dynamic variables are not Realm classes")
    func systemBases() throws {
        let sample = try Sample(
            "class View: UIView { @objc dynamic var a = 0 }", "class Model: NSObject { @objc dynamic var a = 0 }",
            "protocol P {}; class Other: P { @objc dynamic var a = 0 }", "class Part: View { @objc dynamic var b = 0 }")
        #expect(sample.result.outputs.isEmpty && sample.findings.isEmpty)
    }

    @Test("classes in functions and closures are reported")
    func local() throws {
        let sample = try Sample(
            """
            func make() { class Dog: Base { @Persisted var a: Int }; class View: UIView {} }
            let closure = { class Cat: Object { @Persisted var a: Int } }
            """, "class Base: Object { @Persisted var a: Int }")
        #expect(
            sample.findings == [
                "1:21 warning: 'Dog' is left out: it is declared in a function; move it out, and import again",
                "2:23 warning: 'Cat' is left out: it is declared in a function; move it out, and import again",
            ])
    }

    @Test("the base class can be part of a protocol composition")
    func composition() throws {
        let sample = try Sample(
            "typealias Model = Object & Codable\nclass Dog: Model { @objc dynamic var a = 0 }\n"
                + "class Cat: Object & Named { @objc dynamic var a = 0 }\nprotocol Named {}")
        #expect(sample.yaml.contains("  Dog:\n") && sample.yaml.contains("  Cat:\n"))
        #expect(sample.findings.count == 2)
    }

    @Test("an overridden property is imported once, and its observers are reported")
    func overridden() throws {
        let sample = try Sample(
            """
            class Base: Object { @objc dynamic var name = "" }
            class Dog: Base { override var name: String { didSet { print(name) } } }
            """)
        #expect(sample.yaml == "objects:\n  Dog:\n    properties:\n      name: String = \"\"\n")
        #expect(
            sample.findings.contains { $0.hasPrefix("2:32 warning: 'willSet' and 'didSet' of 'name' are left out") })
    }

    @Test("a base class that code uses has a table, even if the code names it by an alias")
    func usedBase() throws {
        let sample = try Sample(
            """
            typealias Stored = Object
            class Base: Stored { @Persisted var name: String }
            typealias Parent = Base
            class Leaf: Parent { @Persisted var age: Int }
            func all(_ realm: Realm) { realm.objects(Base.self) }
            """)
        #expect(sample.yaml.contains("  Base:\n"))
        #expect(sample.yaml.contains("  Leaf:\n    properties:\n      name: String\n      age: Int\n"))
    }

    @Test("asymmetric, generic and empty classes are reported, and classes of other libraries are ignored")
    func otherKinds() throws {
        let sample = try Sample(
            """
            class View: UIView { var name = "" }
            class Event: AsymmetricObject { @Persisted var name: String }
            class Box<T: Object>: Object { @Persisted var name: String }
            class Dog: Object { @Persisted var box: Box<Dog>?; @Persisted var name: String }
            class Empty: Object { func bark() {} }
            """)
        #expect(sample.yaml == "objects:\n  Dog:\n    properties:\n      name: String\n")
        #expect(sample.findings.map { $0.prefix { $0 != ":" } } == ["2", "3", "4", "5", "5"])
        #expect(sample.findings.contains { $0.hasPrefix("5:7 warning: 'Empty' is left out: ") })
    }

    @Test("code and conformances that must move to extensions are listed")
    func kept() throws {
        let sample = try Sample(
            """
            class Dog: Object, ObjectKeyIdentifiable, Codable, Barking, Hashable {
                @Persisted var name: String
                var title: String { name }
                static var count = 0
                convenience init(name: String) { self.init() }
                func bark(at person: String, _ times: Int) {}
                deinit {}
                enum CodingKeys: String, CodingKey { case name }
            }
            extension Dog { func sleep() {} }
            enum Size: String, PersistableEnum, Codable { case small; var next: Size { self } }
            """)
        #expect(
            sample.findings == [
                "1:20 note: 'ObjectKeyIdentifiable' stays in Swift; write 'extension Dog: Identifiable {}'",
                "1:43 note: Swift cannot derive 'Codable' for a generated class; implement it in an extension of 'Dog'",
                "1:52 note: 'Barking' stays in Swift; write 'extension Dog: Barking {}'",
                "3:9 note: computed property 'title' stays in Swift; move it to an extension of 'Dog'",
                "4:16 note: static property 'count' stays in Swift; move it to an extension of 'Dog'",
                "5:17 note: initializer 'init(name:)' stays in Swift; move it to an extension of 'Dog'",
                "6:10 note: method 'bark(at:_:)' stays in Swift; move it to an extension of 'Dog'",
                "7:5 note: deinitializer stays in Swift; move it to an extension of 'Dog'",
                "8:10 note: type 'CodingKeys' stays in Swift; move it to an extension of 'Dog'",
                "11:37 note: 'Codable' stays in Swift; write 'extension Size: Codable {}'",
                "11:63 note: computed property 'next' stays in Swift; move it to an extension of 'Size'",
            ])
    }

    @Test("names under which Realm stores types and properties are reported")
    func storedNames() throws {
        let sample = try Sample(
            """
            @objc(Hound) class Dog: Object {
                @Persisted var firstName: String
                override class func propertiesMapping() -> [String: String] { ["firstName": "first_name"] }
                override class func shouldIncludeInDefaultSchema() -> Bool { false }
            }
            """)
        #expect(
            sample.findings.map { $0.prefix { $0 != ";" && $0 != "," } } == [
                "1:1 warning: Realm stores 'Dog' as 'Hound'", "3:68 warning: Realm stores 'firstName' as 'first_name'",
                "4:25 warning: 'shouldIncludeInDefaultSchema' is left out: a Realm has all types of its schema",
            ])
    }

    @Test("the first branch of a condition is imported, and all branches are reported")
    func conditions() throws {
        let sample = try Sample(
            """
            #if canImport(UIKit)
            import UIKit
            #endif
            class Dog: Object {
                @Persisted var name: String
                #if os(iOS)
                @Persisted var phone: String
                #else
                @Persisted var terminal: String
                #endif
            }
            """)
        #expect(sample.yaml.hasSuffix("      name: String\n      phone: String\n"))
        #expect(
            sample.findings.map { $0.prefix { $0 != "," && $0 != ";" } } == [
                "6:5 warning: a schema has no conditions", "8:5 warning: the code below '#else' is left out",
            ])
    }

    @Test("macros are reported, because the importer cannot expand them")
    func macros() throws {
        let sample = try Sample(
            """
            @Tracked class Dog: Object {
                @Persisted var name: String
                #extraProperties
            }
            """)
        #expect(
            sample.findings == [
                "1:1 warning: '@Tracked' is left out; replace what it did for 'Dog'",
                "3:5 warning: the macro '#extraProperties' cannot be expanded; "
                    + "write out its expansion, and import again",
            ])
    }

    @Test("a file with a syntax error is reported at the error")
    func brokenFile() throws {
        let sample = try Sample("class Dog: Object {\n    @Persisted var name: String\n    var : Int\n}\n")
        #expect(sample.result.outputs.isEmpty)
        #expect(sample.findings == ["3:9 error: syntax error; fix it, or leave the file out"])
    }
}
