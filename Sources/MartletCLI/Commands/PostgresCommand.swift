import ArgumentParser
import MartletCompiler
import MartletSchema
import MartletTools

struct PostgresCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "postgres", abstract: "Write the tables of a schema as SQL for PostgreSQL.",
        discussion: """
            Every object type gets a table, and so does every list, set and map. Embedded objects are JSON. Names \
            become snake_case. A schema with errors, with an object type without a primary key, or with names that \
            are equal in SQL is refused. PostgreSQL 14 or newer is needed.
            """)

    @Argument(help: "The schema folder.", completion: .directory)
    var folder: String

    @Option(name: .shortAndLong, help: "The file to write to. The default is standard output.", completion: .file())
    var output: String?

    func run() throws {
        let input = try reportingDiskErrors { () throws(DiskError) in try SourceLoader().load(folder: folder) }
        let tables = Compiler.tables(input)
        let text = try tables.document.text(reporting: input)
        guard tables.problems.isEmpty else {
            Console.error(tables.problems.map { "\(folder.printable): error: \($0.printable)\n" }.joined())
            throw CommandFailure(.findings)
        }
        guard let output else {
            try Console.write(text)
            return
        }
        let isWritten = try reportingDiskErrors { () throws(DiskError) in
            try FileBatch.replace(output, with: Array(text.utf8))
        }
        try Console.write(isWritten ? "wrote \(output.printable)\n" : "nothing to do\n")
    }
}
