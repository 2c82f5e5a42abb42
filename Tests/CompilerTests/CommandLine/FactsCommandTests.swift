import MartletEngine
import Testing

@Suite("Command line: facts")
struct FactsCommandTests {
    private static let dog =
        "objects:\n  Dog:\n    sync: both\n    primaryKey: id\n    properties:\n      id: Int\n      home: Place?\n"
    private static let place = "embedded:\n  Place:\n    properties:\n      city: String\n"
    private static let facts = """
        object Dog
        primaryKey id
        sync both
        property id Int
        property home embedded:Place?

        embedded Place
        property city String

        """

    private func folder(_ dog: String = dog) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.write(dog, to: "Schemas/Dog.yaml")
        try folder.write(Self.place, to: "Schemas/Place.yaml")
        return folder
    }

    private func run(_ arguments: [String], in folder: TemporaryFolder) throws -> Executable.Outcome {
        try Executable().run(["facts"] + arguments, in: folder)
    }

    @Test("the facts of all types in a folder or in files are written to standard output or to a file S58 S40")
    func output() throws {
        let folder = try folder()
        let outcome = try run(["Schemas"], in: folder)
        #expect(outcome.status == 0 && outcome.errors == "" && outcome.output == Self.facts)
        #expect(try run(["Schemas/Dog.yaml", "Schemas/Place.yaml"], in: folder).output == Self.facts)
        #expect(try run(["Schemas", "-o", "facts.txt"], in: folder).output == "wrote facts.txt\n")
        #expect(try folder.read("facts.txt") == Self.facts)
        #expect(try run(["Schemas", "-o", "facts.txt"], in: folder).output == "up to date\n")
    }

    @Test("the runtime can read the facts S58 S40")
    func reading() throws {
        let paragraphs = try run(["Schemas"], in: folder()).output.split(separator: "\n\n")
        #expect(paragraphs.map { SchemaFactsParser.storedType(String($0))?.name } == ["Dog", "Place"])
    }

    @Test("a schema with errors, a missing folder and no argument are refused S58 S40")
    func refusals() throws {
        let wrong = try run(["Schemas"], in: folder(Self.dog.replacing("Place?", with: "Plaice?")))
        #expect(wrong.status == 1 && wrong.output == "" && wrong.errors.contains("Plaice"))
        #expect(try run(["Missing"], in: folder()).status == 3)
        #expect(try run([], in: folder()).status == 2)
    }
}
