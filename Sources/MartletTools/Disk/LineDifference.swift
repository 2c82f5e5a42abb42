/// The differing lines of two texts.
struct LineDifference {
    /// The number of the first differing line, counted from 1.
    let firstLine: Int
    /// The differing lines in order. Old lines begin with `-`, and new lines begin with `+`.
    let changes: [String]

    /// The maximum number of lines that are compared: the lines of both texts from the first to the last difference. If
    /// there are more lines, all old lines are listed before all new lines.
    private static let maximumCompared = 2000
    /// The maximum number of differing lines that are listed.
    private static let maximumShown = 40

    /// Compares two texts.
    ///
    /// - Complexity: O(*n* + *d*²), where *n* is the length of the texts and *d* is the number of compared lines, at
    ///   most 2,000.
    init(from old: [UInt8], to new: [UInt8]) {
        var left = LineDifference.lines(of: old)[...]
        var right = LineDifference.lines(of: new)[...]
        while let first = left.first, let other = right.first, first == other {
            left.removeFirst()
            right.removeFirst()
        }
        while let last = left.last, let other = right.last, last == other {
            left.removeLast()
            right.removeLast()
        }
        firstLine = left.startIndex + 1
        let marked = LineDifference.marked(Array(left), Array(right))
        let rest = marked.count - LineDifference.maximumShown
        let end = rest > 0 ? ["… and \(rest) more"] : []
        changes = marked.prefix(LineDifference.maximumShown) + end
    }

    private static func marked(_ old: [[UInt8]], _ new: [[UInt8]]) -> [String] {
        guard old.count + new.count <= maximumCompared else {
            return old.map { line("-", $0) } + new.map { line("+", $0) }
        }
        var removed: Set<Int> = []
        var inserted: Set<Int> = []
        for change in new.difference(from: old) {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        var result: [String] = []
        var (left, right) = (0, 0)
        while left < old.count || right < new.count {
            if removed.contains(left) {
                result.append(line("-", old[left]))
                left += 1
            } else if inserted.contains(right) {
                result.append(line("+", new[right]))
                right += 1
            } else {
                left += 1
                right += 1
            }
        }
        return result
    }

    private static func line(_ mark: String, _ bytes: [UInt8]) -> String {
        mark + String(decoding: bytes, as: UTF8.self)
    }

    private static func lines(of bytes: [UInt8]) -> [[UInt8]] {
        bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map(Array.init)
    }
}
