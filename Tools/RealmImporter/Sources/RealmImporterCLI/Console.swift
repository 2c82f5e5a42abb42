import Foundation
import MartletCompiler

/// Standard output and standard error.
enum Console {
    static func write(_ text: String) throws {
        if let reason = StandardStream.output.write(text) {
            throw CommandFailure(.inputOutput, "standard output cannot be written: \(reason)")
        }
    }

    /// Writes to standard error. Ignores a failure, because there is no other way to report it.
    static func error(_ text: String) {
        _ = StandardStream.error.write(text)
    }
}

/// The exit codes, which equal those of `martlet`.
enum ExitStatus: Int32 {
    case success = 0
    case findings = 1
    case usage = 2
    case inputOutput = 3
    case internalError = 70

    func terminate() -> Never { exit(rawValue) }
}

/// An error that ends the command. An empty message means that the findings have already been printed.
struct CommandFailure: Error {
    let code: ExitStatus
    let message: String

    init(_ code: ExitStatus, _ message: String = "") {
        self.code = code
        self.message = message
    }
}
