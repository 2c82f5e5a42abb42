import MartletSchema

/// The text of a file with edits applied, so that parsing can continue after a syntax error. This type also converts
/// offsets in the patched text to offsets in the source.
struct PatchedText {
    /// A range of patched bytes. The bytes are either copied from the source, or replace a range of the source.
    private struct Segment {
        /// The offset in the patched bytes where the segment begins.
        var start: Int
        /// The offset in the source where the copied or replaced range begins.
        let original: Int
        /// The end of the replaced range in the source; nil if the bytes are copied.
        let replacedEnd: Int?
    }

    let file: SourceFileID
    private(set) var bytes: [UInt8]
    private var segments: [Segment]

    /// Creates a text without edits. The byte-order mark of the source is left out.
    init(_ source: SourceText) {
        file = source.file
        bytes = Array(source.bytes[source.byteOrderMarkLength...])
        segments = [Segment(start: 0, original: source.byteOrderMarkLength, replacedEnd: nil)]
    }

    /// The source range that corresponds to a range of patched bytes. The range of patched bytes is extended to
    /// complete UTF-8 sequences first.
    func span(_ start: Int, _ end: Int) -> SourceSpan {
        let end = end > start ? bytes.utf8SequenceEnd(end) : end
        let start = bytes.utf8SequenceStart(start)
        return SourceSpan(file: file, start: originalStart(of: start), end: originalEnd(of: end, from: start))
    }

    func span(_ range: Range<Int>) -> SourceSpan {
        span(range.lowerBound, range.upperBound)
    }

    /// The offset of the next blank or line break; the end of the text if there is none.
    func wordEnd(from start: Int) -> Int {
        bytes[start...].firstIndex { $0.isBlank || $0.isLineBreak } ?? bytes.count
    }

    /// Replaces ranges of the patched text. The ranges must be sorted, and must not overlap.
    ///
    /// - Complexity: O(*n*) in the length of the text, for any number of ranges.
    mutating func replace(_ edits: [(range: Range<Int>, replacement: [UInt8])]) {
        var result = PatchedText(file: file)
        var cursor = 0
        for edit in edits {
            result.copy(cursor..<edit.range.lowerBound, of: self)
            let original = span(edit.range)
            result.segments.append(
                Segment(start: result.bytes.count, original: original.start, replacedEnd: original.end))
            result.bytes += edit.replacement
            cursor = edit.range.upperBound
        }
        result.copy(cursor..<bytes.count, of: self)
        self = result
    }

    private init(file: SourceFileID) {
        self.file = file
        bytes = []
        segments = []
    }

    private mutating func copy(_ range: Range<Int>, of other: PatchedText) {
        var index = other.segmentIndex(at: range.lowerBound)
        var start = range.lowerBound
        repeat {
            let segment = other.segments[index]
            let end = index + 1 < other.segments.count ? other.segments[index + 1].start : other.bytes.count
            let original = segment.replacedEnd == nil ? segment.original + start - segment.start : segment.original
            segments.append(Segment(start: bytes.count, original: original, replacedEnd: segment.replacedEnd))
            let stop = min(end, range.upperBound)
            if stop > start { bytes += other.bytes[start..<stop] }
            start = max(stop, start)
            index += 1
        } while start < range.upperBound && index < other.segments.count
    }

    private func originalStart(of offset: Int) -> Int {
        let segment = segments[segmentIndex(at: offset)]
        return segment.replacedEnd == nil ? segment.original + offset - segment.start : segment.original
    }

    private func originalEnd(of end: Int, from start: Int) -> Int {
        guard end > start else { return originalStart(of: start) }
        let segment = segments[segmentIndex(at: end - 1)]
        return segment.replacedEnd ?? segment.original + end - segment.start
    }

    private func segmentIndex(at offset: Int) -> Int {
        var low = 0
        var high = segments.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if segments[middle].start <= offset { low = middle } else { high = middle }
        }
        return low
    }
}
