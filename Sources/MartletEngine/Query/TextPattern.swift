import CMartletRuntime
import Foundation
import MartletSQLite
package import MartletValues

/// A condition on text or data that SQL cannot express. The pattern is prepared once for many rows.
package final class TextPattern: Sendable {
    private enum ParsedPattern: Sendable {
        /// The UTF-8 bytes of the pattern, which `folded` has converted.
        case text([UInt8])
        case wildcards([LikePart<Unicode.Scalar>])
        case data([UInt8])
        /// The pattern is neither text nor data, so no value can be compared with it.
        case nothing
    }

    #if DEBUG
        /// Called for each pattern that is prepared.
        @TaskLocal static var onPreparation: (@Sendable () -> Void)?
    #endif

    private let match: Predicate.TextMatch
    private let options: Predicate.TextOptions
    private let parsed: ParsedPattern

    package init(_ pattern: SQLValue, _ match: Predicate.TextMatch, _ options: Predicate.TextOptions) {
        #if DEBUG
            Self.onPreparation?()
        #endif
        self.match = match
        self.options = options
        parsed =
            switch pattern {
            case .text(let text) where match == .like:
                .wildcards(
                    LikePart.parts(Array(Self.folded(text, options).unicodeScalars), one: "?", many: "*", escape: "\\"))
            case .text(let text): .text(Array(Self.folded(text, options).utf8))
            case .blob(let bytes): .data(bytes)
            default: .nothing
            }
    }

    /// The UTF-8 bytes of the pattern after folding; nil if it has wildcards or is no text.
    var foldedText: [UInt8]? { if case .text(let bytes) = parsed { bytes } else { nil } }

    /// Returns whether an argument of a function matches. Returns nil if its type differs from the type of the pattern.
    func matches(_ arguments: FunctionArguments, _ index: Int) -> Bool? {
        switch parsed {
        case .text, .wildcards: arguments.withText(index, matches)
        case .data(let pattern): arguments.bytes(index).map { Self.matches($0, match, pattern) }
        case .nothing: nil
        }
    }

    /// Returns whether a value matches. Returns nil if its type differs from the type of the pattern.
    package func matches(_ value: SQLValue) -> Bool? {
        switch (parsed, value) {
        case (.text, .text(var text)), (.wildcards, .text(var text)): text.withUTF8(matches)
        case (.data(let pattern), .blob(let bytes)): Self.matches(bytes, match, pattern)
        default: nil
        }
    }

    /// Returns whether a text matches. Returns false if the pattern is data.
    func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        // ASCII texts are compared without folding: they contain no diacritics, and the comparison itself ignores the
        // case of ASCII letters if necessary.
        if options.isEmpty || text.allSatisfy({ $0 < 128 }) {
            return matches(text, ignoresCase: options.contains(.caseInsensitive))
        }
        var folded = Self.folded(String(decoding: text, as: UTF8.self), options)
        return folded.withUTF8 { matches($0, ignoresCase: false) }
    }

    private func matches(_ text: UnsafeBufferPointer<UInt8>, ignoresCase: Bool) -> Bool {
        switch parsed {
        case .text(let pattern):
            return pattern.withUnsafeBufferPointer { Self.matches(text, match, $0, ignoresCase: ignoresCase) }
        case .wildcards(let parts):
            let scalars = String(decoding: text, as: UTF8.self).unicodeScalars
            return LikePart.matches(ignoresCase ? scalars.map(Self.lowercased) : Array(scalars), parts)
        case .data, .nothing: return false
        }
    }

    // MARK: Folding

    static func folded(_ text: String, _ options: Predicate.TextOptions) -> String {
        guard !options.isEmpty else { return text }
        var compare: String.CompareOptions = []
        if options.contains(.caseInsensitive) { compare.insert(.caseInsensitive) }
        if options.contains(.diacriticInsensitive) { compare.insert(.diacriticInsensitive) }
        return text.folding(options: compare, locale: nil)
    }

    @inline(__always)
    private static func lowercased(_ byte: UInt8) -> UInt8 { byte &- 65 < 26 ? byte | 32 : byte }

    private static func lowercased(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        scalar.isASCII ? Unicode.Scalar(lowercased(UInt8(scalar.value))) : scalar
    }

    // MARK: Bytes

    private static func matches(
        _ text: UnsafeBufferPointer<UInt8>, _ match: Predicate.TextMatch, _ pattern: UnsafeBufferPointer<UInt8>,
        ignoresCase: Bool
    ) -> Bool {
        func occurs(at start: Int) -> Bool {
            for offset in 0..<pattern.count {
                let byte = text[start + offset]
                if (ignoresCase ? lowercased(byte) : byte) != pattern[offset] { return false }
            }
            return true
        }
        let lastStart = text.count - pattern.count
        guard lastStart >= 0 else { return false }
        switch match {
        case .contains:
            if !ignoresCase { return isFound(pattern, in: text) }
            return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: text.count) { folded in
                for index in text.indices { folded[index] = lowercased(text[index]) }
                return isFound(pattern, in: UnsafeBufferPointer(folded))
            }
        case .begins: return occurs(at: 0)
        case .ends: return occurs(at: lastStart)
        case .equals: return lastStart == 0 && occurs(at: 0)
        case .like: return false
        }
    }

    private static func isFound(
        _ pattern: UnsafeBufferPointer<UInt8>, in text: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        guard let start = pattern.baseAddress, pattern.count > 0 else { return true }
        guard let base = text.baseAddress else { return false }
        return cmartlet_contains(base, text.count, start, pattern.count)
    }

    static func matches(_ bytes: [UInt8], _ match: Predicate.TextMatch, _ pattern: [UInt8]) -> Bool {
        guard match == .like else {
            return bytes.withUnsafeBufferPointer { bytes in
                pattern.withUnsafeBufferPointer { matches(bytes, match, $0, ignoresCase: false) }
            }
        }
        let parts = LikePart.parts(
            pattern, one: UInt8(ascii: "?"), many: UInt8(ascii: "*"), escape: UInt8(ascii: "\\"))
        return LikePart.matches(bytes, parts)
    }
}

