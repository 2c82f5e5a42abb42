import MartletFrontend
import MartletSchema

/// Formats a file. Scalars keep their values and quotes, and comments keep their text. The order of all scalars and
/// comments is unchanged.
struct LayoutWriter {
    /// The indentation of a nested block, in spaces.
    static let step = 2
    /// The maximum width of a line that contains a complete flow list or mapping. A longer list or mapping is written
    /// with one item on each line.
    static let maximumWidth = 100

    /// A block that is being written: its column in the source, and its new indentation.
    private typealias OpenLevel = (column: Int, indent: Int)

    let source: SourceText
    var lines = LayoutLines()
    private let comments: [LayoutComment]
    private var nextComment = 0
    /// The blocks that contain the current line, the outermost one first.
    private var levels: [OpenLevel] = []
    /// The blocks that contain the previous line.
    private var lastLevels: [OpenLevel] = []

    init(_ source: SourceText, comments: [LayoutComment]) {
        self.source = source
        self.comments = comments
    }

    mutating func write(_ root: YAMLNode?) -> String {
        switch root {
        case .mapping(let mapping) where !mapping.isFlow:
            let isSchema = mapping.entries.contains { MappingKind.file.keys.contains($0.key.text) }
            writeEntries(mapping, indent: 0, separatedLevels: isSchema ? 2 : 0)
        case .some(let root) where !root.isEmptyScalar:
            if root.isFlow || root.scalar != nil { writeComments(before: root.span.start, indent: 0) }
            writeNode(root, indent: 0)
        default: break
        }
        writeComments(before: source.bytes.count, indent: 0)
        return lines.render()
    }

    // MARK: Blocks

    /// - Parameter separatedLevels: the number of levels of nested mappings, including this mapping, that get blank
    ///   lines between their entries.
    private mutating func writeEntries(_ mapping: YAMLMapping, indent: Int, separatedLevels: Int = 0) {
        guard let first = mapping.entries.first else { return }
        levels.append((column(of: first.key.span.start), indent))
        for (index, entry) in mapping.entries.enumerated() {
            let isSeparated = separatedLevels > 0 && index > 0
            if !lines.continuesLine {
                writeComments(before: entry.key.span.start, indent: indent, isSeparated: isSeparated)
            }
            writeToken(entry.key, indent: indent)
            lines.append(":")
            lastLevels = levels
            writeValue(entry, indent: indent, separatedLevels: separatedLevels - 1)
        }
        levels.removeLast()
    }

    private mutating func writeValue(_ entry: YAMLEntry, indent: Int, separatedLevels: Int) {
        let value = entry.value
        switch value {
        case .scalar(let scalar) where scalar.isEmpty: break
        case .mapping(let mapping) where !mapping.isFlow:
            lines.markBlockStart()
            writeEntries(mapping, indent: indent + Self.step, separatedLevels: separatedLevels)
        case .sequence(let sequence) where !sequence.isFlow:
            lines.markBlockStart()
            writeItems(sequence, indent: indent + Self.step)
        default:
            if hasComments(entry.key.span.end..<value.span.start) {
                writeComments(before: value.span.start, indent: indent + Self.step)
                writeNode(value, indent: indent + Self.step)
            } else {
                lines.continueLine()
                writeNode(value, indent: indent)
            }
        }
    }

    private mutating func writeItems(_ sequence: YAMLSequence, indent: Int) {
        var cursor = sequence.span.start
        levels.append((column(of: dash(from: cursor)), indent))
        for item in sequence.items {
            let dash = dash(from: cursor)
            if !lines.continuesLine { writeComments(before: dash, indent: indent) }
            lines.begin("-", indent: indent)
            lastLevels = levels
            cursor = max(item.span.end, dash + 1)
            guard !item.isEmptyScalar else { continue }
            if hasComments(dash..<item.span.start) {
                writeComments(before: item.span.start, indent: indent + Self.step)
            } else {
                lines.continueLine()
            }
            writeNode(item, indent: indent + Self.step, continuation: indent + Self.step)
        }
        levels.removeLast()
    }

