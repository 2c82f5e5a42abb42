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
        help: "The least severe level that is an error. From the most to the least severe: data, source, query.",
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
        let former = FormerSchema(folder: folder, against: against)
        let old = try former.load()
        // If there is no older schema, nothing can break. The schema is then compared with itself, so no change is
        // found.
        let comparison = Compiler.compare(new, with: old ?? new, failingFrom: level)
        guard comparison.oldErrors.isEmpty else {
            throw former.failure(comparison.oldErrors, comparison.sources)
        }
        var report = Report(pathsFrom: FileSystem.currentFolder)
        report.add(comparison.diagnostics, of: comparison.sources, named: folder)
        let isColored = Console.isColored(descriptor: 1)
        try Console.write(report.text(as: brief ? .brief : format ?? .text, isColored: isColored))
        if comparison.hasErrors { throw CommandFailure(.findings) }
    }
}

extension BreakingThreshold {
    static func named(_ word: String) throws -> BreakingThreshold {
        guard let level = BreakingThreshold(rawValue: word) else {
            throw ValidationError("unknown level '\(word)'; the levels are data, source and query")
        }
        return level
    }
}
