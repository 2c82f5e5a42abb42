import Foundation
import MartletBackend
import MartletSchema
import Testing

@Suite("Backend: namespace")
struct NamespaceTests {
    private static let options = GenerationOptions(namespace: "Zoo")

    private static var object: ObjectModel {
        let size = Sample.type(.enumeration("Size", raw: .string), optional: true)
        let properties = [
            Sample.property("name", Sample.string), Sample.property("next", Sample.link("Task")),
            Sample.property("old", Sample.link("Task"), deprecated: "Use next."),
            Sample.property("others", Sample.type(.link("Task"), .list)), Sample.property("size", size),
        ]
        let bare = Sample.object("Task", properties)
        let path = Sample.path("next.old.name", from: "Task", in: [bare])
        let entry = DeclaredKeyPathModel(
            name: "oldName", nameSpan: Sample.span, documentation: nil, isList: false, paths: [path])
        return Sample.object("Task", properties, keyPaths: [entry])
    }

    @Test("types are declared in the namespace, conformances after it, and all references use full names S7 S21")
    func declarations() {
        let swift = Sample.swift([Self.object], namespace: "Zoo")
        for text in [
            "\nextension Zoo {\n    nonisolated public final class Task: Martlet.Object {\n",
            "\n}\n\nextension Zoo.Task: Martlet.ModelObject {\n", "public typealias Model = Zoo.Task\n",
            "private final var _next: Martlet.LinkStorage<Zoo.Task> = .none\n", "public var next: Zoo.Task? {\n",
            "others: [Zoo.Task] = [],\n", "size: Zoo.Size? = nil\n", "public var others: Martlet.List<Zoo.Task> {\n",
            "public var size: Martlet.Field<Root, Zoo.Size?> {", "public var next: Zoo.Task.Fields<Root> {",
            "static var fields: Fields<Zoo.Task> {", "private typealias _Task = Zoo.Task\n",
            "static var oldName: Martlet.Field<Zoo.Task, Swift.String> { "
                + "_Task.Fields<Zoo.Task>(_Task.fields.next._path.link(\"old\")).name }",
        ] {
            #expect(swift.contains(text), "\(text)")
        }
        #expect(!swift.contains("enum Zoo"))
    }

    @Test("a type with the name of a Swift keyword is in backticks after the namespace S7 S14")
    func keywords() {
        let object = Sample.object("switch", [Sample.property("next", Sample.link("switch"))])
        let swift = Sample.swift([object], namespace: "Zoo")
        #expect(swift.contains("extension Zoo.`switch`: Martlet.ModelObject {"))
        #expect(swift.contains("public var next: Zoo.`switch`? {"))
    }

    @Test(
        "the registry file declares the namespace at the access level of the types S7 S20",
        arguments: AccessLevel.allCases)
    func registry(level: AccessLevel) {
        let size = EnumModel(
            name: "Size", nameSpan: Sample.span, raw: .string,
            cases: [EnumCaseModel(name: "small", nameSpan: Sample.span, rawValue: .string("small"))])
        let model = Sample.model([.enumeration(size), .object(Self.object)])
        let outputs = Backend.generate(model, options: GenerationOptions(access: level, namespace: "Zoo"))
        let word = level == .internal ? "" : level.rawValue + " "
        #expect(outputs.map { $0.text.contains("\nnonisolated \(word)enum Zoo {}\n") } == [false, true])
        #expect(outputs.last?.text.contains("{ Martlet.register($0, [Zoo.Task.self], []) }") == true)
        #expect(outputs.map(\.name) == Backend.generate(model).map(\.name))
    }

    /// A namespace does not change schema descriptions, raw values, property indices or property names. Therefore it
    /// does not change the stored data.
    @Test("a namespace changes only the names of types in Swift S7 S21", arguments: GoldenTests.schemas)
    func onlyTypeNames(schema: String) throws {
        let folder = try GoldenFolder(schema)
        let plain = try folder.generate()
        let outputs = try folder.generate(Self.options)
        #expect(outputs.map(\.name) == plain.map(\.name))
        for (output, plain) in zip(outputs, plain) {
            #expect(output.text != plain.text)
            let bare = withoutNamespace(output.text)
            #expect(bare == plain.text.filter { !$0.isWhitespace }, "\(output.name)")
        }
    }

    @Test("with a namespace, a change of one schema file changes only one Swift file S13 S20")
    func locality() throws {
        let folder = try GoldenFolder("Flights")
        let before = Dictionary(uniqueKeysWithValues: try folder.generate(Self.options).map { ($0.name, $0.text) })
        let edited = try folder.replacing("speed: Int?", with: "topSpeed: Int?")
        let changed = try edited.generate(Self.options).filter { before[$0.name] != $0.text }.map(\.name)
        #expect(changed == ["Plane.martlet.swift"])
        #expect(try folder.reversed().generate(Self.options).allSatisfy { before[$0.name] == $0.text })
    }

    /// Removes the namespace. Also removes all white space, because lines with longer names wrap at other places.
    private func withoutNamespace(_ text: String) -> String {
        var kept = ""
        var isInside = false
        for line in text.split(separator: "\n") {
            if line == "extension Zoo {" {
                isInside = true
            } else if isInside, line == "}" {
                isInside = false
            } else if line != "/// The types of all schemas of this module.", line != "nonisolated public enum Zoo {}" {
                kept += line
            }
        }
        return kept.replacing("Zoo.", with: "").filter { !$0.isWhitespace }
    }
}
