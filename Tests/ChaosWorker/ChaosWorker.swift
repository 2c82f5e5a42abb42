import Foundation

/// The program of the processes that the crash tests start, suspend and kill. A process writes or observes one file
/// until it gets the command to quit or is killed. With the argument `commands`, it instead executes commands from
/// standard input.
@main enum ChaosWorker {
    static func main() {
        if CommandLine.arguments.dropFirst().first == "transactions" {
            return describe(CommandLine.arguments.dropFirst(2))
        }
        if CommandLine.arguments.dropFirst().first == "commands" { return CommandLoop.run() }
        guard let options = WorkerOptions(Array(CommandLine.arguments.dropFirst())) else {
            FileHandle.standardError.write(Data("this program is started by 'make chaos'\n".utf8))
            exit(2)
        }
        // Blocks the signals before a second thread exists, because new threads inherit the signal mask.
        var commands = sigset_t()
        sigemptyset(&commands)
        for command in WorkerOptions.Command.all { sigaddset(&commands, command) }
        pthread_sigmask(SIG_BLOCK, &commands, nil)
        let worker = Worker(options)
        worker.begin()
        while true {
            var command: Int32 = 0
            if sigwait(&commands, &command) == 0 { worker.execute(command: command) }
        }
    }

    /// Prints the operations of the transactions with the given seeds, which a file contains. This helps to analyze a
    /// failed run.
    private static func describe(_ seeds: ArraySlice<String>) {
        for seed in seeds.compactMap({ UInt64($0) }) {
            let lines = Transaction(seed).operations.map { "    \(ObservedNode.short("\($0)"))" }
            print(([seed.description] + lines).joined(separator: "\n"))
        }
    }
}
