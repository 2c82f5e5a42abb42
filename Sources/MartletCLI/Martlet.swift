import ArgumentParser
import Foundation
import MartletCompiler
import MartletSchema

/// `martlet`: the schema compiler at the command line.
@main
struct Martlet: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "martlet",
        abstract: "Compiles YAML schemas into Swift model classes.",
        discussion: """
            Exit codes: 0 fine, 1 findings, 2 wrong usage, 3 input or output failed, 70 internal error.
            """,
        version: Compiler.version,
        subcommands: [
            LintCommand.self, GenerateCommand.self, BreakingCommand.self, FormatCommand.self, InitCommand.self,
            JSONSchemaCommand.self, ExplainCommand.self, DiagramCommand.self,
            DocsCommand.self,
        ])

    /// The codes of the contract, in the place of the library's own.
    static func main() {
        Memory.keep()
        StandardStream.keepLargeFilesErrors()
        do {
            var command = try parseAsRoot(CommandWords.all)
            try command.run()
        } catch {
            leave(with: error)
        }
    }

    private static func leave(with error: any Error) -> Never {
        let status = ExitStatus(of: error)
        let text = message(of: error)
        // Help, the version and completion scripts come as errors too, and are what was asked for.
        if status == .fine {
            do {
                try Console.write(text)
            } catch {
                leave(with: error)
            }
        } else {
            Console.error(text)
        }
        status.leave()
    }

    /// Ready to be written; empty when all was said already.
    private static func message(of error: any Error) -> String {
        if let failure = error as? CommandFailure {
            return failure.message.isEmpty ? "" : "martlet: error: \(failure.message.printable)\n"
        }
        let text = fullMessage(for: error)
        return text.isEmpty ? "" : text + "\n"
    }
}

extension ExitStatus {
    /// What an error of a command means to the shell; one that nobody foresaw is a mistake of ours.
    init(of error: any Error) {
        if let failure = error as? CommandFailure {
            self = failure.code
            return
        }
        switch Martlet.exitCode(for: error) {
        case .success: self = .fine
        case .validationFailure: self = .usage
        default: self = .internalError
        }
    }
}
