import ArgumentParser
import MartletBackend
import MartletCompiler
import MartletSchema
import MartletTools

struct DocsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "docs", abstract: "Write a page that describes a schema: types, properties, uses and a diagram.",
        discussion: """
            The page is one file, 'index.html', that needs no server and no network. It is written only when its bytes \
            differ; a schema with errors gives none.
            """)

    @Argument(help: "The schema folder.", completion: .directory)
    var folder: String

    @Option(name: .shortAndLong, help: "The folder to write to.", completion: .directory)
    var output = "SchemaReference"

    @Option(help: "What the page is called; the name of the schema folder without it.")
    var title: String?

    func run() throws {
        let input = try reportingDiskErrors { () throws(DiskError) in try SourceLoader().load(folder: folder) }
        let name = FileSystem.name(of: FileSystem.absolute(folder)).printable
        let text = try Compiler.page(input, title: title ?? name).text(reporting: input)
        let page = OutputFile(name: "index.html", text: text)
        let written = try reportingDiskErrors { () throws(DiskError) in try OutputWriter(folder: output).write([page]) }
        try Console.write(written.isEmpty ? "nothing to do\n" : "wrote \(output.printable)/index.html\n")
    }
}
