import Foundation
import MartletSchema
import MartletTools
import Testing

@testable import MartletFrontend

/// The JSON Schema of the schema language.
///
/// After a change of the language, run `MARTLET_RECORD=1 swift test --filter EditorSchema`. The command writes
/// `Documentation/martlet.schema.json` again.
@Suite("JSON Schema")
struct EditorSchemaTests {
    @Test("the committed JSON Schema equals the generated one, byte for byte S45")
    func committed() throws {
        let url = Repository.root.appending(path: "Documentation/martlet.schema.json")
        let bytes = Data(EditorSchema.text.utf8)
        if ProcessInfo.processInfo.environment["MARTLET_RECORD"] != nil { try bytes.write(to: url) }
        let isCurrent = try Data(contentsOf: url) == bytes
        #expect(isCurrent, "write it again: MARTLET_RECORD=1 swift test --filter EditorSchema")
    }

    @Test("valid schemas are accepted S45", arguments: GoodText.all)
    func good(_ schema: GoodText) throws {
        let problems = try SchemaValidator(EditorSchema.text).problems(of: CoreValues.value(of: schema.text))
        #expect(problems == [])
    }

    @Test("texts that the JSON Schema rejects are rejected by the compiler too S45", arguments: badTexts)
    func bad(_ schema: BadText) throws {
        let problems = try SchemaValidator(EditorSchema.text).problems(of: CoreValues.value(of: schema.text))
        #expect(problems.contains { $0.contains(schema.place) }, "\(problems)")
        let source = SourceText(file: SourceFileID(0), path: "Schema.yaml", text: schema.text)
        #expect(Frontend.analyze([source]).diagnostics.contains { $0.isError })
    }

    @Test(
        "an optional key can have an empty value S45",
        arguments: [
            property("{type: Int, doc: }"), property("{type: Int, renamedFrom: , deprecated: , onDelete: }"),
            dog("primaryKey:", "index:", "unique:", "ignored:", "keypaths:", "renamedFrom:", "doc:"),
            dog() + "enums: {E: {raw: , unknown: , doc: , cases: [a]}}\n", dog() + "projections:\n",
        ])
    func empty(_ text: String) throws {
        let problems = try SchemaValidator(EditorSchema.text).problems(of: CoreValues.value(of: text))
        #expect(problems == [])
        let source = SourceText(file: SourceFileID(0), path: "Schema.yaml", text: text)
        #expect(!Frontend.analyze([source]).diagnostics.contains { $0.isError })
    }

    @Test("every key is described in the JSON Schema and in the schema reference S45")
    func described() throws {
        let reference = try String(
            contentsOf: Repository.root.appending(path: "Documentation/SchemaReference.md"), encoding: .utf8)
        let kinds: [MappingKind] = [.file, .object, .property, .enumeration, .projection]
        for key in kinds.flatMap(\.entries) {
            #expect(key.documentation.hasSuffix("."), "\(key.name)")
            #expect(reference.contains("\n| `\(key.name)` | "), "\(key.name)")
        }
    }

    @Test("if the Python package 'jsonschema' is installed, it accepts and rejects the same texts S45")
    func otherValidator() throws {
        let folder = try TemporaryFolder()
        guard try python(["-c", "import jsonschema"], in: folder) == 0 else { return }
        try folder.write(EditorSchema.text, to: "schema.json")
        let good = try GoodText.all.map { CoreValues.json(try CoreValues.value(of: $0.text)) }
        let bad = try Self.badTexts.map { CoreValues.json(try CoreValues.value(of: $0.text)) }
        let cases = try JSONSerialization.data(withJSONObject: ["good": good, "bad": bad])
        try folder.write(String(decoding: cases, as: UTF8.self), to: "cases.json")
        try folder.write(
            """
            import json, jsonschema
            schema = json.load(open("schema.json"))
            jsonschema.Draft202012Validator.check_schema(schema)
            validator = jsonschema.Draft202012Validator(schema)
            cases = json.load(open("cases.json"))
            assert all(validator.is_valid(case) for case in cases["good"]), "good"
            assert not any(validator.is_valid(case) for case in cases["bad"]), "bad"

            """, to: "check.py")
        let status = try python(["check.py"], in: folder)
        let errors = try folder.read("errors")
        #expect(status == 0, "\(errors)")
    }