/// A part of a pattern with wildcards.
private enum LikePart<Unit: Equatable & Sendable>: Sendable {
    case one, many
    case unit(Unit)

    // Splits a pattern into its parts. `?` matches one character, and `*` matches any number of characters. A backslash
    // before `?`, `*` or another backslash removes the special meaning of that character.
    static func parts(_ pattern: [Unit], one: Unit, many: Unit, escape: Unit) -> [LikePart] {
        var parts: [LikePart] = []
        var index = 0
        while index < pattern.count {
            let unit = pattern[index]
            if unit == escape, index + 1 < pattern.count, [one, many, escape].contains(pattern[index + 1]) {
                index += 1
                parts.append(.unit(pattern[index]))
            } else {
                parts.append(unit == one ? .one : unit == many ? .many : .unit(unit))
            }
            index += 1
        }
        return parts
    }

    // The matching is greedy and backtracks only to the last `*`, so its time does not grow exponentially.
    static func matches(_ text: [Unit], _ parts: [LikePart]) -> Bool {
        func matchesUnit(_ part: Int, _ unit: Unit) -> Bool {
            switch parts[part] {
            case .one: true
            case .many: false
            case .unit(let expected): expected == unit
            }
        }
        func isMany(_ part: Int) -> Bool {
            if case .many = parts[part] { true } else { false }
        }
        var (position, index, resume) = (0, 0, 0)
        var star: Int?
        while position < text.count {
            if index < parts.count, isMany(index) {
                star = index
                resume = position
                index += 1
            } else if index < parts.count, matchesUnit(index, text[position]) {
                position += 1
                index += 1
            } else if let last = star {
                index = last + 1
                resume += 1
                position = resume
            } else {
                return false
            }
        }
        return (index..<parts.count).allSatisfy(isMany)
    }
}
