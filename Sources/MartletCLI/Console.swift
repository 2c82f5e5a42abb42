import Foundation
import MartletCompiler

/// Standard output and standard error.
enum Console {
    /// What was asked for. Where it cannot be written, nobody should take its beginning for the whole.
    static func write(_ text: String) throws {
        if let reason = StandardStream.output.write(text) {
            throw CommandFailure(.inputOutput, "standard output cannot be written: \(reason)")
        }
    }

    /// What is said beside it; there is nowhere left to say that it could not be.
    static func error(_ text: String) {
        _ = StandardStream.error.write(text)
    }

    /// Colour only where a person looks, and has not said no: see no-color.org.
    static func isColored(descriptor: Int32) -> Bool {
        let environment = ProcessInfo.processInfo.environment
        if let value = environment["NO_COLOR"], !value.isEmpty { return false }
        if environment["TERM"] == "dumb" { return false }
        return isatty(descriptor) == 1
    }
}
