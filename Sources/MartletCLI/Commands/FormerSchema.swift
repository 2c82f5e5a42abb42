import MartletCompiler
import MartletSchema
import MartletTools

/// The older schema that `--against` names: a folder, or a git ref.
struct FormerSchema {
    /// The folder of the current schema.
    let folder: String
    /// The value of `--against`.
    let against: String

    /// Reads the older schema. Returns nil if the schema folder contained no schema file in the merge base.
    func load() throws -> SchemaInput? {
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

    /// Prints the errors of the older schema, and returns the error that the command must throw.
    func failure(_ errors: [Diagnostic], _ sources: [SourceText]) -> CommandFailure {
        Console.error(DiagnosticPrinter(sources: sources, style: .brief).text(errors))
        return CommandFailure(
            .inputOutput, "the schema of '\(against)' has errors and cannot be compared; name an earlier one")
    }
}
