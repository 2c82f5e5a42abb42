import ArgumentParser
import MartletCompiler
import MartletSchema
import MartletTools

struct JSONSchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "json-schema", abstract: "Write the JSON Schema of the language, for editors.",
        discussion: """
            An editor with a YAML language server completes and checks a file that begins with the line \
            '# yaml-language-server: $schema=' and the path of the JSON Schema, from the folder of the file.
            """)

    @Option(name: .shortAndLong, help: "The file to write to; standard output without it.", completion: .file())
    var output: String?

    func run() throws {
        guard let output else {
            try Console.write(EditorSchema.text)
            return
        }
        let isWritten = try reportingDiskErrors { () throws(DiskError) in
            try FileBatch.replace(output, with: Array(EditorSchema.text.utf8))
        }
        try Console.write(isWritten ? "wrote \(output.printable)\n" : "nothing to do\n")
    }
}
