import Foundation

/// The exit status of a command.
enum ExitStatus: Int32 {
    case success = 0
    case findings = 1
    case usage = 2
    case inputOutput = 3
    case internalError = 70

    func terminate() -> Never { exit(rawValue) }
}

/// Ends a command with an exit status. The message is empty if the command already printed it.
struct CommandFailure: Error {
    let code: ExitStatus
    let message: String

    init(_ code: ExitStatus, _ message: String = "") {
        self.code = code
        self.message = message
    }
}
