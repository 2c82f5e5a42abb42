#if Sync
    import Foundation

    /// An error that ends the program with an exit status.
    struct CommandFailure: Error, CustomStringConvertible {
        let status: Int32
        let description: String

        init(_ status: Int32, _ description: String) {
            self.status = status
            self.description = description
        }
    }

    /// Writes to standard output and standard error.
    enum Console {
        static func write(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
        static func error(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
    }
#endif
