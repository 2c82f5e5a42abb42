import Foundation
import MartletCompiler

/// Standard output and standard error.
enum Console {
    /// Writes the result of a command to standard output. Throws an error if not everything can be written. The exit
    /// status then shows that the output is incomplete.
    static func write(_ text: String) throws {
        if let reason = StandardStream.output.write(text) {
            throw CommandFailure(.inputOutput, "standard output cannot be written: \(reason)")
        }
    }

    /// Writes a message to standard error. Failures are ignored, because they cannot be reported.
    static func error(_ text: String) {
        _ = StandardStream.error.write(text)
    }

    /// Whether output is colored. The descriptor must refer to a terminal, `NO_COLOR` must be unset or empty (see
    /// no-color.org), and `TERM` must not be `dumb`.
    static func isColored(descriptor: Int32) -> Bool {
        let environment = ProcessInfo.processInfo.environment
        if let value = environment["NO_COLOR"], !value.isEmpty { return false }
        if environment["TERM"] == "dumb" { return false }
        return isatty(descriptor) == 1
    }
}
