import ArgumentParser
import MartletCompiler
import MartletSchema
import MartletTools

struct GenerateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate", abstract: "Generate Swift model classes from a schema.",
        discussion: """
            A file is written only if its contents change. If the schema has an error, or if a file cannot be written, \
            no file is changed.
            """)

    @Argument(help: "The schema folder.", completion: .directory)
    var folder: String

    @Option(name: .shortAndLong, help: "The folder to write to.", completion: .directory)
    var output: String

    @Flag(help: "Compare with the files on disk, write nothing, and fail if they differ.")
    var check = false

    @Option(help: "The access level of the generated types: public, package or internal.")
    var access: AccessChoice?

    @Flag(help: "Print one line for each finding.")
    var brief = false

    func validate() throws {
        if output.isEmpty {
            throw ValidationError("'--output' is empty; write '--output .' for the current folder")
        }
    }

    func run() throws {
        let input = try reportingDiskErrors { () throws(DiskError) in try SourceLoader().load(folder: folder) }
        let options = CompilerOptions(access: access?.level)
        let compilation = Compiler.lintAndCompile(input, options: options)
        Memory.leak(compilation)
        let printer = DiagnosticPrinter(
            sources: input.allSources, style: brief ? .brief : .full, isColored: Console.isColored(descriptor: 2))
        Console.error(printer.text(compilation.diagnostics))
        guard !compilation.hasErrors else { throw CommandFailure(.findings) }
        let writer = OutputWriter(folder: output)
        if check {
            try report(writer.check(compilation.outputs))
            return
        }
        let (written, removed) = try reportingDiskErrors { () throws(DiskError) in
            try writer.update(compilation.outputs)
        }
        let done = written.map { "wrote \($0.printable)\n" } + removed.map { "removed \($0.printable)\n" }
        try Console.write(done.isEmpty ? "up to date\n" : done.joined())
    }

    private func report(_ differences: [OutputWriter.Difference]) throws {
        guard !differences.isEmpty else { return }
        for difference in differences { Console.error(difference.text) }
        Console.error("run 'martlet generate \(folder.printable) --output \(output.printable)' and commit the result\n")
        throw CommandFailure(.findings)
    }
}

extension OutputWriter.Difference {
    /// The diagnostic for this difference, followed by the lines that differ.
    fileprivate var text: String {
        let place = path.printable + (line.map { ":\($0):1" } ?? "")
        let code = DiagnosticCode.outdatedOutput.rawValue
        switch kind {
        case .missing: return "\(place): error: this file is missing, and the schema generates it [\(code)]\n"
        case .stale: return "\(place): error: no schema generates this file any more; remove it [\(code)]\n"
        case .different:
            let lines = changes.map { $0.printable + "\n" }.joined()
            return "\(place): error: this file differs from what the schema generates [\(code)]\n" + lines
        }
    }
}

/// The possible values of the option '--access'.
enum AccessChoice: String, CaseIterable, ExpressibleByArgument {
    case `public`
    case package
    case `internal`

    var level: AccessLevel {
        switch self {
        case .public: .public
        case .package: .package
        case .internal: .internal
        }
    }
}
