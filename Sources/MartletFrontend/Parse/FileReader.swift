package import MartletSchema

/// The parsed tree of one file, with the diagnostics.
package struct FileReading {
    package let root: YAMLNode?
    package let comments: CommentReader
    package let diagnostics: LimitedFindings
    /// The words in the parts of the file that could not be parsed. The resolver does not report a name as missing if
    /// it is among these words, because these parts may contain its declaration.
    let wordsInUnparsedText: Set<String>
    /// Ranges where error recovery may have misread the text. Findings of the schema parser and the resolver in these
    /// ranges are not reported.
    let unreliableRanges: [SourceSpan]
}

/// Parses a file. After a syntax error, the reader applies the edits of a recovery rule and parses the file again, so
/// that one run reports several problems.
package struct FileReader {
    private let source: SourceText
    private var text: PatchedText
    private var diagnostics = LimitedFindings()
    private var unparsedBytes: [UInt8] = []
    private var unreliableRanges: [SourceSpan] = []

    package static func read(_ source: SourceText) -> FileReading {
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
                root: nil, comments: CommentReader(emptySource, outside: []), diagnostics: diagnostics,
                wordsInUnparsedText: [],
                unreliableRanges: [])
        }
        let conflicts = ConflictCheck(source)
        diagnostics += conflicts.diagnostics
        let blanks = BlankCheck(source)
        diagnostics += blanks.diagnostics
        replace(
            (encoding.removedRanges + conflicts.removedRanges).map { ($0, "") }
                + blanks.replacedRanges.map { ($0, blanks.spaces(for: $0)) })
        let reading = readWithRecovery()
        let comments = CommentReader(source, outside: reading.spansWithoutComments)
        diagnostics += comments.diagnostics
        if reading.isAbandoned || reading.failure != nil { unparsedBytes += source.bytes }
        return FileReading(
            root: reading.root, comments: comments, diagnostics: diagnostics,
            wordsInUnparsedText: words(unparsedBytes), unreliableRanges: unreliableRanges)
    }

    private mutating func readWithRecovery() -> YAMLReading {
        // Each attempt parses the whole file again, so the number of attempts is lower for larger files. A command that
        // applies fixes needs all diagnostics, so it may make more attempts.
        let reportsAll = LimitedFindings.keptPerFile > LimitedFindings.defaultKeptPerFile
        let maximumBytes = (reportsAll ? 64 : 6) << 20
        var attempts = max(4, min(reportsAll ? 2000 : 100, maximumBytes / max(1, text.bytes.count)))
        var reading = YAMLReader.read(text)
        while let failure = reading.failure {
            let recovery = RecoveryRules.recovery(text: text, failure: failure)
            diagnostics.append(recovery.diagnostic)
            attempts -= 1
            guard attempts > 0, !changesNothing(recovery) else { break }
            for edit in recovery.edits where edit.replacement.allSatisfy({ $0.isBlank || $0.isLineBreak }) {
                unparsedBytes += text.bytes[edit.range]
                unparsedBytes.append(Byte.space)
            }
            if let range = recovery.unreliableRange {
                unparsedBytes += text.bytes[range] + [Byte.space]
                unreliableRanges.append(text.span(range))
            }
            text.replace(recovery.edits)
            reading = YAMLReader.read(text)
        }
        diagnostics += reading.diagnostics
        return reading
    }

    private func changesNothing(_ recovery: SyntaxRecovery) -> Bool {
        recovery.edits.allSatisfy { text.bytes[$0.range].elementsEqual($0.replacement) }
    }

    /// Replaces ranges of the source before the file is parsed. A range that overlaps an earlier range is skipped.
    private mutating func replace(_ replacements: [(range: Range<Int>, text: String)]) {
        var edits: [(range: Range<Int>, replacement: [UInt8])] = []
        var end = 0
        for (range, replacement) in replacements.sorted(by: { $0.range.lowerBound < $1.range.lowerBound })
        where range.lowerBound >= end {
            let shift = source.byteOrderMarkLength
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
