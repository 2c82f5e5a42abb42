import Foundation
import MartletSchema

/// The disk said no: a file that cannot be read or written.
public struct DiskError: Error, CustomStringConvertible {
    public let path: String
    public let reason: String

    public init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }

    /// - Parameters:
    ///   - failure: what did not work: `the file cannot be written`.
    ///   - code: the `errno` of the call that did not work.
    public init(path: String, failure: String, code: CInt) {
        self.init(path: path, reason: "\(failure): \(DiskError.words(for: code))")
    }

    /// On one line: control characters of the path, and bytes that are not UTF-8, are written out.
    public var description: String { "'\(path.printable)': \(reason)" }

    /// What the system says of an `errno`: `no space left on device`.
    static func words(for code: CInt) -> String {
        let text = String(cString: strerror(code))
        return text.prefix(1).lowercased() + text.dropFirst()
    }
}
