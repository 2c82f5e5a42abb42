import MartletSchema

/// One file as a tree, with all that was wrong on the way.
struct FileReading {
    let root: YAMLNode?
    let comments: CommentReader
    let diagnostics: [Diagnostic]
    /// Words of text that could not be read: a name that is missing may stand among them.
    let lostWords: Set<String>
}

/// Reads a file; behind a syntax error it mends the text as its own fix says and reads again, so that one run shows more
/// than one problem.
struct FileReader {
    private let source: SourceText
    private var text: PatchedText
    private var diagnostics: [Diagnostic] = []
    private var lost: [UInt8] = []

    static func read(_ source: SourceText) -> FileReading {
        var reader = FileReader(source)
        return reader.read()
    }

    private init(_ source: SourceText) {
        self.source = source
        text = PatchedText(source)
    }

    private mutating func read() -> FileReading {
        let encoding = EncodingCheck(source)
        diagnostics = encoding.diagnostics
        guard encoding.isReadable else {
            return FileReading(
                root: nil, comments: CommentReader(emptySource, outside: []), diagnostics: diagnostics, lostWords: [])
        }
        let conflicts = ConflictCheck(source)
        diagnostics += conflicts.diagnostics
        blank(encoding.offending + conflicts.offending)
        let reading = readWithRecovery()
        let comments = CommentReader(source, outside: reading.longScalars)
        if reading.isAbandoned || reading.failure != nil { lost += source.bytes }
        return FileReading(
            root: reading.root, comments: comments, diagnostics: diagnostics + comments.diagnostics,
            lostWords: words(lost))
    }

    private mutating func readWithRecovery() -> YAMLReading {
        // Each attempt reads the file again: large files get fewer, so that no megabyte takes a second.
        var attempts = max(4, min(100, (6 << 20) / max(1, text.bytes.count)))
        var reading = YAMLReader.read(text)
        while let failure = reading.failure {
            let trap = TrapFinder.trap(text: text, failure: failure)
            diagnostics.append(trap.diagnostic)
            attempts -= 1
            guard attempts > 0, !isUnchanged(trap) else { break }
            for edit in trap.edits where edit.replacement.allSatisfy({ $0.isBlank || $0.isLineBreak }) {
                lost += text.bytes[edit.range]
                lost.append(Byte.space)
            }
            if let doubtful = trap.doubtful { lost += text.bytes[doubtful] + [Byte.space] }
            text.replace(trap.edits)
            reading = YAMLReader.read(text)
        }
        diagnostics += reading.diagnostics
        return reading
    }

    private func isUnchanged(_ trap: Trap) -> Bool {
        trap.edits.allSatisfy { text.bytes[$0.range].elementsEqual($0.replacement) }
    }

    /// Puts spaces in the place of bytes that cannot be read; offsets stay.
    private mutating func blank(_ ranges: [Range<Int>]) {
        guard !ranges.isEmpty else { return }
        var bytes = source.bytes
        for range in ranges {
            for index in range where !bytes[index].isLineBreak { bytes[index] = Byte.space }
        }
        text = PatchedText(
            SourceText(
                file: source.file, relativePath: source.relativePath, displayPath: source.displayPath, bytes: bytes))
    }

    private var emptySource: SourceText {
        SourceText(file: source.file, relativePath: source.relativePath, displayPath: source.displayPath, bytes: [])
    }

    private func words(_ bytes: [UInt8]) -> Set<String> {
        Set(bytes.split { !$0.isNameByte }.map { String(decoding: $0, as: UTF8.self) })
    }
}
