import Foundation
import MartletTools
import Testing

@Suite("Breaking: command")
struct BreakingCommandTests {
    private static let old = "objects:\n  Dog:\n    index: [age]\n    properties:\n      age: Int\n      name: String\n"
    private static let slower = "objects:\n  Dog:\n    properties:\n      age: Int\n      name: String\n"
    private static let optional =
        "objects:\n  Dog:\n    index: [age]\n    properties:\n      age: Int\n      name: String?\n"
    private static let lost =
        "objects:\n  Dog:\n    index: [age]\n    properties:\n      age: Int\n      called: String\n"

    private func folder(_ new: String) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.write(new, to: "Schemas/Dog.yaml")
        try folder.write(Self.old, to: "Old/Dog.yaml")
        return folder
    }

    private func run(_ arguments: [String], in folder: TemporaryFolder) throws -> Executable.Outcome {
        try Executable().run(["breaking"] + arguments, in: folder)
    }

    @Test("the report shows location, source line, notes and help S43 MRT0601")
    func report() throws {
        let outcome = try run(["Schemas", "--against", "Old"], in: folder(Self.lost))
        #expect(outcome.status == 1)
        #expect(outcome.errors == "")
        #expect(
            outcome.output == """
                error[MRT0601]: breaks data: property 'Dog.name' was removed, and its stored values with it; declare it again
                 --> Schemas/Dog.yaml:6:7
                  |
                6 |       called: String
                  |       ^^^^^^ this is new
                note: it was declared here
                 --> Old/Dog.yaml:6:7
                  |
                6 |       name: String
                  |       ^^^^
                help: if 'called' is the new name of 'name', write 'renamedFrom: name' there

                1 error

                """)
    }

    @Test(
        "the exit code is 1 if a change is at least as severe as '--level', otherwise 0 S43 S40",
        arguments: [
            (slower, "query", 1), (slower, "source", 0), (slower, nil, 0), (slower, "data", 0),
            (optional, "query", 1), (optional, "source", 1), (optional, nil, 1), (optional, "data", 0),
            (lost, "query", 1), (lost, "source", 1), (lost, nil, 1), (lost, "data", 1),
            (old, "query", 0),
        ] as [(String, String?, Int32)])
    func levels(_ schema: String, _ level: String?, _ status: Int32) throws {
        let level = level.map { ["--level", $0] } ?? []
        let outcome = try run(["Schemas", "--against", "Old", "--brief"] + level, in: folder(schema))
        #expect(outcome.status == status)
        #expect(outcome.output.contains(": error: ") == (status == 1))
        #expect(outcome.output.contains("[MRT0601]") == (schema != Self.old))
    }

    @Test("every format reports the change S43 S41", arguments: ReportFormat.allCases)
    func formats(_ format: ReportFormat) throws {
        let outcome = try run(
            ["Schemas", "--against", "Old", "--format", format.rawValue], in: folder(Self.lost))
        #expect(outcome.status == 1)
        #expect(outcome.errors == "")
        #expect(outcome.output.contains("MRT0601"))
        #expect(
            outcome.output.contains("'Dog.name' was removed") || outcome.output.contains("Dog.name&apos; was removed"))
    }

    @Test("if '--against' names a branch, the files on disk are compared with the merge base S43")
    func branch() throws {
        let repository = try ScratchRepository()
        let base = try repository.commit(Self.old)
        try repository.git("checkout", "--quiet", "-b", "work")
        try repository.git("checkout", "--quiet", "main")
        try repository.commit(Self.slower)
        try repository.git("checkout", "--quiet", "work")
        let arguments = ["Schemas", "--against", "main", "--brief", "--level", "query"]
        #expect(try run(arguments, in: repository.folder).status == 0)
        try repository.write(Self.optional)
        let outcome = try run(arguments, in: repository.folder)
        #expect(outcome.status == 1)
        #expect(
            outcome.output == """
                Schemas/Dog.yaml:6:13: error: breaks source: property 'Dog.name' was 'String' and is 'String?'; \
                keep the type [MRT0601]
                \(base):Schemas/Dog.yaml:6:13: note: it was declared here

                """)
    }

    @Test("a new or moved folder is mentioned in a note S43")
    func folders() throws {
        let repository = try ScratchRepository()
        let base = try repository.commit(Self.old)
        try repository.git("checkout", "--quiet", "-b", "work")
        try repository.write(Self.slower, to: "More/Cat.yaml")
        let new = try run(["More", "--against", "main"], in: repository.folder)
        #expect(new.status == 0)
        #expect(new.output == "")
        #expect(
            new.errors == "martlet: note: 'More' did not exist in commit \(base); nothing can break; "
                + "if it was moved, commit that first, or compare with a folder\n")
        try repository.git("mv", "Schemas", "Models")
        try repository.commit()
        try repository.write(Self.lost, to: "Models/Dog.yaml")
        let moved = try run(["Models", "--against", "main", "--brief"], in: repository.folder)
        #expect(moved.status == 1)
        #expect(moved.errors == "martlet: note: 'Models' was 'Schemas' in commit \(base)\n")
        #expect(moved.output.contains("\(base):Schemas/Dog.yaml:6:7: note: it was declared here\n"))
    }

    @Test("errors of the new schema are reported first; an old schema with errors cannot be compared S43")
    func errors() throws {
        let folder = try folder("objects:\n  Dog: {properties: {age: Itn}}\n")
        let outcome = try run(["Schemas", "--against", "Old", "--brief"], in: folder)
        #expect(outcome.status == 1)
        #expect(outcome.output.hasPrefix("Schemas/Dog.yaml:2:27: error: unknown type 'Itn'"))
        let reverse = try run(["Old", "--against", "Schemas"], in: folder)
        #expect(reverse.status == 3)
        #expect(reverse.output == "")
        #expect(reverse.errors.hasPrefix("Schemas/Dog.yaml:2:27: error: unknown type 'Itn'"))
        #expect(
            reverse.errors.hasSuffix(
                "martlet: error: the schema of 'Schemas' has errors and cannot be compared; name an earlier one\n"))
    }

    @Test("wrong usage exits with 2, unreadable input with 3 S43 S40")
    func failures() throws {
        let repository = try ScratchRepository()
        try repository.commit(Self.old)
        try repository.git("branch", "Old")
        try repository.write(Self.old, to: "Old/Dog.yaml")
        let outcome = { (arguments: [String]) in
            let outcome = try run(arguments, in: repository.folder)
            return "\(outcome.status) \(outcome.errors)"
        }
        #expect(
            try outcome(["Schemas", "--against", "Old"])
                == "2 martlet: error: 'Old' is a folder and a git ref; write './Old' or 'refs/heads/Old'\n")
        #expect(try outcome(["Schemas", "--against", "./Old"]) == "0 ")
        #expect(try outcome(["Schemas", "--against", "refs/heads/Old"]) == "0 ")
        #expect(
            try outcome(["Schemas", "--against", "nowhere"])
                == "3 martlet: error: no git ref 'nowhere', and no such folder; fetch it, or see 'git branch --all'\n")
        #expect(try outcome(["Nowhere", "--against", "main"]).hasPrefix("3 martlet: error: 'Nowhere': no such folder"))
        #expect(
            try outcome(["Schemas/Dog.yaml", "--against", "main"])
                == "3 martlet: error: 'Schemas/Dog.yaml': this is a file; name the schema folder\n")
        #expect(try outcome(["Schemas"]).hasPrefix("2 "))
        #expect(try outcome(["Schemas", "--against", "main", "--level", "all"]).hasPrefix("2 "))
        let noGit = try Executable().run(
            ["breaking", "Schemas", "--against", "main"], in: repository.folder,
            environment: ["PATH": repository.path])
        #expect(noGit.status == 3)
        #expect(noGit.errors == "martlet: error: no program 'git' in PATH; install it, or compare with a folder\n")
    }
}
