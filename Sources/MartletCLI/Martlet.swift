import ArgumentParser
import Foundation
import MartletCompiler
import MartletSchema

/// `martlet`, the command line of the schema compiler.
@main
struct Martlet: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "martlet",
        abstract: "Compiles YAML schemas into Swift model classes.",
        discussion: """
            Exit codes: 0 success, 1 findings, 2 wrong usage, 3 input or output error, 70 internal error.
            """,
        version: Compiler.version,
        subcommands: [
            LintCommand.self, GenerateCommand.self, BreakingCommand.self, FormatCommand.self, InitCommand.self,
            JSONSchemaCommand.self, ExplainCommand.self, DiagramCommand.self,
            DocsCommand.self, PostgresCommand.self, FactsCommand.self,
        ])

    /// Runs the command with the exit codes of ``ExitStatus`` instead of those of ArgumentParser.
    static func main() {
        Memory.keepFreedMemory()
        StandardStream.ignoreFileSizeSignal()
        do {
            var command = try parseAsRoot(CommandLineArguments.all)
            try command.run()
        } catch {
            terminate(with: error)
        }
    }

    private static func terminate(with error: any Error) -> Never {
        let status = ExitStatus(of: error)
        let text = message(of: error)
        // ArgumentParser throws the help, the version and completion scripts as errors, but they are regular output.
        if status == .success {
            do {
                try Console.write(text)
            } catch {
                terminate(with: error)
            }
        } else {
            Console.error(text)
        }
        status.terminate()
    }

    /// The text to print; empty if the command already printed it.
    private static func message(of error: any Error) -> String {
        if let failure = error as? CommandFailure {
            return failure.message.isEmpty ? "" : "martlet: error: \(failure.message.printable)\n"
        }
        let text = fullMessage(for: error)
        return text.isEmpty ? "" : text + "\n"
    }
}

extension ExitStatus {
    /// The exit status for an error of a command. An error of an unexpected type is an internal error.
    init(of error: any Error) {
        if let failure = error as? CommandFailure {
            self = failure.code
            return
        }
        switch Martlet.exitCode(for: error) {
        case .success: self = .success
        case .validationFailure: self = .usage
        default: self = .internalError
        }
    }
}
