import MartletFrontend
import MartletSchema

/// A comment and its position in the file.
struct LayoutComment {
    /// The offset of the `#`.
    let start: Int
    /// The text without trailing spaces and tabs.
    let text: String
    /// Whether no other content precedes the comment on its line. Document markers (`---` and `...`) do not count.
    let isOnOwnLine: Bool
    let column: Int
    let hasBlankLineAbove: Bool

    /// All comments of a file. Each `#` outside of scalars begins a comment, which ends at the end of the line.
    ///
    /// - Parameter scalars: the ranges of all scalars, in source order.
    static func all(in source: SourceText, outside scalars: [SourceSpan]) -> [LayoutComment] {
        var comments: [LayoutComment] = []
        var offset = source.byteOrderMarkLength
        for scalar in scalars + [source.span.ending] {
            while offset < scalar.start {
                guard source.bytes[offset] == Byte.hash else {
                    offset += 1
                    continue
                }
                let comment = LayoutComment(at: offset, in: source)
                comments.append(comment)
                offset = source.lineRange(source.lineIndex(at: offset)).upperBound
            }
            offset = max(offset, scalar.end)
        }
        return comments
    }

    private init(at offset: Int, in source: SourceText) {
        let line = source.lineIndex(at: offset)
        let range = source.lineRange(line)
        var end = range.upperBound
        while end > offset, source.bytes[end - 1].isBlank { end -= 1 }
        start = offset
        text = source.text(of: SourceSpan(file: source.file, start: offset, end: end))
        // The formatter removes document markers. A comment after a marker therefore gets its own line.
        let before = source.bytes[range.lowerBound..<offset].split(separator: Byte.space)
        let isAfterMarker = before.count == 1 && ["---", "..."].contains { $0.utf8.elementsEqual(before[0]) }
        isOnOwnLine = isAfterMarker || before.allSatisfy { $0.allSatisfy(\.isBlank) }
        column = isAfterMarker ? 0 : offset - range.lowerBound
        hasBlankLineAbove = source.isBlankLine(line - 1)
    }
}

extension SourceText {
    /// Whether a line exists and is blank. Lines are numbered from 0.
    func isBlankLine(_ line: Int) -> Bool {
        line >= 0 && bytes[lineRange(line)].allSatisfy(\.isBlank)
    }
}

extension YAMLNode {
    /// The ranges of all scalars, in source order.
    var scalarSpans: [SourceSpan] {
        switch self {
        case .scalar(let scalar): [scalar.span]
        case .sequence(let sequence): sequence.items.flatMap(\.scalarSpans)
        case .mapping(let mapping): mapping.entries.flatMap { [$0.key.span] + $0.value.scalarSpans }
        case .broken: []
        }
    }

    var isFlow: Bool {
        switch self {
        case .sequence(let sequence): sequence.isFlow
        case .mapping(let mapping): mapping.isFlow
        case .scalar, .broken: false
        }
    }

    var isEmptyScalar: Bool { scalar?.isEmpty == true }
}
