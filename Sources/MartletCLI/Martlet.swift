import ArgumentParser

/// `martlet`: the schema compiler at the command line.
@main
struct Martlet: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "martlet",
        abstract: "Compiles YAML schemas into Swift model classes.",
        discussion: """
            Exit codes: 0 fine, 1 findings, 2 wrong usage, 3 input or output failed, 70 internal error.
            """,
        version: "0.1.0",
        subcommands: [LintCommand.self, GenerateCommand.self])

    /// The codes of the contract, in the place of the library's own.
    static func main() {
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch let failure as CommandFailure {
            if !failure.message.isEmpty { Console.error("martlet: error: \(failure.message)\n") }
            failure.code.leave()
        } catch {
            let code = exitCode(for: error)
            let text = fullMessage(for: error)
            if code == .success {
                if !text.isEmpty { print(text) }
                ExitStatus.fine.leave()
            }
            if !text.isEmpty { Console.error(text + "\n") }
            (code == .validationFailure ? ExitStatus.usage : ExitStatus.internalError).leave()
        }
    }
}
