import MartletSchema

/// One file as a tree, with all that was wrong on the way.
struct FileReading {
    let root: YAMLNode?
    let comments: CommentReader
    let diagnostics: FindingList
    /// Words of text that could not be read: a name that is missing may stand among them.
    let lostWords: Set<String>
    /// Text that a mend may have read wrongly: what is found in it is not reported.
    let doubtful: [SourceSpan]
}

/// Reads a file; behind a syntax error it mends the text as its own fix says and reads again, so that one run shows more
/// than one problem.
struct FileReader {
    private let source: SourceText
    private var text: PatchedText
    private var diagnostics = FindingList()
    private var lost: [UInt8] = []
    private var doubtful: [SourceSpan] = []

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
        diagnostics += encoding.diagnostics
        guard encoding.isReadable else {
            return FileReading(
                root: nil, comments: CommentReader(emptySource, outside: []), diagnostics: diagnostics, lostWords: [],
                doubtful: [])
        }
        let conflicts = ConflictCheck(source)
        diagnostics += conflicts.diagnostics
        let blanks = BlankCheck(source)
        diagnostics += blanks.diagnostics
        replace(
            (encoding.offending + conflicts.offending).map { ($0, "") }
                + blanks.offending.map { ($0, blanks.spaces(for: $0)) })
        let reading = readWithRecovery()
        let comments = CommentReader(source, outside: reading.commentFree)
        diagnostics += comments.diagnostics
        if reading.isAbandoned || reading.failure != nil { lost += source.bytes }
        return FileReading(
            root: reading.root, comments: comments, diagnostics: diagnostics,
            lostWords: words(lost), doubtful: doubtful)
    }

    private mutating func readWithRecovery() -> YAMLReading {
        // Each attempt reads the file again: large files get fewer, so that no megabyte takes a second. Whoever mends a
        // schema needs to see all of it, and waits for that.
        let isPatient = FindingList.keptPerFile > FindingList.usualPerFile
        let most = (isPatient ? 64 : 6) << 20
        var attempts = max(4, min(isPatient ? 2000 : 100, most / max(1, text.bytes.count)))
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
            if let range = trap.doubtful {
                lost += text.bytes[range] + [Byte.space]
                doubtful.append(text.span(range))
            }
            text.replace(trap.edits)
            reading = YAMLReader.read(text)
        }
        diagnostics += reading.diagnostics
        return reading
    }

    private func isUnchanged(_ trap: Trap) -> Bool {
        trap.edits.allSatisfy { text.bytes[$0.range].elementsEqual($0.replacement) }
    }

    /// Takes out what cannot be read, and writes spaces for what only looks like one.
    private mutating func replace(_ mends: [(range: Range<Int>, text: String)]) {
        var edits: [(range: Range<Int>, replacement: [UInt8])] = []
        var end = 0
        for (range, replacement) in mends.sorted(by: { $0.range.lowerBound < $1.range.lowerBound })
        where range.lowerBound >= end {
            let shift = source.markLength
            edits.append((range.lowerBound - shift..<range.upperBound - shift, Array(replacement.utf8)))
            end = range.upperBound
        }
        if !edits.isEmpty { text.replace(edits) }
    }

    private var emptySource: SourceText {
        SourceText(file: source.file, relativePath: source.relativePath, displayPath: source.displayPath, bytes: [])
    }

    private func words(_ bytes: [UInt8]) -> Set<String> {
        Set(bytes.split { !$0.isNameByte }.map { String(decoding: $0, as: UTF8.self) })
    }
}
