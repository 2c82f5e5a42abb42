import ArgumentParser
import MartletBackend
import MartletCompiler
import MartletSchema
import MartletTools

struct DocsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "docs",
        abstract: "Write a page that describes a schema: types, properties, where types are used, and a diagram.",
        discussion: """
            The page is one file, 'index.html', which needs no server and no network. The file is written only if its \
            contents change. If the schema has errors, no page is written.
            """)

    @Argument(help: "The schema folder.", completion: .directory)
    var folder: String

    @Option(name: .shortAndLong, help: "The folder to write to.", completion: .directory)
    var output = "SchemaReference"

    @Option(help: "The title of the page. The default is the name of the schema folder.")
    var title: String?

    func run() throws {
        let input = try reportingDiskErrors { () throws(DiskError) in try SourceLoader().load(folder: folder) }
        let name = FileSystem.name(of: FileSystem.absolute(folder)).printable
        let text = try Compiler.page(input, title: title ?? name).text(reporting: input)
        let page = OutputFile(name: "index.html", text: text)
        let written = try reportingDiskErrors { () throws(DiskError) in try OutputWriter(folder: output).write([page]) }
        try Console.write(written.isEmpty ? "up to date\n" : "wrote \(output.printable)/index.html\n")
    }
}