    private func python(_ arguments: [String], in folder: TemporaryFolder) throws -> Int32 {
        try folder.write("", to: "errors")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.path + "/errors"))
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    // MARK: The command

    @Test("'json-schema' writes to standard output or to a file, and does not rewrite an equal file S45")
    func command() throws {
        let folder = try TemporaryFolder()
        #expect(try Executable().run(["json-schema"], in: folder).output == EditorSchema.text)
        let arguments = ["json-schema", "--output", "martlet.schema.json"]
        #expect(try Executable().run(arguments, in: folder).output == "wrote martlet.schema.json\n")
        #expect(try folder.read("martlet.schema.json") == EditorSchema.text)
        try folder.setOld("martlet.schema.json")
        let old = try folder.modified("martlet.schema.json")
        #expect(try Executable().run(arguments, in: folder).output == "up to date\n")
        #expect(try folder.modified("martlet.schema.json") == old)
        #expect(try Executable().run(["json-schema", "-o", "gone/schema.json"], in: folder).status == 3)
    }

    // MARK: Samples

    /// A text that must be rejected, and a part of the expected message: usually the path of the rejected value.
    struct BadText: CustomTestStringConvertible, Sendable {
        let text: String
        let place: String

        init(_ text: String, at place: String) {
            self.text = text
            self.place = place
        }

        var testDescription: String { place }
    }

    private static func dog(_ lines: String...) -> String {
        "objects:\n  Dog:\n    properties:\n      name: String\n" + lines.map { "    \($0)\n" }.joined()
    }

    private static func property(_ value: String) -> String { dog("  x: \(value)") }

    static let badTexts: [BadText] = [
        BadText("objcts: {}\n", at: "$.objcts"), BadText("- Dog\n", at: "$ is"),
        BadText("objects: 5\n", at: "$.objects"), BadText("objects: {Dog: {}}\n", at: "$.objects.Dog has no"),
        BadText("objects: {Dog: {properties: {}}}\n", at: "$.objects.Dog.properties is empty"),
        BadText(dog("fields: {}"), at: "$.objects.Dog.fields"), BadText(dog("primaryKey: [a]"), at: "Dog.primaryKey"),
        BadText(dog("index: {name: 1}"), at: "Dog.index"), BadText(dog("unique: name"), at: "Dog.unique"),
        BadText(dog("renamedFrom: my-dog"), at: "Dog.renamedFrom"), BadText(dog("doc: [a]"), at: "Dog.doc"),
        BadText(dog("keypaths: {a: name..name}"), at: "keypaths.a"),
        BadText(dog("keypaths: {a: []}"), at: "keypaths.a"),
        BadText(dog("  first-name: String"), at: "first-name"), BadText(dog("  realm: String"), at: "properties.realm"),
        BadText("objects: {_Dog: {properties: {a: Int}}}\n", at: "$.objects._Dog"),
        BadText("objects: {Type: {properties: {a: Int}}}\n", at: "$.objects.Type"),
        BadText("objects: {\(String(repeating: "D", count: 64)): {properties: {a: Int}}}\n", at: "DDDD"),
        BadText(property("[String]"), at: "properties.x"), BadText(property("5"), at: "properties.x"),
        BadText(property("List<Int>?"), at: "properties.x"), BadText(property("List<List<Int>>"), at: "properties.x"),
        BadText(property("Array<Int>"), at: "properties.x"),
        BadText(property("LinkingObjects<Dog>"), at: "properties.x"),
        BadText(property("Int ="), at: "properties.x"), BadText(property("Int 5"), at: "properties.x"),
        BadText(property("Int!"), at: "properties.x"), BadText(property("{default: 5}"), at: "properties.x has no"),
        BadText(property("{type: Int, nullable: true}"), at: "properties.x.nullable"),
        BadText(property("{type: Dog?, onDelete: forget}"), at: "properties.x.onDelete"),
        BadText(property("{type: String, fullText: yes}"), at: "properties.x.fullText"),
        BadText(property("{type: Int, default: [5]}"), at: "properties.x.default"),
        BadText("embedded: {A: {primaryKey: a, properties: {a: Int}}}\n", at: "$.embedded.A.primaryKey"),
        BadText("embedded: {A: {index: [a], properties: {a: Int}}}\n", at: "$.embedded.A.index"),
        BadText("enums: {E: []}\n", at: "$.enums.E is empty"), BadText("enums: {E: a}\n", at: "$.enums.E"),
        BadText("enums: {E: [a-b]}\n", at: "$.enums.E[0]"), BadText("enums: {E: {raw: Int}}\n", at: "$.enums.E has no"),
        BadText("enums: {E: {raw: int, cases: {a: 1}}}\n", at: "$.enums.E.raw"),
        BadText("enums: {E: {cases: {allCases: a}}}\n", at: "$.enums.E.cases.allCases"),
        BadText("enums: {E: [a, a]}\n", at: "$.enums.E holds"),
        BadText("enums: {E: [rawValue]}\n", at: "$.enums.E[0] is forbidden"),
        BadText("objects: {String: {properties: {a: Int}}}\n", at: "$.objects.String"),
        BadText("enums: {Date: [a]}\n", at: "$.enums.Date"),
        BadText(dog("unique: [[name, name]]"), at: "Dog.unique"), BadText(dog("unique: [name]"), at: "Dog.unique"),
        BadText("projections: {P: {properties: {a: a}}}\n", at: "$.projections.P has no"),
        BadText("projections: {P: {of: Dog, properties: {a: a.}}}\n", at: "$.projections.P.properties.a"),
        BadText(dog() + "projections: {P: {of: Dog, properties: {rootObject: name}}}\n", at: "properties.rootObject"),
    ]
}

/// A valid schema text of this repository.
struct GoodText: CustomTestStringConvertible, Sendable {
    let path: String
    let text: String

    var testDescription: String { path }

    static let all: [GoodText] =
        ["Schemas", "Examples/PluginDemo/Schemas", "Tests/CompilerTests/Fixtures/Good"].flatMap { folder in
            let url = Repository.root.appending(path: folder)
            let names = (try? FileManager.default.subpathsOfDirectory(atPath: url.path)) ?? []
            return names.filter { $0.hasSuffix(".yaml") }.sorted().compactMap { name in
                let text = try? String(contentsOf: url.appending(path: name), encoding: .utf8)
                return text.map { GoodText(path: "\(folder)/\(name)", text: $0) }
            }
        } + [GoodText(path: StarterSchema.fileName, text: StarterSchema.text)]
}
