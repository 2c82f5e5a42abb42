import MartletCompiler
import MartletSchema

/// One run of the generator. It loads and compiles the schema files, prints the findings, and writes the output files
/// that have changed.
struct GeneratorRun {
    let arguments: Arguments

    /// Runs the generator, and returns its exit status: 0 for success, 1 for errors in the schema, 3 for errors of the
    /// file system.
    func run() -> Int32 {
        do throws(DiskError) {
            let input = GeneratorRun.resolvingSymbolicLinks(
                in: try SourceLoader().load(
                    files: arguments.files, root: arguments.root, configuration: arguments.configuration))
            // The generator does not run lint rules. A build runs the generator only if the schema has changed, so
            // later builds would not show the warnings again. Therefore lint is a separate command.
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
