import Foundation
import MartletSQLite

/// What queries need beyond SQLite's own functions.
enum QueryFunctions {
    static func install(on connection: Connection) throws(SQLiteError) {
        for function in all { try connection.add(function) }
    }

    private static let all = [
        // (match, options, text, pattern)
        ScalarFunction("martlet_text", argumentCount: 4) { arguments in
            guard let text = arguments.text(2), let pattern = arguments.text(3),
                let match = Predicate.TextMatch(rawValue: arguments.integer(0))
            else { return .null }
            let options = Predicate.TextOptions(rawValue: arguments.integer(1))
            return .integer(TextMatcher.matches(text, match, pattern, options) ? 1 : 0)
        },
        // (elements, count, value)
        ScalarFunction("martlet_contains", argumentCount: 3) { arguments in
            guard let bytes = arguments.bytes(0) else { return .integer(0) }
            let elements = bytes.withUnsafeBytes { ElementCodec.decode($0, count: Int(arguments.integer(1))) }
            let value = arguments.value(2)
            return .integer(elements?.contains { $0.isElement(value) } == true ? 1 : 0)
        },
        // (special, property): true when the property's floating value is kept there as NaN
        ScalarFunction("martlet_special", argumentCount: 2) { arguments in
            guard let bytes = arguments.bytes(0) else { return .integer(0) }
            let isNaN =
                FloatingSpecials.bits(bytes, Int(arguments.integer(1))).map { Double(bitPattern: $0).isNaN } ?? false
            return .integer(isNaN ? 1 : 0)
        },
    ]
}

extension SQLValue {
    // Negative zero is kept as its bits among elements, and equals zero.
    fileprivate func isElement(_ value: SQLValue) -> Bool {
        if case .real(0) = value, case .blob(let bytes) = self { return bytes == [0, 0, 0, 0, 0, 0, 0, 0x80] }
        return self == value
    }
}

/// String conditions that SQL cannot express.
enum TextMatcher {
    static func matches(
        _ text: String, _ match: Predicate.TextMatch, _ pattern: String, _ options: Predicate.TextOptions
    ) -> Bool {
        let (text, pattern) = (folded(text, options), folded(pattern, options))
        let (haystack, needle) = (Array(text.utf8), Array(pattern.utf8))
        switch match {
        case .contains: return needle.isEmpty || text.utf8.firstRange(of: needle) != nil
        case .begins: return haystack.starts(with: needle)
        case .ends: return haystack.count >= needle.count && haystack.suffix(needle.count).elementsEqual(needle)
        case .equals: return haystack == needle
        case .like: return isLike(Array(text.unicodeScalars), Array(pattern.unicodeScalars))
        }
    }

    private static func folded(_ text: String, _ options: Predicate.TextOptions) -> String {
        guard !options.isEmpty else { return text }
        var compare: String.CompareOptions = []
        if options.contains(.caseInsensitive) { compare.insert(.caseInsensitive) }
        if options.contains(.diacriticInsensitive) { compare.insert(.diacriticInsensitive) }
        return text.folding(options: compare, locale: nil)
    }

    // `?` is one character, `*` any number: greedy with one point of return, so never exponential.
    private static func isLike(_ text: [UnicodeScalar], _ pattern: [UnicodeScalar]) -> Bool {
        var (position, index) = (0, 0)
        var star: Int?
        var resume = 0
        while position < text.count {
            if index < pattern.count, pattern[index] == "*" {
                star = index
                resume = position
                index += 1
            } else if index < pattern.count, pattern[index] == "?" || pattern[index] == text[position] {
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
        return pattern[index...].allSatisfy { $0 == "*" }
    }
}
