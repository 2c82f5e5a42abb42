import MartletSchema

/// The text of a file with mends applied, so that parsing can go on behind a mistake, and the way back to the places of
/// the original.
struct PatchedText {
    /// A run of patched bytes: copied from the original, or put in the place of a range of it.
    private struct Segment {
        var start: Int
        let original: Int
        /// Where the replaced range ends in the original; nil when copied.
        let replacedEnd: Int?
    }

    let file: SourceFileID
    private(set) var bytes: [UInt8]
    private var segments: [Segment]

    /// The text without its byte-order mark.
    init(_ source: SourceText) {
        file = source.file
        bytes = Array(source.bytes[source.markLength...])
        segments = [Segment(start: 0, original: source.markLength, replacedEnd: nil)]
    }

    /// The range of the original that patched bytes came from; a letter is in it whole or not at all.
    func span(_ start: Int, _ end: Int) -> SourceSpan {
        let end = end > start ? bytes.letterEnd(end) : end
        let start = bytes.letterStart(start)
        return SourceSpan(file: file, start: originalStart(of: start), end: originalEnd(of: end, from: start))
    }

    func span(_ range: Range<Int>) -> SourceSpan {
        span(range.lowerBound, range.upperBound)
    }

    /// Where the blank or line break behind an offset stands.
    func wordEnd(from start: Int) -> Int {
        bytes[start...].firstIndex { $0.isBlank || $0.isLineBreak } ?? bytes.count
    }

    /// Puts other bytes in the place of ranges of the patched text, which are sorted and do not overlap.
    ///
    /// - Complexity: O(*n*) in the length of the text, whatever the number of ranges.
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
