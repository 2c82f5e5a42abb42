import ArgumentParser
import MartletCompiler
import MartletSchema
import RealmImporter

/// `realm-importer`: converts Realm models in Swift to a schema.
@main
struct RealmImporterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "realm-importer",
        abstract: "Writes the schema of Realm model classes, and lists what must be done manually.",
        discussion: """
            Name all files or folders of one model together; declarations in other files are not found. Warnings are about \
            stored data and names. Notes are about code that must move to extensions.

            Exit codes: 0 success, 1 warnings or errors, 2 wrong usage, 3 disk error, 70 internal error. If there are \
            only warnings, the schema is written. If there are errors, it is not written.
            """,
        version: Compiler.version)

    @Argument(help: "Swift files, or folders of them.", completion: .file(extensions: ["swift"]))
    var paths: [String]

    @Option(name: .shortAndLong, help: "The schema folder to write to: a YAML file for each Swift file with models.")
    var output: String?

    @Option(help: "Write all of the schema to this one YAML file.", completion: .file(extensions: ["yaml"]))
    var single: String?

    @Flag(help: "Overwrite existing files.")
    var force = false

    func validate() throws {
        if output == nil, single == nil {
            throw ValidationError("no output; name a folder with '--output', or a file with '--single'")
        }
        if output != nil, single != nil {
            throw ValidationError("'--output' and '--single' exclude each other; keep one of them")
        }
    }

    func run() throws {
        let sources = try mappingDiskErrors { () throws(DiskError) in try SwiftLoader().load(paths) }
        let result: Import
        do {
            result = try Importer.run(sources, single: single)
        } catch {
            throw CommandFailure(.internalError, error.message)
        }
        Console.error(FindingPrinter(sources: sources).text(result.findings))
        let written = try mappingDiskErrors { () throws(DiskError) in
            try SchemaFileWriter().write(result.outputs, to: output, isForced: force)
        }
        for path in written { try Console.write("wrote \(path.printable)\n") }
        try Console.write(result.summary + "\n")
        if result.findings.contains(where: { $0.severity > .note }) { throw CommandFailure(.findings) }
        if result.typeCount == 0 {
            throw CommandFailure(.findings, "no Realm model in these files; name those with the classes")
        }
    }

    /// Runs the closure, and converts its disk errors to failures with the exit code for disk errors.
    private func mappingDiskErrors<Value>(_ body: () throws(DiskError) -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            throw CommandFailure(.inputOutput, error.description)
        }
    }

    // MARK: Exit codes

    static func main() {
        StandardStream.ignoreFileSizeSignal()
        do {
            var command = try parseAsRoot(CommandLineArguments.all)
            try command.run()
        } catch {
            terminate(with: error)
        }
    }

    private static func terminate(with error: any Error) -> Never {
        let status = status(of: error)
        if let failure = error as? CommandFailure {
            if !failure.message.isEmpty { Console.error("realm-importer: error: \(failure.message.printable)\n") }
        } else {
            let text = fullMessage(for: error) + "\n"
            // ArgumentParser throws help and version texts, which are not failures.
            if status != .success {
                Console.error(text)
            } else if (try? Console.write(text)) == nil {
                ExitStatus.inputOutput.terminate()
            }
        }
        status.terminate()
    }

    private static func status(of error: any Error) -> ExitStatus {
        if let failure = error as? CommandFailure { return failure.code }
        return switch exitCode(for: error) {
        case .success: .success
        case .validationFailure: .usage
        default: .internalError
        }
    }
}
