import Foundation
import PackagePlugin

/// Runs the command-line tool in the package directory: `swift package martlet …`.
@main struct MartletCommand: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) throws {
        let process = Process()
        process.executableURL = try context.tool(named: "MartletCLI").url
        process.arguments = arguments
        process.currentDirectoryURL = context.package.directoryURL
        try process.run()
        process.waitUntilExit()
        switch (process.terminationReason, process.terminationStatus) {
        case (.exit, 0): return
        case (.exit, let status): throw CommandFailure(description: "martlet exited with status \(status)")
        case (_, let signal):
            let failure = CommandFailure(description: "martlet was terminated by signal \(signal)")
            Diagnostics.error(failure.description)
            throw failure
        }
    }
}

/// The error if the tool failed or was terminated by a signal. The reason has already been printed.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String
}
