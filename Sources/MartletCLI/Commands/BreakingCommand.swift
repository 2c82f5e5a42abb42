import ArgumentParser
import MartletCompiler
import MartletSchema
import MartletTools

struct BreakingCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "breaking", abstract: "Find changes of a schema that break data, code or queries.",
        discussion: """
            The command compares the schema files on disk, including uncommitted changes, with an older version. With \
            a git ref, the older version is the merge base of HEAD and the ref, so later commits of the ref are \
            ignored. Levels: 'data' if stored values are lost or cannot be read, 'source' if code stops compiling, \
            'query' if queries become slower or return other results, or new objects start with other values.
            """)

    @Argument(help: "The schema folder.", completion: .directory)
    var folder: String

    @Option(help: "A git ref, such as 'origin/main', or a folder with another version of the schema.")
    var against: String

    @Option(
        help: "The level from which a change is an error. From the most to the least severe: data, source, query.",
        completion: .list(BreakingThreshold.allCases.map(\.rawValue)), transform: BreakingThreshold.named)
    var level = BreakingThreshold.source

    @Option(
        help: "The format of the findings: \(ReportFormat.names).",
        completion: .list(ReportFormat.allCases.map(\.rawValue)), transform: ReportFormat.named)
    var format: ReportFormat?

    @Flag(help: "Print one line for each finding, as '--format brief' does.")
    var brief = false

    func validate() throws { try ReportFormat.requireSingle(brief, format) }

    func run() throws {
        let new = try reportingDiskErrors { () throws(DiskError) in try SourceLoader().load(folder: folder) }
        let old = try formerSchema()
        // Without an earlier schema, no change can break anything.
        let comparison = Compiler.compare(new, with: old ?? new, failingFrom: level)
        guard comparison.oldErrors.isEmpty else {
            Console.error(DiagnosticPrinter(sources: comparison.sources, style: .brief).text(comparison.oldErrors))
            throw CommandFailure(
                .inputOutput, "the schema of '\(against)' has errors and cannot be compared; name an earlier one")
        }
        var report = Report(pathsFrom: FileSystem.currentFolder)
        report.add(comparison.diagnostics, of: comparison.sources, named: folder)
        let isColored = Console.isColored(descriptor: 1)
        try Console.write(report.text(as: brief ? .brief : format ?? .text, isColored: isColored))
        if comparison.hasErrors { throw CommandFailure(.findings) }
    }

    /// The older schema; nil if its folder did not exist in the merge base.
    private func formerSchema() throws -> SchemaInput? {
        let isPath = against.hasPrefix("/") || against.hasPrefix(".") || against.hasSuffix("/")
        if isPath, !FileSystem.isFolder(against) {
            throw CommandFailure(
                .inputOutput, "'\(against)' is not a folder; name a folder with an older schema, or a git ref")
        }
        if FileSystem.isFolder(against) {
            if !isPath, let history = try? GitHistory(of: folder), try history.commit(named: against) != nil {
                throw CommandFailure(
                    .usage, "'\(against)' is a folder and a git ref; write './\(against)' or 'refs/heads/\(against)'")
            }
            return try reportingDiskErrors { () throws(DiskError) in try SourceLoader().load(folder: against) }
        }
        do {
            let schema = try GitHistory(of: folder).schema(atMergeBaseWith: against)
            if schema.isMoved {
                let former = schema.folder.printable
                Console.error("martlet: note: '\(folder.printable)' was '\(former)' in commit \(schema.commit)\n")
            } else if schema.input == nil {
                Console.error(
                    "martlet: note: '\(folder.printable)' did not exist in commit \(schema.commit); nothing can break; "
                        + "if it was moved, commit that first, or compare with a folder\n")
            }
            return schema.input
        } catch {
            throw CommandFailure(.inputOutput, error.description)
        }
    }
}

extension BreakingThreshold {
    static func named(_ word: String) throws -> BreakingThreshold {
        guard let level = BreakingThreshold(rawValue: word) else {
            throw ValidationError("unknown level '\(word)'; there are data, source and query")
        }
        return level
    }
}
