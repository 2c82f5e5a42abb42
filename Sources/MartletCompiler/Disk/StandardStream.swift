import Foundation

/// The standard output streams of a command.
public enum StandardStream: CInt {
    case output = 1
    case error = 2

    /// Writes a complete text.
    ///
    /// - Returns: the system's message for the error that occurred; nil on success.
    public func write(_ text: String) -> String? {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let (count, code) = FileSystem.call {
                bytes.withUnsafeBytes { Foundation.write(rawValue, $0.baseAddress, $0.count) }
            }
            guard count >= 0 else { return DiskError.message(for: code) }
            bytes = bytes.dropFirst(count)
        }
        return nil
    }

    /// Ignores SIGXFSZ, so that a write above the file size limit fails with an error and does not terminate the
    /// process.
    public static func ignoreFileSizeSignal() { _ = signal(SIGXFSZ, SIG_IGN) }
}
