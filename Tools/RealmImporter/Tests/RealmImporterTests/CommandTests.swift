import Foundation
import MartletCompiler
import Testing

@Suite("command line")
struct CommandTests {
    private static let dog = "class Dog: Object { @Persisted var name: String }\n"

    @Test("a folder of Swift files becomes a folder of schema files; files without models are skipped")
    func folder() throws {
        let folder = try TemporaryFolder()
        try folder.write(Self.dog, to: "Models/Dog.swift")
        try folder.write("class Cat: Object { @Persisted var dog: Dog? }", to: "Models/Others/Cat.swift")
        try folder.write("struct View {}", to: "Models/View.swift")
        try folder.write("class Old: Object { @Persisted var name: String }", to: "Models/.build/Old.swift")
        let outcome = try Executable().run(["Models/", "--output", "Schemas/"], in: folder)
        #expect(outcome.status == 0)
        #expect(outcome.errors == "")
        #expect(
            outcome.output == """
                wrote Schemas/Dog.yaml
                wrote Schemas/Others/Cat.yaml
                imported 2 types into 2 files

                """)
        #expect(try folder.read("Schemas/Dog.yaml") == "objects:\n  Dog:\n    properties:\n      name: String\n")
    }

    @Test("findings are printed with their locations, the schema is written, and the exit code is 1")
    func findings() throws {
        let folder = try TemporaryFolder()
        try folder.write(
            "class Dog: Object {\n    @Persisted var name: String\n    @Persisted var _age: Int\n}", to: "Dog.swift")
        let outcome = try Executable().run(["Dog.swift", "--single", "All.yaml"], in: folder)
        #expect(outcome.status == 1)
        #expect(outcome.errors.hasPrefix("Dog.swift:3:20: warning: '_age' begins with '_'"))
        #expect(outcome.output.hasSuffix("wrote All.yaml\nimported 1 type into 1 file; 1 warning\n"))
        #expect(try folder.read("All.yaml").hasSuffix("      age: Int\n"))
    }

    @Test("without '--force', existing files with other content are not overwritten, and no file is written")
    func force() throws {
        let folder = try TemporaryFolder()
        try folder.write(Self.dog, to: "Models/Dog.swift")
        try folder.write(Self.dog.replacing("Dog", with: "Ant"), to: "Models/Ant.swift")
        try folder.write("mine", to: "Schemas/Dog.yaml")
        let executable = try Executable()
        let failed = try executable.run(["Models", "--output", "Schemas"], in: folder)
        #expect(failed.status == 3)
        #expect(failed.errors.contains("'Schemas/Dog.yaml': the file exists"))
        #expect(try folder.read("Schemas/Dog.yaml") == "mine")
        #expect(!folder.exists("Schemas/Ant.yaml"))
        let forced = try executable.run(["Models", "--output", "Schemas", "--force"], in: folder)
        #expect(forced.status == 0)
        #expect(try folder.read("Schemas/Dog.yaml").hasPrefix("objects:"))
        let again = try executable.run(["Models", "--output", "Schemas"], in: folder)
        #expect(again.status == 0)
        #expect(again.output == "imported 2 types into 2 files\n")
    }

    @Test("on a full disk no file is written, and no folder remains")
    func fullDisk() throws {
        let folder = try TemporaryFolder()
        try folder.write(Self.dog, to: "Models/Ant.swift")
        let properties = (0..<500).map { "@Persisted var property\($0): String" }.joined(separator: "\n")
        try folder.write("class Cat: Object {\n\(properties)\n}", to: "Models/Sub/Cat.swift")
        let outcome = try Executable().shell(
            """
            (ulimit -f 4; trap '' 25; "$IMPORTER" Models --output New/Schemas 2>&1; echo $?) | cat
            find . -name '.[a-z]*' -prune -o -newer Models -print | grep -v Models
            """, in: folder)
        #expect(
            outcome.output.hasPrefix(
                "realm-importer: error: 'New/Schemas/Sub/Cat.yaml': the file cannot be written: file too large\n3\n"))
        #expect(!folder.exists("New"))
    }

    @Test("file names that are not UTF-8 are read, written, and shown on one line")
    func names() throws {
        let outcome = try Executable().shell(
            """
            name="$(printf '\\377\\033[31m\\nx')"
            mkdir -p "Models/$name"
            echo 'class Dog: Object { @Persisted var _age: Int }' > "Models/$name/$name.swift"
            "$IMPORTER" Models --output Schemas && exit 99
            cat "Schemas/$name/$name.yaml"
            "$IMPORTER" "Models/$name/$name.swift" --single "Models/$name"
            """, in: TemporaryFolder())
        let shown = "\\xFF\\u{1B}[31m\\nx"
        #expect(
            outcome.output == """
                wrote Schemas/\(shown)/\(shown).yaml
                imported 1 type into 1 file; 1 warning
                objects:
                  Dog:
                    properties:
                      age: Int

                """)
        let lines = outcome.errors.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[0].hasPrefix("Models/\(shown)/\(shown).swift:1:36: warning: '_age' begins with '_'"))
        #expect(lines[2].hasPrefix("realm-importer: error: 'Models/\(shown)': the file exists"))
    }

    @Test("if a file has a syntax error, nothing is written")
    func broken() throws {
        let folder = try TemporaryFolder()
        try folder.write(Self.dog, to: "Dog.swift")
        try folder.write("class Cat: Object {", to: "Cat.swift")
        let outcome = try Executable().run(["Dog.swift", "Cat.swift", "--output", "Schemas"], in: folder)
        #expect(outcome.status == 1)
        #expect(outcome.errors.hasPrefix("Cat.swift:1:20: error: syntax error"))
        #expect(outcome.output == "imported no types; 1 error\n")
        #expect(!folder.exists("Schemas"))
    }

    @Test("exit codes: 2 for wrong usage, 3 for missing files, 1 if there is no model")
    func statuses() throws {
        let folder = try TemporaryFolder()
        try folder.write("struct View {}", to: "View.swift")
        let executable = try Executable()
        #expect(try executable.run(["View.swift"], in: folder).status == 2)
        #expect(try executable.run(["--output", "Schemas"], in: folder).status == 2)
        #expect(try executable.run(["View.swift", "--output", "A", "--single", "B.yaml"], in: folder).status == 2)
        #expect(try executable.run(["None.swift", "--output", "Schemas"], in: folder).status == 3)
        let empty = try executable.run(["View.swift", "--output", "Schemas"], in: folder)
        #expect(empty.status == 1)
        #expect(empty.errors.contains("no Realm model in these files"))
    }

    @Test("help and version are printed to standard output")
    func help() throws {
        let folder = try TemporaryFolder()
        let help = try Executable().run(["--help"], in: folder)
        #expect(help.status == 0)
        #expect(help.output.contains("USAGE: realm-importer <paths> ..."))
        let version = try Executable().run(["--version"], in: folder)
        #expect(version.status == 0)
        #expect(version.output == "\(Compiler.version)\n")
    }

    @Test("files of the same name in two folders are written to different files")
    func sameName() throws {
        let folder = try TemporaryFolder()
        try folder.write(Self.dog, to: "A/Dog.swift")
        try folder.write("class Cat: Object { @Persisted var name: String }", to: "B/Dog.swift")
        let outcome = try Executable().run(["A", "B", "A/Dog.swift", "--output", "Schemas"], in: folder)
        #expect(outcome.status == 0)
        #expect(outcome.output.hasPrefix("wrote Schemas/Dog.yaml\nwrote Schemas/Dog2.yaml\nimported 2 types"))
    }
}
