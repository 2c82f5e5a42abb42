import Foundation
import MartletBackend
import MartletCompiler
import MartletSchema
import MartletTools
import Testing

@Suite("Starter schema")
struct StarterTests {
    private func compile(preset: String) -> Compilation {
        Compiler.lintAndCompile(
            SchemaInput(
                sources: [SourceText(file: SourceFileID(0), path: StarterSchema.fileName, text: StarterSchema.text)],
                configuration: SourceText(
                    file: SourceFileID(1), path: "martlet.yaml", text: "lint: {preset: \(preset)}\n")))
    }

    @Test("the starter schema compiles and has no finding in the strict preset S40")
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

    @Test("'init' writes a schema without lint findings, and prints what to add to the package S40")
    func writes() throws {
        let folder = try TemporaryFolder()
        let outcome = try Executable().run(["init", "Sources/Work/Schemas"], in: folder)
        #expect(outcome.status == 0)
        #expect(outcome.errors == "")
        #expect(outcome.output.hasPrefix("wrote Sources/Work/Schemas/Schema.yaml\n"))
        #expect(outcome.output.contains(".product(name: \"Martlet\", package: \"martlet\")"))
        #expect(outcome.output.contains(".plugin(name: \"MartletPlugin\", package: \"martlet\")"))
        #expect(outcome.output.contains("name: \"Work\","))
        let address = "    .package(url: \"https://github.com/OWNER/martlet\", from: \"\(Compiler.version)\"),\n"
        let readme = try String(contentsOf: Repository.root.appending(path: "README.md"), encoding: .utf8)
        #expect(outcome.output.contains(address) && readme.contains(address))
        #expect(!outcome.output.contains("ln -s"))
        try folder.write("lint: {preset: strict}\n", to: "Sources/Work/Schemas/martlet.yaml")
        let lint = try Executable().run(["lint", "Sources/Work/Schemas"], in: folder)
        #expect(lint.status == 0)
        #expect(lint.output + lint.errors == "")
    }

    @Test("'init' without a folder writes to 'Schemas', and prints how a target includes this folder S40")
    func defaultFolder() throws {
        let folder = try TemporaryFolder()
        let outcome = try Executable().run(["init"], in: folder)
        #expect(outcome.status == 0)
        #expect(try folder.read("Schemas/Schema.yaml") == StarterSchema.text)
        #expect(outcome.output.contains("    ln -s ../../Schemas Sources/App/Schemas\n"))
    }

    @Test(
        "'init' does not overwrite a file, and its message names the existing file S49 S40",
        arguments: ["Schema.yaml", "Pets/Dog.yaml"])
    func occupied(_ name: String) throws {
        let folder = try TemporaryFolder()
        try folder.write("# mine\n", to: "Schemas/\(name)")
        let outcome = try Executable().run(["init", "Schemas/"], in: folder)
        #expect(outcome.status == 1)
        #expect(outcome.output == "")
        #expect(outcome.errors.contains("nothing was written because of existing files: 'Schemas/\(name)'"))
        #expect(try folder.read("Schemas/\(name)") == "# mine\n")
        #expect(folder.names(in: "Schemas").count == 1)
    }

    @Test("'init' ignores hidden files and folders, as all commands do, and 'martlet.yaml' S40")
    func hidden() throws {
        let folder = try TemporaryFolder()
        for path in [".github/workflows/ci.yaml", "Pets/.old/Dog.yaml", ".swiftlint.yaml", "martlet.yaml"] {
            try folder.write("{}\n", to: path)
        }
        let outcome = try Executable().run(["init", "."], in: folder)
        #expect(outcome.status == 0 && outcome.errors == "")
        #expect(try folder.read("Schema.yaml") == StarterSchema.text)
        #expect(try Executable().run(["lint", "."], in: folder).status == 0)
    }

    @Test("'init' does not replace a file at the path of the folder S40")
    func fileInTheWay() throws {
        let folder = try TemporaryFolder()
        try folder.write("notes", to: "Schemas")
        let outcome = try Executable().run(["init"], in: folder)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("nothing was written because of existing files: 'Schemas'"))
        #expect(try folder.read("Schemas") == "notes")
        #expect(try Executable().run(["init", "Schemas/Deeper"], in: folder).status == 3)
    }
}
