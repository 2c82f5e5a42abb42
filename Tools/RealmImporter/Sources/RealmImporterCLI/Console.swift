import Foundation
import MartletCompiler

/// Standard output and standard error.
enum Console {
    static func write(_ text: String) throws {
        if let reason = StandardStream.output.write(text) {
            throw CommandFailure(.inputOutput, "standard output cannot be written: \(reason)")
        }
    }

    /// There is nowhere left to say that it could not be written.
    static func error(_ text: String) {
        _ = StandardStream.error.write(text)
    }
}

/// What the shell learns: the codes of `martlet`.
enum ExitStatus: Int32 {
    case fine = 0
    case findings = 1
    case usage = 2
    case inputOutput = 3
    case internalError = 70

    func leave() -> Never { exit(rawValue) }
}

/// Ends the command; an empty message means that all was said already.
struct CommandFailure: Error {
    let code: ExitStatus
    let message: String

    init(_ code: ExitStatus, _ message: String = "") {
        self.code = code
        self.message = message
    }
}
