import Foundation
import MartletValues

/// A condition on a text.
enum TextCondition {
    /// The comparison of the bytes of the text with the given bytes is true.
    case compared(Predicate.Comparison, [UInt8])
    /// The text contains the given bytes, which are not empty.
    case contains([UInt8])
    /// The folded text contains the folded bytes, which are not empty.
    case containsFolded([UInt8], ignoresCase: Bool, TextPattern)
    case pattern(TextPattern)

    init(_ match: Predicate.TextMatch, _ pattern: String, _ options: Predicate.TextOptions) {
        switch match {
        case .contains where options.isEmpty && !pattern.utf8.isEmpty: self = .contains(Array(pattern.utf8))
        case .equals where options.isEmpty: self = .compared(.equal, Array(pattern.utf8))
        default:
            let prepared = TextPattern(.text(pattern), match, options)
            if match == .contains, let folded = prepared.foldedText, !folded.isEmpty {
                self = .containsFolded(folded, ignoresCase: options.contains(.caseInsensitive), prepared)
            } else {
                self = .pattern(prepared)
            }
        }
    }

    /// Writes the bitmap of the rows that satisfy the condition. The bitmap may also contain rows without a text, which
    /// the caller removes.
    func select(_ block: TextBlock, _ bits: UnsafeMutablePointer<UInt64>) {
        switch self {
        case .contains(let pattern): block.select(containing: pattern, bits)
        case .containsFolded(let folded, let ignoresCase, let pattern):
            block.select(containingFolded: folded, ignoresCase: ignoresCase, bits) { pattern.matches($0) }
        case .pattern(let pattern): block.select(bits) { pattern.matches($0) }
        case .compared(let comparison, let other):
            other.withUnsafeBufferPointer { other in
                switch comparison {
                case .equal: block.select(bits) { $0.count == other.count && Self.order($0, other) == 0 }
                case .notEqual: block.select(bits) { $0.count != other.count || Self.order($0, other) != 0 }
                case .less: block.select(bits) { Self.order($0, other) < 0 }
                case .lessOrEqual: block.select(bits) { Self.order($0, other) <= 0 }
                case .greater: block.select(bits) { Self.order($0, other) > 0 }
                case .greaterOrEqual: block.select(bits) { Self.order($0, other) >= 0 }
                }
            }
        }
    }

    /// The order of SQLite's collation BINARY: below zero if the first text precedes the second one.
    private static func order(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Int {
        let count = min(left.count, right.count)
        if count > 0, let first = left.baseAddress, let second = right.baseAddress {
            let order = memcmp(first, second, count)
            if order != 0 { return Int(order) }
        }
        return left.count - right.count
    }
}
