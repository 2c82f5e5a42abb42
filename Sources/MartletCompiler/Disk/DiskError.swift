import Foundation
import MartletSchema

/// An error of the file system: a file cannot be read or written.
public struct DiskError: Error, CustomStringConvertible {
    public let path: String
    public let reason: String

    public init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }

    /// - Parameters:
    ///   - failure: a clause that says what failed, such as `the file cannot be written`.
    ///   - code: the `errno` of the failed call.
    public init(path: String, failure: String, code: CInt) {
        self.init(path: path, reason: "\(failure): \(DiskError.message(for: code))")
    }

    /// The path and the reason on one line. Control characters in the path, and its bytes that are not UTF-8, are
    /// escaped.
    public var description: String { "'\(path.printable)': \(reason)" }

    /// The system's message for an `errno`: `no space left on device`.
    static func message(for code: CInt) -> String {
        let text = String(cString: strerror(code))
        return text.prefix(1).lowercased() + text.dropFirst()
    }
}
