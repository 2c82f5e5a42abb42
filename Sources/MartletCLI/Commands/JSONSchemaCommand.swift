import ArgumentParser
import MartletCompiler
import MartletSchema
import MartletTools

struct JSONSchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "json-schema", abstract: "Write the JSON Schema of the schema language, for editors.",
        discussion: """
            If the first line of a file is '# yaml-language-server: $schema=', followed by the path of the JSON Schema \
            relative to the file's folder, an editor with a YAML language server completes and checks the file.
            """)

    @Option(name: .shortAndLong, help: "The file to write to. The default is standard output.", completion: .file())
    var output: String?

    func run() throws {
        guard let output else {
            try Console.write(EditorSchema.text)
            return
        }
        let isWritten = try reportingDiskErrors { () throws(DiskError) in
            try FileBatch.replace(output, with: Array(EditorSchema.text.utf8))
        }
        try Console.write(isWritten ? "wrote \(output.printable)\n" : "up to date\n")
    }
}
