/// The command-line arguments that MartletPlugin passes to the generator.
struct Arguments {
    static let usage = "usage: MartletGenerator --output FOLDER --root FOLDER [--config FILE] [--] FILE…"

    /// The folder for the Swift files.
    private(set) var output = ""
    /// The folder of the target. Output names are derived from the paths of the schema files relative to this folder,
    /// or to the folder `Schemas` in it.
    private(set) var root = ""
    /// The path of the configuration file `martlet.yaml`; nil if there is none.
    private(set) var configuration: String?
    private(set) var files: [String] = []

    init(_ words: some Sequence<String>) throws(UsageError) {
        var words = Array(words)[...]
        while let word = words.popFirst() {
            switch word {
            case "--output": output = try Arguments.value(of: word, &words)
            case "--root": root = try Arguments.value(of: word, &words)
            case "--config": configuration = try Arguments.value(of: word, &words)
            case "--":
                files += words
                words = []
            default:
                guard !word.hasPrefix("-") else { throw UsageError(message: "unknown option '\(word)'") }
                files.append(word)
            }
        }
        if output.isEmpty { throw UsageError(message: "'--output' is missing") }
        if root.isEmpty { throw UsageError(message: "'--root' is missing") }
    }

    private static func value(of option: String, _ words: inout ArraySlice<String>) throws(UsageError) -> String {
        guard let value = words.popFirst() else { throw UsageError(message: "no value follows '\(option)'") }
        return value
    }
}

/// An invalid command line.
struct UsageError: Error {
    let message: String
}
