import Testing

/// Words that are banned, and the places where some of them are allowed.
enum BannedWords {
    /// Banned endings of type and file names. They are banned because they do not say what the type does.
    static let nameEndings = [
        "Manager", "Helper", "Helpers", "Util", "Utils", "Utility", "Utilities", "Common", "Misc", "Impl", "Info",
    ]

    /// Markers of unfinished work, which belong in an issue.
    static let notes: Set<Substring> = ["TODO", "FIXME", "XXX"]

    /// Words that had a private meaning in this project, and the standard terms for them.
    static let privateWords: [String: String] = [
        "told": "notified", "tell": "notify, say, show", "tells": "notifies, says, shows", "telling": "notifying",
        "whoever": "the observer, writer or process", "somebody": "the observer, writer or process",
        "storm": "crash test", "storms": "crash tests", "fate": "outcome", "ripe": "ready",
        "ripen": "wait until computed",
        "settle": "commit, finish", "settled": "committed, finished", "settles": "commits, finishes",
        "mend": "fix", "mended": "fixed", "mends": "fixes", "mending": "fixing", "wreck": "violation", "deed": "action",
        "deeds": "actions",
    ]

    /// Folders and files that may contain the private words: data of tests, samples, and lists of former names.
    static let privateWordExceptions = [
        "Tests/TidyTests", "Tests/CompilerTests/Fixtures", "Tests/CompilerTests/Golden", "Tests/SchemaFuzzer",
        "Generated",
        "Examples/Flights/Data", "Documentation/Renames.md", "LICENSE", "Schemas", "Tests/Hostile",
        "Tools/RealmImporter/Tests/RealmImporterTests/Fixtures",
    ]

    /// Folders whose code may trap. They contain every trap message, and an exit test covers each message.
    static let trapFolders = ["Sources/Martlet/Misuse"]

    /// Executables, which may print.
    static let printingModules: Set<String> = ["MartletCLI", "MartletGenerator"]

    /// The modules of the runtime, which run in processes that may have a database open. If a process closes any
    /// descriptor of the database or of its shared memory, the system releases all locks of the process on that file.
    /// Therefore only SQLite may open these files.
    static let storeModules: Set<String> = ["MartletSQLite", "MartletEngine", "Martlet"]

    /// Source files of these modules that access files without SQLite, with the reason.
    static let fileAccessExceptions: [String: String] = [
        "Sources/MartletEngine/Transactions/LockFile.swift":
            "the lock file beside the database, which SQLite never opens",
        "Sources/MartletEngine/Coordination/SyncLock.swift":
            "the lock file of the synchronization, which SQLite never opens",
    ]

    /// Types that open files. `FileHandle.standardError` is allowed, because standard error is always open.
    static let fileAccess = ["FileManager", "FileHandle", "InputStream", "OutputStream"]
    static let openingFunctions: Set<Substring> = ["open", "openat", "fopen", "creat"]

    /// Test files that sleep, with the reason. Other tests use a manual clock and a manual scheduler.
    static let sleepingExceptions = [
        "Tests/PostgresTests/System/AuditTests.swift": "waits for an audit, which runs in the background",
        "Tests/PostgresTests/System/SystemCrashTests.swift": "kills processes at random times",
        "Tests/SyncNetworkTests/SyncServerTests.swift": "sends pings over an otherwise silent connection",
        "Tests/SyncTests/Client/SyncFixture.swift": "waits for a client, which connects in the background",
        "Tests/SyncTests/Client/SyncClientTests.swift": "suspends a client at different moments of its connection",
        "Tests/PostgresTests/System/RealmTests.swift": "waits for a client and a server, which run in the background",
    ]
}

@Suite("banned words")
struct BannedWordTests {
    @Test("names of types and files do not end in a banned word")
    func names() {
        expectTidy(Repository.swiftFiles.flatMap(Self.nameFindings))
    }

    @Test("no markers of unfinished work are committed")
    func notes() {
        let files = Repository.files.filter { !$0.isUnder("Tests/TidyTests") && !$0.isUnder("Generated") }
        expectTidy(files.flatMap(Self.noteFindings))
    }

    @Test("names, comments and prose use the field's terms")
    func privateWords() {
        let files = Repository.files.filter { file in
            !BannedWords.privateWordExceptions.contains { file.path == $0 || file.isUnder($0) }
        }
        expectTidy(files.flatMap(Self.privateWordFindings))
    }

