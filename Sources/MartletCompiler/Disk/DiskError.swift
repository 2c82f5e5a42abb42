/// The disk said no: a file that cannot be read or written.
public struct DiskError: Error, CustomStringConvertible {
    public let path: String
    public let reason: String

    public var description: String { "'\(path)': \(reason)" }
}
