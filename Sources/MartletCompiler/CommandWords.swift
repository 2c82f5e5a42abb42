import MartletSchema

/// The words of the command line.
public enum CommandWords {
    /// Behind the program's name; bytes that are not UTF-8 are kept as `FileName` keeps them.
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
