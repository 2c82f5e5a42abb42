import Foundation
import Testing

@Suite("Docs: commands")
struct DocsCommandTests {
    private static let schema = """
        objects:
          ## A dog of the kennel.
          Dog:
            primaryKey: id
            properties:
              id: ObjectId = new
              mother: Dog?

        """

    private func folder(_ schema: String = schema) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.write(schema, to: "Kennel/Dog.yaml")
        return folder
    }

    @Test("'diagram' writes to standard output, or to a file in the format of its extension S44")
    func diagram() throws {
        let folder = try folder()
        let outcome = try Executable().run(["diagram", "Kennel"], in: folder)
        #expect(outcome.status == 0)
        #expect(outcome.output.hasPrefix("classDiagram\n"))
        #expect(outcome.errors == "")
        for (name, beginning) in [
            ("a.svg", "<?xml"), ("a.dot", "digraph"), ("a.gv", "digraph"), ("a.mmd", "classDiagram"),
        ] {
            let written = try Executable().run(["diagram", "Kennel", "--output", name], in: folder)
            #expect(written.output == "wrote \(name)\n")
            #expect(try folder.read(name).hasPrefix(beginning), "\(name)")
        }
        let chosen = try Executable().run(["diagram", "Kennel", "--format", "dot", "-o", "a.svg"], in: folder)
        #expect(chosen.output == "wrote a.svg\n")
        #expect(try folder.read("a.svg").hasPrefix("digraph"))
    }

    @Test("files are written only if their content differs S13 S44")
    func unchanged() throws {
        let folder = try folder()
        for arguments in [["diagram", "Kennel", "-o", "a.svg"], ["docs", "Kennel", "-o", "Out"]] {
            let file = arguments[0] == "docs" ? "Out/index.html" : "a.svg"
            #expect(try Executable().run(arguments, in: folder).output == "wrote \(file)\n")
            try folder.setOld(file)
            let date = try folder.modified(file)
            #expect(try Executable().run(arguments, in: folder).output == "up to date\n")
            #expect(try folder.modified(file) == date)
        }
    }

    @Test("'docs' writes one page, named after the folder or with the given title S44")
    func docs() throws {
        let folder = try folder()
        let outcome = try Executable().run(["docs", "Kennel/."], in: folder)
        #expect(outcome.status == 0)
        #expect(outcome.output == "wrote SchemaReference/index.html\n")
        #expect(folder.names(in: "SchemaReference") == ["index.html"])
        #expect(try folder.read("SchemaReference/index.html").contains("<h1>Kennel</h1>"))
        #expect(try !folder.read("SchemaReference/index.html").contains(folder.path))
        _ = try Executable().run(["docs", "Kennel", "--title", "Dogs & more", "--output", "Out"], in: folder)
        #expect(try folder.read("Out/index.html").contains("<h1>Dogs &amp; more</h1>"))
    }

    @Test("if the schema has errors, they are printed and no file is written S44", arguments: [["diagram"], ["docs"]])
    func errors(_ command: [String]) throws {
        let folder = try folder(Self.schema + "      name: Strng\n")
        let outcome = try Executable().run(command + ["Kennel", "--output", "Out"], in: folder)
        #expect(outcome.status == 1)
        #expect(outcome.output == "")
        #expect(outcome.errors.hasPrefix("error[MRT0203]: unknown type 'Strng'"))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/Out"))
    }

    @Test("lint warnings do not prevent a diagram S44")
    func warnings() throws {
        let folder = try folder(Self.schema + "      Name: String\n")
        let outcome = try Executable().run(["diagram", "Kennel"], in: folder)
        #expect(outcome.status == 0)
        #expect(outcome.errors == "")
    }

    @Test(
        "wrong usage exits with 2 S40 S44",
        arguments: [
            ["diagram"], ["docs"], ["diagram", "Kennel", "--format", "png"], ["diagram", "Kennel", "--only", "Cat"],
            ["diagram", "Kennel", "--depth", "-1"], ["diagram", "Kennel", "--properties", "some"],
        ])
    func usage(_ arguments: [String]) throws {
        let outcome = try Executable().run(arguments, in: folder())
        #expect(outcome.status == 2)
        #expect(outcome.output == "")
        #expect(!outcome.errors.isEmpty)
    }

    @Test("unreadable input and unwritable output exit with 3 S40 S44", arguments: [["diagram"], ["docs"]])
    func disk(_ command: [String]) throws {
        let folder = try folder()
        #expect(try Executable().run(command + ["Nowhere"], in: folder).status == 3)
        try folder.write("A file is no folder.", to: "Out")
        let outcome = try Executable().run(command + ["Kennel", "--output", "Out/deep"], in: folder)
        #expect(outcome.status == 3)
        #expect(outcome.errors.hasPrefix("martlet: error: "))
    }
}
