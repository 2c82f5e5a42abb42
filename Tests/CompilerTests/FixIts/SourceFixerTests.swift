import Foundation
import MartletCompiler
import MartletSchema
import MartletTools
import Testing

@Suite("Fix-its: files")
struct SourceFixerTests {
    private let broken = "objects:\r\n  Dog:\r\n    properties: {name: string} # a name\r\n"
    private let fixed = "objects:\r\n  Dog:\r\n    properties: {name: String} # a name\r\n"

    private func fix(_ path: String) throws -> SourceFixer.Report {
        try SourceFixer([path]).fix(try SourceLoader().load([path])).report
    }

    @Test("only files with fix-its are written S41")
    func files() throws {
        let folder = try TemporaryFolder()
        try folder.write(broken, to: "Schemas/Sub/Dog.yaml")
        try folder.write("enums:\n  Size: [small]\n", to: "Schemas/Size.yaml")
        try folder.setOld("Schemas/Size.yaml")
        let report = try fix(folder.path + "/Schemas")
        #expect(report.text == "applied 1 fix in \(folder.path)/Schemas/Sub/Dog.yaml (1)\n")
        #expect(try folder.read("Schemas/Sub/Dog.yaml") == fixed)
        #expect(try folder.modified("Schemas/Size.yaml") == Date(timeIntervalSince1970: 1000))
        #expect(folder.names(in: "Schemas/Sub") == ["Dog.yaml"])
        try folder.setOld("Schemas/Sub/Dog.yaml")
        #expect(try fix(folder.path + "/Schemas").text == "no fix to apply\n")
        #expect(try folder.modified("Schemas/Sub/Dog.yaml") == Date(timeIntervalSince1970: 1000))
    }

    @Test("the report counts fix-its by file S41")
    func counts() throws {
        let folder = try TemporaryFolder()
        try folder.write("objects:\n  Dog:\n    properties: {a: string, b: integer, c: [date]}\n", to: "S/B.yaml")
        try folder.write("objects:\n  Cat:\n    properties:\n      a:Int\n", to: "S/A.yaml")
        let report = try fix(folder.path + "/S")
        #expect(report.text == "applied 4 fixes in \(folder.path)/S/A.yaml (1), \(folder.path)/S/B.yaml (3)\n")
        #expect(try folder.read("S/B.yaml") == "objects:\n  Dog:\n    properties: {a: String, b: Int, c: List<Date>}\n")
    }

    @Test("if a symbolic link leads to a file outside of the schema folder, that file is not changed S41")
    func outside() throws {
        let folder = try TemporaryFolder()
        let manager = FileManager.default
        try folder.write(broken, to: "Elsewhere/Dog.yaml")
        try folder.write(broken.replacing("Dog", with: "Cat"), to: "Schemas/Cats/Cat.yaml")
        try manager.createSymbolicLink(
            atPath: folder.path + "/Schemas/Dog.yaml", withDestinationPath: folder.path + "/Elsewhere/Dog.yaml")
        try manager.createSymbolicLink(
            atPath: folder.path + "/Other", withDestinationPath: folder.path + "/Schemas")
        // The schema folder itself can be a symbolic link.
        let report = try fix(folder.path + "/Other")
        #expect(report.outside == [folder.path + "/Other/Dog.yaml"])
        #expect(try folder.read("Elsewhere/Dog.yaml") == broken)
        #expect(try folder.read("Schemas/Cats/Cat.yaml") == fixed.replacing("Dog", with: "Cat"))
        #expect(try fix(folder.path + "/Schemas/Dog.yaml").files.isEmpty)
        #expect(try folder.read("Elsewhere/Dog.yaml") == broken)
        let kind = try manager.attributesOfItem(atPath: folder.path + "/Schemas/Dog.yaml")[.type] as? FileAttributeType
        #expect(kind == .typeSymbolicLink)
    }

    @Test("a configuration in the schema folder is fixed, and a configuration in a parent folder is not S41")
    func configuration() throws {
        let folder = try TemporaryFolder()
        let text = "lint:\n  rules: {MRT0501: off}\n  preset:strict\n"
        try folder.write(fixed, to: "Schemas/Dog.yaml")
        try folder.write(text, to: "martlet.yaml")
        _ = try fix(folder.path + "/Schemas")
        #expect(try folder.read("martlet.yaml") == text)
        try FileManager.default.moveItem(
            atPath: folder.path + "/martlet.yaml", toPath: folder.path + "/Schemas/martlet.yaml")
        _ = try fix(folder.path + "/Schemas")
        #expect(try folder.read("Schemas/martlet.yaml") == text.replacing("preset:", with: "preset: "))
    }

    @Test("permissions are kept, and a file that changed after it was read is not overwritten S41")
    func safety() throws {
        let folder = try TemporaryFolder()
        try folder.write(broken, to: "S/Dog.yaml")
        let path = folder.path + "/S/Dog.yaml"
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        let input = try SourceLoader().load([folder.path + "/S"])
        _ = try SourceFixer([folder.path + "/S"]).fix(input)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o640)
        #expect(throws: DiskError.self) { try SourceFixer([folder.path + "/S"]).fix(input) }
        #expect(try folder.read("S/Dog.yaml") == fixed)
        #expect(folder.names(in: "S") == ["Dog.yaml"])
    }
}
