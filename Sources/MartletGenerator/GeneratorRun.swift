import MartletCompiler
import MartletSchema

/// One run of the generator: load, compile, print the findings, and write the changed files.
struct GeneratorRun {
    let arguments: Arguments

    /// Returns the exit status: 0 for success, 1 for errors in the schema, 3 for errors of the file system.
    func run() -> Int32 {
        do throws(DiskError) {
            let input = GeneratorRun.resolvingSymbolicLinks(
                in: try SourceLoader().load(
                    files: arguments.files, root: arguments.root, configuration: arguments.configuration))
            // Only a build that runs this command shows its warnings. Builds in which the output is up to date do not
            // run the command, so lint is a separate command.
            let result = Compiler.compile(input)
            GeneratorRun.report(BriefPrinter(sources: input.allSources).text(result.diagnostics))
            guard !result.hasErrors else { return 1 }
            _ = try OutputWriter(folder: arguments.output).write(result.outputs)
            return 0
        } catch {
            GeneratorRun.report("\(error.path.printable): error: \(error.reason)\n")
            return 3
        }
    }

    static func report(_ text: String) {
        _ = StandardStream.error.write(text)
    }

    /// Replaces symbolic links with the paths of the real files, so that editors open the files that the author edits.
    private static func resolvingSymbolicLinks(in input: SchemaInput) -> SchemaInput {
        SchemaInput(
            sources: input.sources.map(resolvingSymbolicLink),
            configuration: input.configuration.map(resolvingSymbolicLink))
    }

    private static func resolvingSymbolicLink(_ source: SourceText) -> SourceText {
        SourceText(
            file: source.file, relativePath: source.relativePath,
            displayPath: FileSystem.realPath(source.displayPath), bytes: source.bytes)
    }
}
