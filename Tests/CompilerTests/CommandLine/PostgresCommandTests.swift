import Foundation
import Testing

@Suite("Command line: postgres")
struct PostgresCommandTests {
    private static let old =
        "objects:\n  Dog:\n    primaryKey: id\n    properties:\n      id: Int\n      name: String\n"

    private func folder(_ new: String, old: String = old) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.write(new, to: "Schemas/Dog.yaml")
        try folder.write(old, to: "Old/Dog.yaml")
        return folder
    }

    private func run(_ arguments: [String], in folder: TemporaryFolder) throws -> Executable.Outcome {
        try Executable().run(["postgres", "Schemas"] + arguments, in: folder)
    }

    @Test("a migration is written to standard output or to a file S57 S40")
    func migration() throws {
        let folder = try folder(Self.old + "      age: Int\n")
        let outcome = try run(["--against", "Old"], in: folder)
        #expect(outcome.status == 0 && outcome.errors == "")
        #expect(outcome.output.contains("ALTER TABLE \"dog\" ADD COLUMN \"age\" bigint NOT NULL DEFAULT 0;"))
        let second = try run(["--against", "Old", "--output", "1.sql"], in: folder)
        #expect(second.output == "wrote 1.sql\n")
        #expect(try folder.read("1.sql") == outcome.output)
        #expect(try run(["--against", "Schemas"], in: folder).output == "-- Nothing to change.\n")
    }

    @Test("a migration that loses data is refused; with '--breaking', it is written to two files S57 S40")
    func losses() throws {
        let folder = try folder(Self.old.replacing("name", with: "title"))
        let refused = try run(["--against", "Old"], in: folder)
        #expect(refused.status == 1 && refused.output == "")
        #expect(
            refused.errors == """
                Schemas/Dog.yaml:6:7: error: breaks data: property 'Dog.name' was removed, and its stored values with it; declare it again; if 'title' is the new name of 'name', write 'renamedFrom: name' there [MRT0601]
                Old/Dog.yaml:6:7: note: it was declared here
                Schemas: error: 'Dog.name' has no column any more, and its values would be lost

                """)
        let written = try run(["--against", "Old", "--breaking", "--output", "1.sql"], in: folder)
        #expect(
            written.output == "wrote 1.contract.sql\nwrote 1.expand.sql\n"
                || written.output == "wrote 1.expand.sql\nwrote 1.contract.sql\n")
        #expect(try folder.read("1.expand.sql").contains("ADD COLUMN \"title\""))
        #expect(try folder.read("1.contract.sql").contains("DROP COLUMN \"name\""))
    }

    @Test("'--breaking' needs '--against' and '--output' S57 S40")
    func usage() throws {
        let folder = try folder(Self.old)
        #expect(try run(["--breaking"], in: folder).status == 2)
        #expect(try run(["--breaking", "--against", "Old"], in: folder).status == 2)
    }

    @Test("an error in the 'martlet.yaml' of the older schema does not prevent the migration S57 S40")
    func olderConfiguration() throws {
        let folder = try folder(Self.old + "      age: Int\n")
        try folder.write("access: internl\n", to: "Old/martlet.yaml")
        let outcome = try run(["--against", "Old"], in: folder)
        #expect(outcome.status == 0 && outcome.errors == "")
        #expect(outcome.output.contains("ADD COLUMN \"age\""))
    }

    @Test("errors of the old schema are reported; if its types have no primary keys, all tables are created S57 S40")
    func olderSchema() throws {
        let broken = try run(["--against", "Old"], in: folder(Self.old, old: "objects:\n  Dog:\n"))
        #expect(broken.status == 3)
        #expect(broken.errors.contains("the schema of 'Old' has errors and cannot be compared"))
        let keyless = try run(
            ["--against", "Old"], in: folder(Self.old, old: "objects:\n  Dog: {properties: {a: Int}}\n"))
        #expect(keyless.status == 0 && keyless.output.contains("CREATE TABLE \"dog\""))
    }
}
