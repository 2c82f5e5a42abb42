/// Replaces tabs in indentation with spaces. The initializer computes the new column of each line, and whether this
/// column is certain.
///
/// If the whole file is indented with tabs, a tab is one level. If tabs and spaces are mixed, the width of a tab is
/// unknown. The column of a line with tabs is then certain only in two cases:
/// - The line is directly below a line that opens a block. The line is then inside that block.
/// - The indentation has the same bytes as that of an earlier line. The line is then at the level of the earlier line.
struct TabIndentation {
    private struct Level {
        let indentation: ArraySlice<UInt8>
        let column: Int
        /// Whether the line opens a block, so that the lines below can be nested in it.
        let opens: Bool

        var hasTab: Bool { indentation.contains(Byte.tab) }
    }

    private(set) var edits: [(range: Range<Int>, replacement: String)] = []
    /// The range from the first edit to the end of the last block with an uncertain column; nil if all columns are
    /// certain.
    private(set) var uncertainRange: Range<Int>?
    var isCertain: Bool { uncertainRange == nil }

    private let lines: TextLines
    private var levels: [Level] = []
    /// The column of the line whose block is indented with tabs.
    private var tabBlockColumn: Int?
    /// The column of the key of a block scalar, whose text can contain tabs.
    private var blockScalarColumn: Int?
    /// The uncertain range ends before the next line whose column is not greater than this column.
    private var uncertainColumn = 0
    private var hasUncertainRangeEnded = false

    /// - Parameter first: the first line in which tabs are replaced.
    init(_ lines: TextLines, from first: Int) {
        self.lines = lines
        let isPure = (0..<lines.count).allSatisfy { line in
            lines.isBlankOrComment(line) || !indentation(line).contains(Byte.space)
        }
        for line in 0..<lines.count {
            let indentation = indentation(line)
            if isPure || lines.isBlankOrComment(line) {
                if line >= first { replace(indentation, with: Self.width(indentation)) }
            } else if !isInBlockText(indentation), line >= first || !indentation.contains(Byte.tab) {
                assignColumn(to: line, indentation)
            }
        }
    }

    private func indentation(_ line: Int) -> ArraySlice<UInt8> {
        lines.bytes[lines.range(line).lowerBound..<lines.content(line).lowerBound]
    }

    /// The width of an indentation in which each tab is one level of two spaces.
    private static func width(_ indentation: ArraySlice<UInt8>) -> Int {
        indentation.reduce(0) { $0 + ($1 == Byte.tab ? 2 : 1) }
    }

    private mutating func isInBlockText(_ indentation: ArraySlice<UInt8>) -> Bool {
        guard let column = blockScalarColumn else { return false }
        if indentation.prefix(while: { $0 == Byte.space }).count > column { return true }
        blockScalarColumn = nil
        return false
    }

    private mutating func assignColumn(to line: Int, _ indentation: ArraySlice<UInt8>) {
        let column = indentation.contains(Byte.tab) ? columnOfTabs(indentation) : indentation.count
        while let level = levels.last, level.column >= column { levels.removeLast() }
        if !indentation.contains(Byte.tab), let parent = tabBlockColumn {
            if column > parent {
                extendUncertainRange(at: indentation.startIndex, below: parent)
            } else {
                tabBlockColumn = nil
            }
        }
        if let range = uncertainRange, !hasUncertainRangeEnded {
            if column <= uncertainColumn {
                hasUncertainRangeEnded = true
            } else {
                uncertainRange = range.lowerBound..<lines.range(line).upperBound
            }
        }
        let value = lines.keyAndValue(line)?.value
        let first = value?.first.map { lines.bytes[$0] }
        let isBlockText = first == UInt8(ascii: "|") || first == UInt8(ascii: ">")
        if isBlockText { blockScalarColumn = column }
        levels.append(Level(indentation: indentation, column: column, opens: value?.isEmpty == true || isBlockText))
        replace(indentation, with: column)
    }

    private mutating func columnOfTabs(_ indentation: ArraySlice<UInt8>) -> Int {
        if let same = levels.last(where: { $0.indentation == indentation }) { return same.column }
        guard let above = levels.last else {
            extendUncertainRange(at: indentation.startIndex, below: -1)
            return 0
        }
        let isDeeper = indentation.count > above.indentation.count && indentation.starts(with: above.indentation)
        if above.opens, isDeeper || !above.hasTab {
            if tabBlockColumn == nil { tabBlockColumn = above.column }
            return above.column + 2
        }
        extendUncertainRange(at: indentation.startIndex, below: levels.dropLast().last?.column ?? -1)
        return above.opens || isDeeper ? above.column + 2 : above.column
    }

    private mutating func extendUncertainRange(at offset: Int, below column: Int) {
        uncertainColumn = uncertainRange == nil ? column : min(uncertainColumn, column)
        hasUncertainRangeEnded = false
        // The columns of the lines whose tabs have already been replaced are uncertain as well.
        let start = edits.first?.range.lowerBound ?? offset
        uncertainRange = uncertainRange ?? start..<start
    }

    private mutating func replace(_ indentation: ArraySlice<UInt8>, with column: Int) {
        guard indentation.contains(Byte.tab) else { return }
        edits.append((indentation.startIndex..<indentation.endIndex, String(repeating: " ", count: column)))
    }
}
