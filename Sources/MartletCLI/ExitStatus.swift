import Foundation

/// What the shell learns.
enum ExitStatus: Int32 {
    case fine = 0
    case findings = 1
    case usage = 2
    case inputOutput = 3
    case internalError = 70

    func leave() -> Never { exit(rawValue) }
}

/// Ends a command; an empty message means that all was said already.
struct CommandFailure: Error {
    let code: ExitStatus
    let message: String

    init(_ code: ExitStatus, _ message: String = "") {
        self.code = code
        self.message = message
    }
}