    /// - Parameter continuation: the indentation of the second and all further lines of a scalar.
    private mutating func writeNode(_ node: YAMLNode, indent: Int, continuation: Int? = nil) {
        switch node {
        case .scalar(let scalar): writeToken(scalar, indent: indent, continuation: continuation)
        case .mapping(let mapping) where !mapping.isFlow: writeEntries(mapping, indent: indent)
        case .sequence(let sequence) where !sequence.isFlow: writeItems(sequence, indent: indent)
        default: writeFlow(node, indent: indent)
        }
    }

    // MARK: Lines

    /// Writes the comments before a token. Also writes a blank line if the source has a blank line, or if `isSeparated`
    /// is true.
    ///
    /// - Parameter keepsBlank: false to omit the blank line that the source has directly above the token.
    mutating func writeComments(before offset: Int, indent: Int, isSeparated: Bool = false, keepsBlank: Bool = true) {
        var pending: [LayoutComment] = []
        while nextComment < comments.count, comments[nextComment].start < offset {
            let comment = comments[nextComment]
            nextComment += 1
            if !comment.isOnOwnLine, pending.isEmpty, lines.attach(comment: comment.text) { continue }
            pending.append(comment)
        }
        let line = source.lineIndex(at: offset)
        let isFirst = source.bytes[source.lineRange(line).lowerBound..<offset].allSatisfy(\.isBlank)
        let isEnd = offset == source.bytes.count
        let hasBlank = keepsBlank && isFirst && !isEnd && source.isBlankLine(line - 1)
        // The comments from this index on are directly above the token, so they belong to the token.
        var firstOfToken = pending.count
        if !hasBlank, !isEnd {
            while firstOfToken > 0 {
                firstOfToken -= 1
                if pending[firstOfToken].hasBlankLineAbove { break }
            }
        }
        var needsBlank = isSeparated && !hasBlank && !pending.contains(where: \.hasBlankLineAbove)
        for (index, comment) in pending.enumerated() {
            if comment.hasBlankLineAbove || needsBlank { lines.addBlank() }
            needsBlank = false
            let place = index >= firstOfToken ? indent : self.indent(of: comment, before: (column(of: offset), indent))
            lines.begin(comment.text, indent: place)
        }
        if hasBlank || needsBlank { lines.addBlank() }
    }

    /// The indentation of a comment that belongs to no token. It is the indentation of the deepest block that contains
    /// the comment.
    private func indent(of comment: LayoutComment, before token: OpenLevel) -> Int {
        (lastLevels + [token]).filter { $0.column <= comment.column }.map(\.indent).max() ?? token.indent
    }

    /// Writes a scalar without changing its value. The second and all further lines of a scalar get a new indentation.
    /// Blanks at the ends of lines are removed if they are not part of the value.
    mutating func writeToken(_ scalar: YAMLScalar, indent: Int, continuation: Int? = nil) {
        var texts = source.lineTexts(of: scalar.span)
        let first = texts.removeFirst()
        let inner = String(repeating: " ", count: continuation ?? indent + Self.step)
        if scalar.style == .block {
            let isCut = scalar.span.end == source.bytes.count && source.bytes.last?.isLineBreak == false
            lines.begin(BlockScalarLines.header(first, isCut: isCut), indent: indent)
            for text in BlockScalarLines.lines(texts, of: scalar, header: first, indentation: inner) { lines.add(text) }
            return
        }
        lines.begin(texts.isEmpty ? first : first.trimmedAtEnd(isQuoted: !scalar.isPlain), indent: indent)
        for (index, text) in texts.enumerated() {
            let content = text.trimmedAtStart
            let isLast = index == texts.count - 1
            let rest = isLast ? content : content.trimmedAtEnd(isQuoted: !scalar.isPlain)
            lines.add(rest.isEmpty ? "" : inner + rest)
        }
    }

    // MARK: Positions

    func hasComments(_ range: Range<Int>) -> Bool {
        comments[nextComment...].first { $0.start >= range.lowerBound }.map { $0.start < range.upperBound } ?? false
    }

    private func column(of offset: Int) -> Int {
        offset - source.lineRange(source.lineIndex(at: offset)).lowerBound
    }

    /// The offset of the first dash that is not in a comment. The search begins at `start`.
    private func dash(from start: Int) -> Int {
        var offset = start
        while offset < source.bytes.count, source.bytes[offset] != Byte.dash {
            if source.bytes[offset] == Byte.hash {
                offset = source.lineRange(source.lineIndex(at: offset)).upperBound
            } else {
                offset += 1
            }
        }
        return offset
    }
}
