import Foundation
import MartletBackend
import MartletCompiler
import MartletSchema
import Testing

@Suite("The first schema")
struct StarterTests {
    private func compile(preset: String) -> Compilation {
        Compiler.compile(
            SchemaInput(
                sources: [SourceText(file: SourceFileID(0), path: StarterSchema.fileName, text: StarterSchema.text)],
                configuration: SourceText(
                    file: SourceFileID(1), path: "martlet.yaml", text: "lint: {preset: \(preset)}\n")))
    }

    @Test("S40 the first schema compiles, and the strictest lint has nothing to say")
    func clean() throws {
        let compilation = compile(preset: "strict")
        #expect(compilation.diagnostics.map(\.message) == [])
        let swift = compilation.outputs.map(\.text).joined()
        for name in ["Todo", "Person", "Address", "TodoRow", "Urgency"] {
            #expect(swift.contains(" \(name)"), "\(name)")
        }
        let model = try #require(compilation.model)
        #expect(!model.objects.filter(\.isEmbedded).isEmpty)
        #expect(model.objects.flatMap(\.properties).contains { $0.type.isLinkingObjects })
    }

    @Test("S40 'init' writes a schema that 'lint' has nothing to say about, and says what to add")
    func writes() throws {
        let folder = try TemporaryFolder()
        let outcome = try Executable().run(["init", "Sources/Work/Schemas"], in: folder)
        #expect(outcome.status == 0)
        #expect(outcome.errors == "")
        #expect(outcome.output.hasPrefix("wrote Sources/Work/Schemas/Schema.yaml\n"))
        #expect(outcome.output.contains(".product(name: \"Martlet\", package: \"martlet\")"))
        #expect(outcome.output.contains(".plugin(name: \"MartletPlugin\", package: \"martlet\")"))
        #expect(outcome.output.contains("name: \"Work\","))
        #expect(!outcome.output.contains("ln -s"))
        try folder.write("lint: {preset: strict}\n", to: "Sources/Work/Schemas/martlet.yaml")
        let lint = try Executable().run(["lint", "Sources/Work/Schemas"], in: folder)
        #expect(lint.status == 0)
        #expect(lint.output + lint.errors == "")
    }

    @Test("S40 'init' without a folder writes to 'Schemas', and says how a target finds it")
    func defaultFolder() throws {
        let folder = try TemporaryFolder()
        let outcome = try Executable().run(["init"], in: folder)
        #expect(outcome.status == 0)
        #expect(try folder.read("Schemas/Schema.yaml") == StarterSchema.text)
        #expect(outcome.output.contains("    ln -s ../../Schemas Sources/App/Schemas\n"))
    }

    @Test("S49 S40 'init' overwrites nothing and says what is there", arguments: ["Schema.yaml", "Pets/Dog.yaml"])
    func occupied(_ name: String) throws {
        let folder = try TemporaryFolder()
        try folder.write("# mine\n", to: "Schemas/\(name)")
        let outcome = try Executable().run(["init", "Schemas/"], in: folder)
        #expect(outcome.status == 1)
        #expect(outcome.output == "")
        #expect(outcome.errors.contains("there is 'Schemas/\(name)' already"))
        #expect(try folder.read("Schemas/\(name)") == "# mine\n")
        #expect(folder.names(in: "Schemas").count == 1)
    }

    @Test("S40 'init' leaves a file alone that stands where the folder belongs")
    func fileInTheWay() throws {
        let folder = try TemporaryFolder()
        try folder.write("notes", to: "Schemas")
        let outcome = try Executable().run(["init"], in: folder)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("there is 'Schemas' already"))
        #expect(try folder.read("Schemas") == "notes")
        #expect(try Executable().run(["init", "Schemas/Deeper"], in: folder).status == 3)
    }
}
