import Foundation
import MartletTools
import Testing

/// Checks that a command changes either all of its files or none of them, even if the disk becomes full.
@Suite("Command line: a full disk")
struct FullDiskTests {
    /// A limit on the size of each file (`ulimit -f`) simulates a full disk. The limits are in blocks of 512 or 1024
    /// bytes. With some limits, a command can write its small files, but not its large files.
    private static let limits = [0, 1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 4096]

    private func schema(_ name: String, properties: Int, indent: String = "      ") -> String {
        "objects:\n  ## What \(name)s are.\n  \(name):\n    properties:\n"
            + (0..<properties).map { "\(indent)property\($0): String\n" }.joined()
    }

    private func folder(indent: String = "      ") throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for (index, name) in ["Ant", "Bee", "Cat", "Dog", "Elk"].enumerated() {
            let count = [40, 1, 150, 8, 70][index]
            try folder.write(schema(name, properties: count, indent: indent), to: "Schemas/Sub\(index)/\(name).yaml")
        }
        return folder
    }

    /// Runs a command with each limit, each time in a new folder with the same files.
    ///
    /// - Returns: how often the command failed and how often it wrote its files.
    private func run(
        _ arguments: [String], limits: [Int] = limits, prepare: () throws -> TemporaryFolder
    ) throws -> (failed: Int, wrote: Int) {
        let done = try prepare()
        let executable = try Executable()
        _ = try executable.run(arguments, in: done)
        let after = done.tree()
        var counts = (failed: 0, wrote: 0)
        for blocks in limits {
            let folder = try prepare()
            let before = folder.tree()
            #expect(before != after)
            let outcome = try executable.run(arguments, in: folder, blocks: blocks)
            if folder.tree() == after {
                counts.wrote += 1
                #expect(outcome.status < 2)
            } else {
                counts.failed += 1
                #expect(changes(from: before, to: folder.tree()) == [], "\(blocks) blocks")
                #expect(outcome.status == 3)
                #expect(outcome.output.hasSuffix(": the file cannot be written: file too large\n"))
                #expect(!outcome.output.contains("wrote"))
            }
        }
        return counts
    }

    private func changes(from old: [String: Data], to new: [String: Data]) -> [String] {
        Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }.sorted()
    }

    @Test("'generate' writes all files or none, and creates no folder if it fails S40")
    func generateAnew() throws {
        let counts = try run(["generate", "Schemas", "--output", "New/Out"]) { try folder() }
        #expect(counts.failed > 2)
        #expect(counts.wrote > 0)
    }

    @Test("'generate' changes and removes all files or none S40")
    func generateAgain() throws {
        let counts = try run(["generate", "Schemas", "--output", "Out"]) {
            let folder = try folder()
            try folder.write(schema("Fly", properties: 3), to: "Schemas/Fly.yaml")
            _ = try Executable().run(["generate", "Schemas", "--output", "Out"], in: folder)
            try FileManager.default.removeItem(atPath: folder.path + "/Schemas/Fly.yaml")
            try folder.write(schema("Bee", properties: 2), to: "Schemas/Sub1/Bee.yaml")
            try folder.write(schema("Cat", properties: 151), to: "Schemas/Sub2/Cat.yaml")
            return folder
        }
        #expect(counts.failed > 2)
        #expect(counts.wrote > 0)
    }

    @Test("'format' rewrites all files or none S42")
    func format() throws {
        let counts = try run(["format", "Schemas"]) { try folder(indent: "         ") }
        #expect(counts.failed > 2)
        #expect(counts.wrote > 0)
    }

    @Test("'lint --fix' fixes all files or none S41")
    func fix() throws {
        let counts = try run(["lint", "--fix", "Schemas"]) {
            let folder = try folder()
            for (index, name) in ["Ant", "Bee", "Cat", "Dog", "Elk"].enumerated() {
                let path = "Schemas/Sub\(index)/\(name).yaml"
                try folder.write(folder.read(path).replacing("String", with: "string"), to: path)
            }
            return folder
        }
        #expect(counts.failed > 2)
        #expect(counts.wrote > 0)
    }

    @Test(
        "commands that write one file leave no partial file and no folder S40",
        arguments: [
            ["init", "New/Schemas"], ["docs", "Schemas", "--output", "New/Docs"],
            ["diagram", "Schemas", "--output", "Picture.svg"], ["json-schema", "--output", "martlet.schema.json"],
        ])
    func oneFile(_ arguments: [String]) throws {
        let counts = try run(arguments, limits: [0, 1, 4096]) { try folder() }
        #expect(counts.failed > 0)
        #expect(counts.wrote > 0)
    }

    @Test("'init' can be repeated after the disk was full S40")
    func again() throws {
        let folder = try TemporaryFolder()
        let executable = try Executable()
        #expect(try executable.run(["init"], in: folder, blocks: 0).status == 3)
        #expect(folder.tree().isEmpty)
        #expect(try executable.run(["init"], in: folder).status == 0)
        #expect(try folder.read("Schemas/Schema.yaml") == StarterSchema.text)
    }
}
