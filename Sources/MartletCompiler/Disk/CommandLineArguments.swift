import MartletSchema

/// The arguments of the command line.
public enum CommandLineArguments {
    /// The arguments after the program name. Bytes that are not UTF-8 are encoded as in `FileName`.
    public static var all: [String] {
        let words = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
        return words.dropFirst().compactMap { word in
            word.map { word in
                var length = 0
                while word[length] != 0 { length += 1 }
                return FileName.text(of: UnsafeBufferPointer(start: word, count: length).map(UInt8.init(bitPattern:)))
            }
        }
    }
}
