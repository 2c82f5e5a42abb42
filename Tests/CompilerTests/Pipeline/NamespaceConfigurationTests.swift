import MartletBackend
import MartletCompiler
import MartletFrontend
import MartletSchema
import Testing

@Suite("Pipeline: namespace")
struct NamespaceConfigurationTests {
    private static let schema = """
        enums:
          Size: [small]
        objects:
          Task:
            properties: {id: Int, next: Task?, size: Size}
        projections:
          Card: {of: Task, properties: {id: id}}

        """

    private func compile(_ configuration: String?) -> Compilation {
        var input = SchemaInput(sources: [SourceText(file: SourceFileID(0), path: "Task.yaml", text: Self.schema)])
        input.configuration = configuration.map { SourceText(file: SourceFileID(1), path: "martlet.yaml", text: $0) }
        return Compiler.compile(input)
    }

    @Test("the namespace in martlet.yaml is declared with the access level in martlet.yaml S7")
    func used() {
        let outputs = compile("access: package\nnamespace: Kennel\n").outputs
        #expect(outputs.map(\.name) == ["Task.martlet.swift", OutputNames.registry])
        #expect(outputs.first?.text.contains("extension Kennel.Task: Martlet.ModelObject {") == true)
        #expect(outputs.last?.text.contains("nonisolated package enum Kennel {}") == true)
    }

    @Test("without a namespace, or with an empty one, types are declared at file scope S7 S13")
    func unused() {
        let outputs = compile(nil).outputs
        #expect(outputs == compile("access: public\n").outputs)
        #expect(outputs == compile("namespace:\n").outputs)
        #expect(outputs.count == 2)
        #expect(!outputs.contains { $0.text.contains("enum Kennel") || $0.text.contains("\nextension Task {") })
    }

    @Test(
        "a namespace with the name of a type is an error at this namespace, and nothing is generated S7 S13",
        arguments: [
            ("Size", "enum"), ("Task", "object"), ("Card", "projection"),
        ])
    func clash(name: String, kind: String) throws {
        let compilation = compile("access: internal\nnamespace: \(name)\n")
        let finding = try #require(compilation.diagnostics.first)
        #expect(compilation.diagnostics.count == 1)
        #expect(compilation.outputs.isEmpty)
        #expect(finding.code == .badConfiguration)
        #expect(finding.span == SourceSpan(file: SourceFileID(1), start: 28, end: 28 + name.utf8.count))
        #expect(finding.notes.map(\.message) == ["the \(kind) '\(name)' is declared here"])
        #expect(finding.notes.first?.span?.file == SourceFileID(0))
        // In Swift, names that differ only in case are different names.
        #expect(compile("namespace: \(name.uppercased())\n").hasErrors == false)
    }

    @Test(
        "a namespace is an UpperCamelCase name that generated code does not use S7 S14",
        arguments: [
            ("Martlet", nil), ("Swift", nil), ("Foundation", nil), ("Type", nil), ("Protocol", nil), ("Self", nil),
            ("Any", nil), ("Fields", nil), ("KeyPaths", nil), ("Model", nil), ("Root", nil), ("String", nil),
            ("Data", nil), ("self", nil), ("init", nil), ("zoo", "Zoo"), ("my_zoo", "MyZoo"), ("My_Zoo", "MyZoo"),
            ("my-zoo", "MyZoo"), ("Kennel.Inner", "KennelInner"), ("_Zoo", "Zoo"), ("1Zoo", nil), ("swift", nil),
            ("string", nil), ("class", "Class"), ("Zoologie française", nil), ("Zoo {} enum Other", "ZooEnumOther"),
        ])
    func names(text: String, suggestion: String?) throws {
        let compilation = compile("namespace: \"\(text)\"\n")
        let finding = try #require(compilation.diagnostics.first)
        #expect(compilation.diagnostics.count == 1)
        #expect(compilation.outputs.isEmpty)
        #expect(finding.code == .badConfiguration)
        #expect(finding.span == SourceSpan(file: SourceFileID(1), start: 11, end: 13 + text.utf8.count))
        #expect(finding.fixes.flatMap(\.edits).map(\.replacement) == [suggestion].compactMap(\.self))
        if let suggestion { #expect(!compile("namespace: \(suggestion)\n").hasErrors) }
    }

    @Test("a namespace can have the name of a Swift type, or be a capitalized keyword S7 S14")
    func unusualNames() {
        for name in ["Optional", "Class", "A", "Z9", "NO", "Element", "Models"] {
            #expect(compile("namespace: \(name)\n").diagnostics.map(\.message) == [], "\(name)")
        }
        let long = "Z" + String(repeating: "o", count: 62)
        #expect(compile("namespace: \(long)\n").hasErrors == false)
        #expect(compile("namespace: \(long)o\n").diagnostics.map(\.code) == [.badConfiguration])
    }
}
