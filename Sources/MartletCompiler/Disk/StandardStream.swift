import Foundation

/// Where a command writes what people and programs read.
public enum StandardStream: CInt {
    case output = 1
    case error = 2

    /// Writes all of a text.
    ///
    /// - Returns: why that was not possible, in the words of the system; nil when it was.
    public func write(_ text: String) -> String? {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let (count, code) = FileSystem.call {
                bytes.withUnsafeBytes { Foundation.write(rawValue, $0.baseAddress, $0.count) }
            }
            guard count >= 0 else { return DiskError.words(for: code) }
            bytes = bytes.dropFirst(count)
        }
        return nil
    }

    /// A write beyond the size that a file may have is an error like others, and does not end the process.
    public static func keepLargeFilesErrors() { _ = signal(SIGXFSZ, SIG_IGN) }
}
