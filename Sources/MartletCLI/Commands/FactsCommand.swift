import ArgumentParser
import MartletCompiler
import MartletSchema
import MartletTools

struct FactsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "facts", abstract: "Write the facts of a schema for the sync service.",
        discussion: """
            The facts describe each object type and embedded type in a few lines of text, as the generated classes do. \
            'martlet-sync deploy --facts FILE' reads them. The arguments are the folder of one schema, or its files. A \
            schema with errors is refused.
            """)

    @Argument(help: "The schema folder, or the schema files.", completion: .file(extensions: ["yaml"]))
    var paths: [String]

    @Option(name: .shortAndLong, help: "The file to write to. The default is standard output.", completion: .file())
    var output: String?

    func run() throws {
        let input = try reportingDiskErrors { () throws(DiskError) in try SourceLoader().load(paths) }
        let text = try Compiler.facts(input).text(reporting: input)
        guard let output else { return try Console.write(text) }
        let isWritten = try reportingDiskErrors { () throws(DiskError) in
            try FileBatch.replace(output, with: Array(text.utf8))
        }
        try Console.write(isWritten ? "wrote \(output.printable)\n" : "up to date\n")
    }
}
