import ArgumentParser
import MartletCompiler
import MartletSchema
import MartletTools

struct FormatCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "format", abstract: "Format schema files in the canonical layout.",
        discussion: """
            Comments, order, quotes and numbers are preserved. A file is written only if its contents change. A file \
            that is not valid YAML is reported and not changed.
            """)

    @Argument(help: "Schema folders, or schema files.", completion: .file(extensions: ["yaml"]))
    var paths: [String]

    @Flag(help: "List the files that would change, write nothing, and fail if there are any.")
    var check = false

    func run() throws {
        var isClean = true
        var hasChanges = false
        let writable = WritableFiles(paths)
        var batch = FileBatch()
        for source in try sources() {
            let formatted = Compiler.format(source)
            guard let bytes = formatted.bytes else {
                isClean = false
                report(formatted.diagnostics, of: source)
                continue
            }
            guard bytes != source.bytes else { continue }
            guard writable.contains(source.displayPath) else {
                Console.error(
                    "left '\(source.displayPath.printable)' unchanged, because it is outside of the schema folder; "
                        + "format it in its own folder\n"
                )
                continue
            }
            hasChanges = true
            if check {
                isClean = false
                try Console.write("\(source.displayPath.printable)\n")
            } else {
                batch.replace(source.displayPath, with: bytes)
            }
        }
        for path in try reportingDiskErrors({ () throws(DiskError) in try batch.commit() }) {
            try Console.write("wrote \(path.printable)\n")
        }
        if !check, isClean, !hasChanges { try Console.write("up to date\n") }
        if !isClean { throw CommandFailure(.findings) }
    }

    /// Reads all files before the first one is written, so that no file is changed if one of the paths is invalid.
    private func sources() throws -> [SourceText] {
        try paths.flatMap { path in
            let input = try reportingDiskErrors { () throws(DiskError) in try SourceLoader().load([path]) }
            return input.isConfigurationOnly ? input.allSources : input.sources
        }
    }

    private func report(_ diagnostics: [Diagnostic], of source: SourceText) {
        let printer = DiagnosticPrinter(
            sources: [source], style: .full, isColored: Console.isColored(descriptor: 2))
        Console.error(printer.text(diagnostics))
    }
}
