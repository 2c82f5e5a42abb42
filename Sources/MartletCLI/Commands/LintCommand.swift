import ArgumentParser
import MartletCompiler
import MartletSchema
import MartletTools

struct LintCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint", abstract: "Check schemas and report problems.",
        discussion: "Each folder argument is one schema. All file arguments together form one more schema.")

    @Argument(help: "Schema folders, or schema files.", completion: .file(extensions: ["yaml"]))
    var paths: [String]

    @Option(
        help: "The format of the findings: \(ReportFormat.names).",
        completion: .list(ReportFormat.allCases.map(\.rawValue)), transform: ReportFormat.named)
    var format: ReportFormat?

    @Flag(help: "Print one line for each finding, as '--format brief' does.")
    var brief = false

    @Flag(
        help: """
            Apply all safe fixes first. Only files in the given folders, or in the folders of the given files, are \
            changed.
            """)
    var fix = false

    @Option(help: "Which findings to show: minimal (errors), standard (also warnings) or strict (also notes).")
    var preset: PresetChoice?

    func validate() throws { try ReportFormat.requireSingle(brief, format) }

    func run() throws {
        let folders = paths.filter(FileSystem.isFolder)
        let files = paths.filter { !FileSystem.isFolder($0) }
        var schemas = folders.map { [$0] }
        if !files.isEmpty { schemas.append(files) }
        var isClean = true
        var report = Report(pathsFrom: FileSystem.currentFolder)
        for paths in schemas {
            var input = try reportingDiskErrors { () throws(DiskError) in try SourceLoader().load(paths) }
            let options = CompilerOptions(preset: preset?.preset)
            if fix { input = try applyFixes(input, paths, options) }
            let compilation = Compiler.lint(input, options: options)
            report.add(compilation.diagnostics, of: input.allSources, named: paths[0])
            if compilation.diagnostics.contains(where: { $0.severity > .note }) { isClean = false }
        }
        let isColored = Console.isColored(descriptor: 1)
        try Console.write(report.text(as: brief ? .brief : format ?? .text, isColored: isColored))
        if !isClean { throw CommandFailure(.findings) }
    }

    /// Applies the fixes, and prints them to standard error, because standard output contains the findings.
    private func applyFixes(_ input: SchemaInput, _ paths: [String], _ options: CompilerOptions) throws -> SchemaInput {
        let result = try reportingDiskErrors { () throws(DiskError) in
            try SourceFixer(paths).fix(input, options: options)
        }
        Console.error(result.report.text)
        return result.input
    }
}

/// The possible values of the option '--preset'.
enum PresetChoice: String, CaseIterable, ExpressibleByArgument {
    case minimal
    case standard
    case strict

    var preset: LintPreset {
        switch self {
        case .minimal: .minimal
        case .standard: .standard
        case .strict: .strict
        }
    }
}

extension ReportFormat {
    /// The names of all formats, for messages.
    static let names = allCases.map(\.rawValue).joined(separator: ", ")

    /// Throws an error if '--brief' is combined with another format, because '--brief' means '--format brief'.
    static func requireSingle(_ isBrief: Bool, _ format: ReportFormat?) throws {
        guard isBrief, let format, format != .brief else { return }
        throw ValidationError("'--brief' and '--format \(format.rawValue)' exclude each other; leave one out")
    }

    static func named(_ word: String) throws -> ReportFormat {
        guard let format = ReportFormat(rawValue: word) else {
            throw ValidationError("unknown format '\(word)'; the formats are \(names)")
        }
        return format
    }
}

/// Calls `body`, and converts an error of the file system to a failure with the exit status `inputOutput`.
func reportingDiskErrors<Value>(_ body: () throws(DiskError) -> Value) throws -> Value {
    do {
        return try body()
    } catch {
        throw CommandFailure(.inputOutput, error.description)
    }
}
