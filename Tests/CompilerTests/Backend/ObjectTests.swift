import Foundation
import MartletBackend
import MartletFrontend
import MartletSchema
import Testing

@Suite("Backend: objects")
struct ObjectTests {
    @Test("the schema description lists every property in the order of the schema S21")
    func facts() {
        let object = Sample.object(
            "Dog",
            [
                Sample.property("id", Sample.type(.scalar(.objectId)), key: true),
                Sample.property("name", Sample.string, renamedFrom: "title", index: true),
                Sample.property("size", Sample.type(.enumeration("Size", raw: .int), optional: true)),
                Sample.property("owner", Sample.link("Person"), onDelete: .cascade, deleteRule: .deny),
                Sample.property("home", Sample.type(.embedded("Address"), optional: true)),
                Sample.property("marks", Sample.type(.scalar(.int8), .list, optional: true)),
                Sample.property("friends", Sample.type(.link("Dog"), .set)),
                Sample.property("rooms", Sample.type(.embedded("Address"), .map, optional: true)),
                Sample.property("story", Sample.string, fullText: true),
                Sample.property(
                    "friendOf", Sample.type(.link("Dog"), .linkingObjects(type: "Dog", property: "friends"))),
            ],
            key: "id", unique: [["name", "size"]], renamedFrom: "Hound")
        #expect(
            facts(in: Sample.swift([object])) == [
                "object Dog", "renamedFrom Hound", "primaryKey id", "unique name size", "property id ObjectId",
                "property name String index renamedFrom=title", "property size enum:Int?",
                "property owner link:Person? onDelete=cascade deleteRule=deny", "property home embedded:Address?",
                "property marks List<Int8?>", "property friends Set<link:Dog>", "property rooms Map<embedded:Address?>",
                "property story String fullText", "property friendOf LinkingObjects<Dog.friends>",
            ])
    }

    @Test("the schema description contains the synchronization settings of types and properties S21 S53")
    func syncFacts() throws {
        let yaml = """
            objects:
              Dog:
                primaryKey: id
                sync: both
                delete: false
                read: name == '\\"\\\\' OR id == $user.sub
                properties:
                  id: Int
                  name: {type: String, write: $user.isAdmin}
                  votes: {type: Int, merge: add}
                  place: {type: Double = 0, sync: none}
              Crash: {primaryKey: id, sync: upload, properties: {id: Int}}
              Cat: {primaryKey: id, sync: none, properties: {id: Int}}

            """
        let model = try #require(
            Frontend.analyze([SourceText(file: SourceFileID(0), path: "A.yaml", text: yaml)]).model)
        #expect(
            facts(in: Sample.swift(model.objects)) == [
                "object Dog", "primaryKey id", "sync both", "rule read name == '\\\"\\\\\\\\' OR id == $user.sub",
                "rule delete FALSEPREDICATE", "property id Int", "property name String", "property votes Int merge=add",
                "property place Double sync=none", "rule write.name $user.isAdmin == true",
            ])
        #expect(Sample.swift([model.objects[1]]).contains("sync upload"))
        #expect(facts(in: Sample.swift([model.objects[2]])) == ["object Cat", "primaryKey id", "property id Int"])
    }

    @Test("an embedded object is marked in its class and in its schema description S21")
    func embedded() {
        let swift = Sample.swift([Sample.object("Address", [Sample.property("city", Sample.string)], embedded: true)])
        #expect(swift.contains("public final class Address: Martlet.EmbeddedObject {"))
        #expect(facts(in: swift).first == "embedded Address")
    }

    @Test("a row is decoded and encoded in the order of the schema description S24")
    func rows() {
        let object = Sample.object(
            "Dog",
            [
                Sample.property("age", Sample.type(.scalar(.int16), optional: true)),
                Sample.property("home", Sample.type(.embedded("Address"), optional: true)),
                Sample.property("of", Sample.type(.link("Dog"), .linkingObjects(type: "Dog", property: "next"))),
                Sample.property("tags", Sample.type(.scalar(.string), .set)),
            ])
        let swift = Sample.swift([object])
        #expect(
            rows(in: swift) == [
                "row.optionalInt16(&_age)", "row.link(&_home)", "row.skip()", "row.collection(&_tags)",
                "row.optionalInt16(_age)", "row.embedded(&_home)", "row.skip()", "row.collection(&_tags)",
            ])
    }

    @Test("only defaults that differ from the initial value of the type are applied S21")
    func defaults() {
        let object = Sample.object(
            "Dog",
            [
                Sample.property("name", Sample.string, default: .string("")),
                Sample.property("legs", Sample.int, default: .integer(4)),
                Sample.property("id", Sample.type(.scalar(.uuid)), default: .newUUID),
            ])
        let swift = Sample.swift([object])
        #expect(
            swift.contains(
                "func _applyDefaults() {\n        _legs = 4\n        _id = Foundation.UUID()\n    }\n"))
        #expect(
            !Sample.swift([Sample.object("Dog", [Sample.property("name", Sample.string)])]).contains("_applyDefaults"))
    }

    @Test(
        "every kind of default is generated as an expression of its type S1",
        arguments: [
            (ScalarKind.int8, DefaultModel.integer(-128), "-128"),
            (.float, .floating(0.1), "0.1"),
            (.double, .floating(1e300), "1e+300"),
            (.date, .date(0.125), "Foundation.Date(timeIntervalSinceReferenceDate: 0.125)"),
            (.date, .now, "Foundation.Date()"),
            (.data, .data([0, 255]), "Foundation.Data([0, 255])"),
            (.objectId, .objectId(Array(repeating: 0xAB, count: 12)), "Martlet.ObjectId(\"abababababababababababab\")"),
            (.decimal128, .decimal128("-12.50"), "Martlet.Decimal128(\"-12.50\")"),
            (.anyValue, .integer(3), "Martlet.AnyStorage(.int(3))"),
            (.anyValue, .string("x"), "Martlet.AnyStorage(.string(\"x\"))"),
        ])
    func literals(kind: ScalarKind, value: DefaultModel, expected: String) {
        #expect(Sample.swift(Sample.type(.scalar(kind)), default: value).contains("_value = \(expected)\n"))
    }

    @Test("values of AnyRealmValue are stored as AnyStorage, because they can be links S22")
    func anyValue() {
        let swift = Sample.swift(Sample.type(.scalar(.anyValue)))
        for line in [
            "private final var _value: Martlet.AnyStorage = .none", "get { _load(0); return _any(_value) }",
            "set { _setAny(0, &_value, newValue) }", "value: Martlet.AnyRealmValue = .none",
            "_value = Martlet.AnyStorage(value)", "row.anyValue(&_value)",
        ] {
            #expect(swift.contains(line))
        }
    }

    @Test("Foundation is imported only if the generated code uses one of its types S22")
    func imports() {
        #expect(!Sample.swift(Sample.string, doc: "Foundation.Date").contains("import Foundation"))
        for kind in [ScalarKind.data, .date, .uuid] {
            #expect(
                Sample.swift(Sample.type(.scalar(kind), .map, optional: true)).contains("public import Foundation\n"))
        }
    }

    @Test("generated code uses the name of a deprecated property only in the declarations of that property S22")
    func deprecated() {
        let dog = Sample.object(
            "Dog",
            [Sample.property("old", Sample.link("Dog"), deprecated: "x"), Sample.property("name", Sample.string)])
        let entry = DeclaredKeyPathModel(
            name: "card", nameSpan: Sample.span, documentation: nil, isList: false,
            paths: [Sample.path("old.name", from: "Dog", in: [dog])])
        let swift = Sample.swift([Sample.object("Dog", dog.properties, keyPaths: [entry])])
        #expect(swift.contains("{ _Dog.Fields<Dog>(_Dog.fields._path.link(\"old\")).name }"))
        #expect(swift.components(separatedBy: "@available(*, deprecated, message: \"x\")").count == 3)
        #expect(!swift.contains("fields.old"))
    }

    private func facts(in swift: String) -> [String] {
        let parts = swift.components(separatedBy: "\"\"\"")
        guard parts.count > 1 else { return [] }
        return parts[1].split(separator: "\n").map { String($0.drop { $0 == " " }) }.filter { !$0.isEmpty }
    }

    private func rows(in swift: String) -> [String] {
        swift.split(separator: "\n").map { String($0.drop { $0 == " " }) }
            .filter { $0.hasPrefix("row.") || $0.contains(" = row.") }
    }
}