    @Test("sources do not force a try or a cast, and trap only in the folder for traps")
    func traps() {
        expectTidy((Repository.sources + Repository.tools).flatMap(Self.trapFindings))
    }

    @Test("libraries do not print")
    func printing() {
        let libraries = (Repository.sources + Repository.tools).filter {
            !BannedWords.printingModules.contains($0.file.module ?? "")
        }
        expectTidy(
            libraries.flatMap { file in
                Self.calls(of: ["print", "debugPrint", "dump", "NSLog"], in: file).map {
                    Finding(
                        path: file.path, line: $0.line, what: "a library calls '\($0.text)'",
                        fix: "report through the log sink or a diagnostic")
                }
            })
    }

    @Test("in the modules of the runtime, only SQLite opens files")
    func fileAccess() {
        let files = Repository.sources.filter {
            BannedWords.storeModules.contains($0.file.module ?? "")
                && BannedWords.fileAccessExceptions[$0.path] == nil
        }
        expectTidy(files.flatMap(Self.fileAccessFindings))
    }

    @Test("the runtime does not use Foundation's Timer, because Linux never releases the memory of a Timer")
    func timers() {
        let files = Repository.sources.filter { BannedWords.storeModules.contains($0.file.module ?? "") }
        #expect(!files.isEmpty)
        expectTidy(
            files.flatMap { file in
                file.tokens.filter { $0.text == "Timer" }.map {
                    Finding(path: file.path, line: $0.line, what: "uses 'Timer'", fix: "use a dispatch source")
                }
            })
    }

    @Test("every exception names an existing file that needs the exception")
    func exceptionsAreNeeded() {
        let accessing = Repository.sources.filter { !Self.fileAccessFindings(in: $0).isEmpty }.map(\.path)
        let sleeping = Repository.tests.filter { !Self.sleepingCalls(in: $0).isEmpty }.map(\.path)
        #expect(Set(BannedWords.fileAccessExceptions.keys).subtracting(accessing).isEmpty)
        #expect(Set(BannedWords.sleepingExceptions.keys).subtracting(sleeping).isEmpty)
    }

    @Test("every @unchecked Sendable has its reason on the line above")
    func uncheckedSendable() {
        expectTidy(Repository.swiftFiles.flatMap(Self.uncheckedFindings))
    }

    @Test("tests do not sleep")
    func sleeping() {
        let files = Repository.tests.filter { BannedWords.sleepingExceptions[$0.path] == nil }
        expectTidy(
            files.flatMap { file in
                Self.sleepingCalls(in: file).map {
                    Finding(
                        path: file.path, line: $0.line, what: "a test calls '\($0.text)'",
                        fix: "use a manual scheduler or a manual clock")
                }
            })
    }

    // MARK: Findings in one file

    static func nameFindings(in file: SwiftFile) -> [Finding] {
        let ending = { (name: String) in BannedWords.nameEndings.first { name.hasSuffix($0) } }
        let stem = file.file.stem.split(separator: "+").map(String.init)
        let fileNames = stem.compactMap { part in ending(part).map { (part, $0, 1) } }
        let types = TypeDeclaration.all(in: file).compactMap { type in
            ending(type.name).map { (type.name, $0, type.line) }
        }
        return (fileNames + types).map { name, ending, line in
            Finding(
                path: file.path, line: line, what: "'\(name)' ends in '\(ending)'",
                fix: "name it after its role: Reader, Writer, Plan, Recorder …")
        }
    }

    static func noteFindings(in file: RepositoryFile) -> [Finding] {
        let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.indices.compactMap { index in
            let words = lines[index].split { !($0.isLetter || $0.isNumber || $0 == "_") }
            guard let note = words.first(where: BannedWords.notes.contains) else { return nil }
            return Finding(
                path: file.path, line: index + 1, what: "a '\(note)'",
                fix: "do it now, or file an issue and remove the marker")
        }
    }

    static func privateWordFindings(in file: RepositoryFile) -> [Finding] {
        let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.indices.flatMap { index in
            lines[index].split { !$0.isLetter }.compactMap { word in
                BannedWords.privateWords[word.lowercased()].map {
                    Finding(path: file.path, line: index + 1, what: "the word '\(word)'", fix: "write: \($0)")
                }
            }
        }
    }

