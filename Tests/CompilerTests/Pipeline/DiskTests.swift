import Foundation
import MartletBackend
import MartletCompiler
import MartletSchema
import MartletTools
import Testing

@Suite("Pipeline: disk")
struct DiskTests {
    private let dog = "objects:\n  ## A dog.\n  Dog:\n    primaryKey: id\n    properties: {id: Int, name: String}\n"

    private func generate(_ folder: TemporaryFolder, options: CompilerOptions = CompilerOptions()) throws -> Compilation
    {
        let input = try SourceLoader().load(folder: folder.path + "/Schemas")
        let compilation = Compiler.lintAndCompile(input, options: options)
        if !compilation.hasErrors { _ = try OutputWriter(folder: folder.path + "/Out").write(compilation.outputs) }
        return compilation
    }

    @Test("each schema file generates one Swift file, and the schema generates one registry file S20")
    func files() throws {
        let folder = try TemporaryFolder()
        try folder.write(dog, to: "Schemas/Dog.yaml")
        try folder.write("enums:\n  Size: [small]\n", to: "Schemas/Sub/Size.yaml")
        try folder.write("not a schema", to: "Schemas/notes.txt")
        _ = try generate(folder)
        #expect(
            folder.names(in: "Out") == ["Dog.martlet.swift", "MartletSchema.martlet.swift", "Sub_Size.martlet.swift"])
    }

    @Test("nothing is generated if there is an error S13")
    func errors() throws {
        let folder = try TemporaryFolder()
        try folder.write(dog, to: "Schemas/Dog.yaml")
        try folder.write("objects:\n  Cat:\n    properties: {name: Strng}\n", to: "Schemas/Cat.yaml")
        let compilation = try generate(folder)
        #expect(compilation.hasErrors)
        #expect(compilation.outputs.isEmpty)
        #expect(folder.names(in: "Out").isEmpty)
    }

    @Test("a generated file is written only if its content changes S13")
    func untouched() throws {
        let folder = try TemporaryFolder()
        try folder.write(dog, to: "Schemas/Dog.yaml")
        try folder.write("enums:\n  Size: [small]\n", to: "Schemas/Size.yaml")
        _ = try generate(folder)
        for name in folder.names(in: "Out") { try folder.setOld("Out/\(name)") }
        try folder.write("enums:\n  Size: [small, large]\n", to: "Schemas/Size.yaml")
        _ = try generate(folder)
        let old = Date(timeIntervalSince1970: 1000)
        #expect(try folder.modified("Out/Dog.martlet.swift") == old)
        #expect(try folder.modified("Out/MartletSchema.martlet.swift") == old)
        #expect(try folder.modified("Out/Size.martlet.swift") != old)
        #expect(folder.names(in: "Out").count == 3)
    }

    @Test("a check of the output reports missing, different and stale files, and writes nothing S34 MRT0005")
    func drift() throws {
        let folder = try TemporaryFolder()
        try folder.write(dog, to: "Schemas/Dog.yaml")
        let outputs = try generate(folder).outputs
        let writer = OutputWriter(folder: folder.path + "/Out")
        #expect(writer.check(outputs).isEmpty)
        let text = try folder.read("Out/Dog.martlet.swift")
        try folder.write("// first\n" + text, to: "Out/Dog.martlet.swift")
        try folder.write(text, to: "Out/Cat.martlet.swift")
        try folder.write("// mine", to: "Out/Mine.martlet.swift")
        try FileManager.default.removeItem(atPath: folder.path + "/Out/MartletSchema.martlet.swift")
        let drifts = writer.check(outputs)
        #expect(drifts.map(\.kind) == [.different, .missing, .stale])
        #expect(drifts[0].line == 1)
        #expect(drifts[0].changes == ["-// first"])
        #expect(folder.names(in: "Out").count == 3)
        try folder.write(text, to: "Out/Dog.martlet.swift")
        #expect(try writer.update(outputs).removed == ["Cat.martlet.swift"])
    }

    @Test("a check of the output lists at most 40 differing lines, in their order S34")
    func differences() throws {
        let folder = try TemporaryFolder()
        try folder.write(dog, to: "Schemas/Dog.yaml")
        let outputs = try generate(folder).outputs
        let writer = OutputWriter(folder: folder.path + "/Out")
        let text = try folder.read("Out/Dog.martlet.swift")
        var lines = text.components(separatedBy: "\n")
        let second = lines[1]
        let last = lines[lines.count - 2]
        lines[1] = "// other"
        lines[lines.count - 2] = last + " // brace"
        try folder.write(lines.joined(separator: "\n"), to: "Out/Dog.martlet.swift")
        let drift = try #require(writer.check(outputs).first)
        #expect(drift.line == 2)
        #expect(drift.changes == ["-// other", "+" + second, "-" + last + " // brace", "+" + last])
        try folder.write(text.replacing("\n", with: "\r\n"), to: "Out/Dog.martlet.swift")
        #expect(writer.check(outputs).first?.changes.count == 41)
        try folder.write(String(repeating: "line\n", count: 5000), to: "Out/Dog.martlet.swift")
        let changes = try #require(writer.check(outputs).first?.changes)
        #expect(changes.prefix(40).allSatisfy { $0 == "-line" })
        #expect(changes.last?.hasPrefix("… and ") == true)
    }

    @Test("a folder without schemas generates nothing MRT0001")
    func empty() throws {
        let folder = try TemporaryFolder()
        try folder.write("", to: "Schemas/notes.txt")
        let compilation = try generate(folder)
        #expect(compilation.diagnostics.map(\.code) == [.noSchema])
        #expect(folder.names(in: "Out").isEmpty)
    }

    @Test("symbolic links are followed, and loops are errors S30")
    func links() throws {
        let folder = try TemporaryFolder()
        try folder.write(dog, to: "Elsewhere/Dog.yaml")
        try folder.write("enums:\n  Size: [small]\n", to: "Schemas/Size.yaml")
        let manager = FileManager.default
        try manager.createSymbolicLink(
            atPath: folder.path + "/Schemas/Linked", withDestinationPath: folder.path + "/Elsewhere")
        let input = try SourceLoader().load(folder: folder.path + "/Schemas")
        #expect(input.sources.map(\.relativePath) == ["Linked/Dog.yaml", "Size.yaml"])
        #expect(input.sources[0].displayPath == folder.path + "/Schemas/Linked/Dog.yaml")
        try manager.createSymbolicLink(
            atPath: folder.path + "/Elsewhere/Back", withDestinationPath: folder.path + "/Schemas")
        #expect(throws: DiskError.self) { try SourceLoader().load(folder: folder.path + "/Schemas") }
        #expect(throws: DiskError.self) { try SourceLoader().load(folder: folder.path + "/Nowhere") }
    }

    @Test("martlet.yaml sets the access level of the types, and mistakes in it are errors S7")
    func configuration() throws {
        let folder = try TemporaryFolder()
        try folder.write(dog, to: "Schemas/Dog.yaml")
        try folder.write("access: internal\nlint:\n  rules: {MRT0501: off}\n", to: "martlet.yaml")
        _ = try generate(folder)
        #expect(try folder.read("Out/Dog.martlet.swift").contains("public") == false)
        _ = try generate(folder, options: CompilerOptions(access: .public))
        #expect(try folder.read("Out/Dog.martlet.swift").contains("public final class Dog"))
        try folder.write("acess: internal\nnamespace: zoo\naccess: privat\n", to: "martlet.yaml")
        let compilation = try generate(folder)
        #expect(
            compilation.diagnostics.filter(\.isError).map(\.code) == [
                .badConfiguration, .badConfiguration, .badConfiguration,
            ])
    }

    @Test("two schema files that would generate the same Swift file are an error S20")
    func collisions() throws {
        let folder = try TemporaryFolder()
        try folder.write(dog, to: "Schemas/A_B.yaml")
        try folder.write("enums:\n  Size: [small]\n", to: "Schemas/A/B.yaml")
        let compilation = try generate(folder)
        #expect(compilation.diagnostics.filter(\.isError).map(\.code) == [.badConfiguration])
        #expect(folder.names(in: "Out").isEmpty)
    }
}
