import Foundation
import MartletCompiler
import MartletSchema
import MartletTools
import Testing

@testable import MartletCLI

@Suite("Command line")
struct CommandLineTests {
    private static let clean = """
        objects:
          ## A dog of the kennel.
          Dog:
            primaryKey: id
            properties:
              id: ObjectId = new

        """

    private func folder(_ schema: String = clean) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.write(schema, to: "Schemas/Dog.yaml")
        return folder
    }

    private func run(_ arguments: [String], in folder: TemporaryFolder? = nil) throws -> Executable.Outcome {
        try Executable().run(arguments, in: folder ?? TemporaryFolder())
    }

    // MARK: Exit codes

    @Test("exit code 0: there are no findings S40")
    func fine() throws {
        let outcome = try run(["lint", "Schemas"], in: folder())
        #expect(outcome.status == 0)
        #expect(outcome.output + outcome.errors == "")
    }

    @Test("exit code 0: there are only notes S40")
    func notes() throws {
        let folder = try folder(Self.clean + "      friend: List<Dog>\n")
        try folder.write("lint: {preset: strict}\n", to: "martlet.yaml")
        let outcome = try run(["lint", "--format", "brief", "Schemas"], in: folder)
        #expect(outcome.output.contains("[MRT0403]"))
        #expect(outcome.status == 0)
    }

    @Test("exit code 0: types without documentation cause notes, and only in the strict preset S40 MRT0504")
    func undocumented() throws {
        let folder = try folder(
            Self.clean.split(separator: "\n").filter { !$0.contains("##") }.joined(separator: "\n") + "\n")
        let outcome = try run(["lint", "Schemas"], in: folder)
        #expect(outcome.status == 0)
        #expect(outcome.output + outcome.errors == "")
        let strict = try run(["lint", "--brief", "--preset", "strict", "Schemas"], in: folder)
        #expect(strict.status == 0)
        #expect(strict.output.contains("note: 'Dog' has no documentation; write a '##' line above it [MRT0504]"))
        try folder.write("lint: {rules: {MRT0504: warning}}\n", to: "martlet.yaml")
        #expect(try run(["lint", "Schemas"], in: folder).status == 1)
    }

    @Test(
        "exit code 1: there are errors or warnings S40",
        arguments: ["name: Strng", "old: {type: Int, deprecated: true}"])
    func findings(_ property: String) throws {
        let outcome = try run(["lint", "Schemas"], in: folder(Self.clean + "      \(property)\n"))
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("Schemas/Dog.yaml:7:"))
    }

    @Test(
        "exit code 2: wrong usage S40",
        arguments: [
            ["lint"], ["lint", "--nonsense", "Schemas"], ["lint", "--format", "nonsense", "Schemas"], ["nonsense"],
            ["generate", "Schemas"], ["explain", "MRT0299"], ["explain", "MRT0203", "MRT0204"],
        ])
    func usage(_ arguments: [String]) throws {
        let outcome = try run(arguments, in: folder())
        #expect(outcome.status == 2)
        #expect(outcome.output == "")
        #expect(!outcome.errors.isEmpty)
    }

    @Test("exit code 3: input that cannot be read S40")
    func unreadable() throws {
        let folder = try folder()
        #expect(try run(["lint", "Nowhere"], in: folder).status == 3)
        #expect(try run(["lint", "Nowhere.yaml"], in: folder).status == 3)
        #expect(try run(["generate", "Nowhere", "--output", "Out"], in: folder).status == 3)
        // No user, not even root, can read a dangling symbolic link.
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/Schemas/Cat.yaml", withDestinationPath: folder.path + "/gone.yaml")
        let outcome = try run(["lint", "--format", "json", "Schemas"], in: folder)
        #expect(outcome.status == 3)
        #expect(outcome.output == "")
        #expect(outcome.errors == "martlet: error: 'Schemas/Cat.yaml': no such file\n")
    }

    @Test("exit code 3: output that cannot be written S49 S40")
    func unwritable() throws {
        let folder = try folder()
        try folder.write("A file is no folder.", to: "Out")
        let outcome = try run(["generate", "Schemas", "--output", "Out"], in: folder)
        #expect(outcome.status == 3)
        #expect(outcome.errors.hasPrefix("martlet: error: "))
        #expect(try folder.read("Out") == "A file is no folder.")
    }

    #if os(Linux)
        @Test(
            "exit code 3: standard output is full S40",
            arguments: [["explain"], ["--help"], ["--version"], ["lint", "--format", "sarif", "Schemas"]])
        func fullDisk(_ arguments: [String]) throws {
            let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
            let outcome = try Executable().run(arguments, in: folder(), output: full)
            #expect(outcome.status == 3)
            #expect(outcome.errors == "martlet: error: standard output cannot be written: no space left on device\n")
        }
    #endif

    @Test("exit code 70: internal errors S40")
    func internalError() {
        // No known input causes an internal error, so the test calls the initializer that maps errors to exit codes.
        struct Unforeseen: Error {}
        #expect(ExitStatus(of: Unforeseen()).rawValue == 70)
        #expect(ExitStatus(of: CommandFailure(.inputOutput, "x")).rawValue == 3)
    }

    // MARK: Output

    @Test("every format is written only to standard output S41", arguments: ReportFormat.allCases)
    func formats(_ format: ReportFormat) throws {
        let folder = try folder(Self.clean + "      name: Strng\n")
        let outcome = try run(["lint", "--format", format.rawValue, folder.path + "/Schemas"], in: folder)
        #expect(outcome.status == 1)
        #expect(outcome.errors == "")
        #expect(outcome.output.contains("MRT0203"))
        // The formats for people repeat the absolute path of the argument. The other formats contain relative paths.
        let isForPeople = format == .text || format == .brief
        #expect(outcome.output.contains(folder.path) == isForPeople)
    }

    @Test("'--brief' is the same as '--format brief' S41")
    func brief() throws {
        let folder = try folder(Self.clean + "      name: Strng\n")
        let outcome = try run(["lint", "--brief", "Schemas"], in: folder)
        #expect(outcome.output == (try run(["lint", "--format", "brief", "Schemas"], in: folder)).output)
        #expect(
            outcome.output
                == "Schemas/Dog.yaml:7:13: error: unknown type 'Strng'; did you mean 'String'? [MRT0203]\n")
    }

    @Test("findings of several schemas form one document S41")
    func severalSchemas() throws {
        let folder = try folder(Self.clean + "      name: Strng\n")
        try folder.write(Self.clean + "      age: Itn\n", to: "More/Cat.yaml")
        let outcome = try run(["lint", "--format", "json", "Schemas", "More"], in: folder)
        let findings = try JSONQuery(outcome.output)["findings"].array?.map { JSONQuery(value: $0)["path"].string }
        #expect(findings == ["Schemas/Dog.yaml", "More/Cat.yaml"])
    }

    @Test("output is colored only on a terminal, and not if NO_COLOR is set S40")
    func color() throws {
        let folder = try folder(Self.clean + "      name: Strng\n")
        #expect(try terminal(["lint", "Schemas"], in: folder).contains("\u{1B}[1;31merror[MRT0203]"))
        #expect(try terminal(["lint", "Schemas"], in: folder, ["NO_COLOR": "1"]).hasPrefix("error[MRT0203]"))
        #expect(try terminal(["lint", "Schemas"], in: folder, ["TERM": "dumb"]).hasPrefix("error[MRT0203]"))
        #expect(try terminal(["lint", "--format", "json", "Schemas"], in: folder).hasPrefix("{"))
        #expect(try run(["lint", "Schemas"], in: folder).output.hasPrefix("error[MRT0203]"))
    }

    /// Runs the tool with a terminal as standard output and returns the output of the tool.
    private func terminal(
        _ arguments: [String], in folder: TemporaryFolder, _ environment: [String: String] = [:]
    ) throws -> String {
        var master: Int32 = -1
        var slave: Int32 = -1
        try #require(openpty(&master, &slave, nil, nil, nil) == 0)
        let masterEnd = FileHandle(fileDescriptor: master, closeOnDealloc: true)
        let slaveEnd = FileHandle(fileDescriptor: slave, closeOnDealloc: true)
        // The output is shorter than the terminal's buffer in the kernel, so the process does not wait for a reader.
        _ = try Executable().run(arguments, in: folder, environment: environment, output: slaveEnd)
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(masterEnd.fileDescriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    // MARK: Commands

    @Test("'explain' explains one code, or lists all codes S40")
    func explain() throws {
        for word in ["MRT0203", "mrt0203", "203"] {
            let outcome = try run(["explain", word])
            #expect(outcome.status == 0)
            #expect(outcome.output == ExplanationText.text(of: .unknownType))
        }
        #expect(try run(["explain"]).output == ExplanationText.list)
        #expect(
            try run(["explain", "mrt0230"]).errors
                == "martlet: error: unknown code 'mrt0230'; did you mean 'MRT0203', 'MRT0003' or 'MRT0103'?\n")
        #expect(
            try run(["explain", "types"]).errors
                == "martlet: error: unknown code 'types'; 'martlet explain' lists all codes\n")
    }

    @Test("'generate --check' reports an edited file S34 MRT0005")
    func drift() throws {
        let folder = try folder()
        #expect(try run(["generate", "Schemas", "--output", "Out"], in: folder).status == 0)
        let arguments = ["generate", "Schemas", "--output", "Out", "--check"]
        #expect(try run(arguments, in: folder).status == 0)
        try folder.write("// edited\n" + folder.read("Out/Dog.martlet.swift"), to: "Out/Dog.martlet.swift")
        let outcome = try run(arguments, in: folder)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("Out/Dog.martlet.swift:1:1: error: "))
        #expect(outcome.errors.contains("[MRT0005]"))
    }

    @Test("a folder without schema files is a finding S40 MRT0001")
    func folderWithoutSchemas() throws {
        let folder = try TemporaryFolder()
        try folder.write("", to: "Schemas/notes.txt")
        let outcome = try run(["lint", "--format", "github", "Schemas"], in: folder)
        #expect(outcome.status == 1)
        #expect(outcome.output.hasPrefix("::error file=Schemas,title=MRT0001%3A no schema was found::"))
    }

    @Test("every command supports '--help', and the tool supports '--version' S40")
    func help() throws {
        #expect(try run(["--version"]).output == Compiler.version + "\n")
        let commands = [
            "lint", "generate", "breaking", "init", "json-schema", "format", "explain", "diagram", "docs", "postgres",
            "facts",
        ]
        for command in [[]] + commands.map({ [$0] }) {
            let outcome = try run(command + ["--help"])
            #expect(outcome.status == 0)
            #expect(outcome.output.contains("USAGE: martlet"))
            #expect(outcome.errors == "")
        }
    }

    @Test("completion scripts are valid in their shell S40", arguments: ["bash", "zsh", "fish"])
    func completions(_ shell: String) throws {
        let folder = try TemporaryFolder()
        let outcome = try run(["--generate-completion-script", shell], in: folder)
        #expect(outcome.status == 0)
        for word in [
            "martlet", "lint", "generate", "breaking", "explain", "format", "diagram", "docs", "mermaid", "checkstyle",
            "MRT0203",
        ] {
            #expect(outcome.output.contains(word), "\(word)")
        }
        // If the shell is installed, it must be able to parse the script.
        let path = ["/bin/\(shell)", "/usr/bin/\(shell)"].first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let path else { return }
        try folder.write(outcome.output, to: "completions")
        let process = try Process.run(
            URL(fileURLWithPath: path), arguments: ["-n", folder.path + "/completions"])
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }
}