    static func trapFindings(in file: SwiftFile) -> [Finding] {
        let tokens = file.tokens
        let forced = tokens.indices.dropLast().filter {
            ["try", "as"].contains(tokens[$0].text) && tokens[$0 + 1].text == "!" && tokens[$0 + 1].isAttached
        }.map {
            Finding(
                path: file.path, line: tokens[$0].line, what: "'\(tokens[$0].text)!'",
                fix: "handle the other case, or exclude it by the type")
        }
        let mayTrap = BannedWords.trapFolders.contains { file.file.isUnder($0) }
        let traps = mayTrap ? [] : calls(of: ["fatalError"], in: file)
        return forced
            + traps.map {
                Finding(
                    path: file.path, line: $0.line, what: "a '\($0.text)' outside \(BannedWords.trapFolders)",
                    fix: "throw an error, or move the trap to that folder if only a programming error can cause it")
            }
    }

    static func fileAccessFindings(in file: SwiftFile) -> [Finding] {
        let tokens = file.tokens
        let declaresOpen = tokens.indices.dropLast().contains {
            tokens[$0].text == "func" && tokens[$0 + 1].text == "open"
        }
        let names = tokens.indices.filter { index in
            let isStandardError = tokens.dropFirst(index + 1).starts(with: [".", "standardError"]) { $0.text == $1 }
            return BannedWords.fileAccess.contains(String(tokens[index].text)) && !isStandardError
        }.map { tokens[$0] }
        let opens = calls(of: BannedWords.openingFunctions, in: file).filter { !(declaresOpen && $0.text == "open") }
        let contents = tokens.indices.dropLast(2).filter {
            tokens[$0].text == "(" && ["contentsOf", "contentsOfFile"].contains(tokens[$0 + 1].text) && $0 > 0
                && ["Data", "String", "NSData"].contains(tokens[$0 - 1].text)
        }.map { tokens[$0 + 1] }
        return (names + opens + contents).map {
            Finding(
                path: file.path, line: $0.line, what: "'\($0.text)' opens files without SQLite",
                fix: "use SQLite, or list the file in BannedWords.fileAccessExceptions with the reason")
        }
    }

    private static func sleepingCalls(in file: SwiftFile) -> [Token] {
        calls(of: ["sleep", "usleep", "nanosleep"], in: file, asMembersToo: true)
    }

    static func uncheckedFindings(in file: SwiftFile) -> [Finding] {
        let raw = file.file.text.split(separator: "\n", omittingEmptySubsequences: false)
        let tokens = file.tokens
        let marked = tokens.indices.dropLast(2).filter {
            tokens[$0].text == "@" && tokens[$0 + 1].text == "unchecked" && tokens[$0 + 2].text == "Sendable"
        }
        return marked.compactMap { index in
            let start = declarationLine(before: index, in: tokens)
            let above = start >= 2 ? raw[start - 2].drop { $0 == " " } : ""
            guard !above.hasPrefix("//") else { return nil }
            return Finding(
                path: file.path, line: tokens[index].line, what: "'@unchecked Sendable' without a reason",
                fix: "describe on the line above the declaration what guards the state")
        }
    }

    /// Returns the first line of the declaration that contains a conformance. Attributes on the lines above belong to
    /// the declaration.
    private static func declarationLine(before index: Int, in tokens: [Token]) -> Int {
        let keywords: Set<Substring> = ["class", "struct", "extension", "enum", "actor"]
        guard let keyword = tokens[..<index].lastIndex(where: { keywords.contains($0.text) }) else {
            return tokens[index].line
        }
        var line = tokens[keyword].line
        while let first = tokens[..<keyword].last(where: { $0.line < line && $0.startsLine }),
            first.line == line - 1, first.text == "@"
        {
            line = first.line
        }
        return line
    }

    /// Returns the calls of free functions with these names, and also the calls of methods if `asMembersToo` is true.
    static func calls(of names: Set<Substring>, in file: SwiftFile, asMembersToo: Bool = false) -> [Token] {
        let tokens = file.tokens
        return tokens.indices.dropLast().filter { index in
            guard names.contains(tokens[index].text), tokens[index + 1].text == "(" else { return false }
            let before = index > 0 ? tokens[index - 1].text : ""
            return before != "func" && (asMembersToo || before != "." || isModule(at: index - 2, in: tokens))
        }.map { tokens[$0] }
    }

    private static func isModule(at index: Int, in tokens: [Token]) -> Bool {
        index >= 0 && ["Glibc", "Darwin", "Musl", "Swift", "Foundation"].contains(tokens[index].text)
    }
}
