import MartletCompiler
import MartletSchema

/// One run: load, compile, say what was found, write what has changed.
struct GeneratorRun {
    let arguments: Arguments

    /// Returns the exit status: 0 fine, 1 the schema has errors, 3 the disk said no.
    func run() -> Int32 {
        do throws(DiskError) {
            let input = GeneratorRun.resolvingLinks(
                in: try SourceLoader().load(
                    files: arguments.files, root: arguments.root, configuration: arguments.configuration))
            // Warnings would be shown once and not again on the next build: lint is a command of its own.
            let result = Compiler.compile(input, options: CompilerOptions(isLinting: false))
            let printer = DiagnosticPrinter(sources: input.allSources, style: .brief)
            GeneratorRun.report(printer.text(result.diagnostics))
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

    /// Findings name the real files, so that an editor opens what the author edits and not a link to it.
    private static func resolvingLinks(in input: SchemaInput) -> SchemaInput {
        SchemaInput(
            sources: input.sources.map(resolvingLink), configuration: input.configuration.map(resolvingLink))
    }

    private static func resolvingLink(_ source: SourceText) -> SourceText {
        SourceText(
            file: source.file, relativePath: source.relativePath,
            displayPath: FileSystem.realPath(source.displayPath), bytes: source.bytes)
    }
}
