import Foundation
import Testing

@Suite("The command 'format'")
struct FormatCommandTests {
    private static let unformatted = "objects:\n    Dog:\n        properties: {a:   Int}\n"
    private static let formatted = "objects:\n  Dog:\n    properties: {a: Int}\n"

    private func folder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.write(Self.unformatted, to: "Schemas/Dog.yaml")
        try folder.write(Self.formatted, to: "Schemas/More/Cat.yaml")
        try folder.setOld("Schemas/Dog.yaml")
        try folder.setOld("Schemas/More/Cat.yaml")
        return folder
    }

    @Test("only files that formatting changes are written S42")
    func writes() throws {
        let folder = try folder()
        let old = try folder.modified("Schemas/More/Cat.yaml")
        let outcome = try Executable().run(["format", "Schemas"], in: folder)
        #expect(outcome.status == 0)
        #expect(outcome.output == "wrote Schemas/Dog.yaml\n")
        #expect(outcome.errors == "")
        #expect(try folder.read("Schemas/Dog.yaml") == Self.formatted)
        #expect(try folder.modified("Schemas/More/Cat.yaml") == old)
        #expect(folder.names(in: "Schemas") == ["Dog.yaml", "More"])
        let again = try Executable().run(["format", "Schemas/Dog.yaml", "Schemas/More"], in: folder)
        #expect(again.status == 0)
        #expect(again.output == "up to date\n")
    }

    @Test("'--check' names the files that would change, fails, and writes nothing S42")
    func check() throws {
        let folder = try folder()
        let old = try folder.modified("Schemas/Dog.yaml")
        let outcome = try Executable().run(["format", "--check", "Schemas"], in: folder)
        #expect(outcome.status == 1)
        #expect(outcome.output == "Schemas/Dog.yaml\n")
        #expect(outcome.errors == "")
        #expect(try folder.read("Schemas/Dog.yaml") == Self.unformatted)
        #expect(try folder.modified("Schemas/Dog.yaml") == old)
        let clean = try Executable().run(["format", "--check", "Schemas/More/Cat.yaml"], in: folder)
        #expect(clean.status == 0)
        #expect(clean.output + clean.errors == "")
    }

    @Test("a file that is not valid YAML is reported and left unchanged; the other files are formatted S42")
    func broken() throws {
        let folder = try folder()
        try folder.write("objects:\n    Cat: [a\n", to: "Schemas/Broken.yaml")
        let outcome = try Executable().run(["format", "Schemas"], in: folder)
        #expect(outcome.status == 1)
        #expect(outcome.output == "wrote Schemas/Dog.yaml\n")
        #expect(outcome.errors.contains("MRT0103"))
        #expect(outcome.errors.contains("--> Schemas/Broken.yaml:2:10"))
        #expect(try folder.read("Schemas/Broken.yaml") == "objects:\n    Cat: [a\n")
    }

    @Test("a file above the size limit is left unchanged S42 MRT0002")
    func large() throws {
        let folder = try TemporaryFolder()
        let text = "a:   b\n" + String(repeating: "# comment\n", count: 110_000)
        try folder.write(text, to: "Large.yaml")
        let outcome = try Executable().run(["format", "Large.yaml"], in: folder)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("MRT0002"))
        let isUntouched = try folder.read("Large.yaml") == text
        #expect(isUntouched)
    }

    @Test("a symbolic link remains a link, and the permissions of its file are kept S42")
    func links() throws {
        let folder = try folder()
        let file = folder.path + "/Schemas/Dog.yaml"
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/Link.yaml", withDestinationPath: "Schemas/Dog.yaml")
        #expect(try Executable().run(["format", "Link.yaml"], in: folder).output == "wrote Link.yaml\n")
        #expect(try folder.read("Schemas/Dog.yaml") == Self.formatted)
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect((attributes[.posixPermissions] as? Int) == 0o640)
        let link = try FileManager.default.destinationOfSymbolicLink(atPath: folder.path + "/Link.yaml")
        #expect(link == "Schemas/Dog.yaml")
    }

    @Test("if a path does not exist, no file is changed S42")
    func missing() throws {
        let folder = try folder()
        let outcome = try Executable().run(["format", "Schemas", "Nowhere"], in: folder)
        #expect(outcome.status == 3)
        #expect(outcome.output == "")
        #expect(try folder.read("Schemas/Dog.yaml") == Self.unformatted)
    }
}
