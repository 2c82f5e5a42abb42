import Foundation
import MartletSQLite

/// What queries need beyond SQLite's own functions.
enum QueryFunctions {
    static func install(on connection: Connection) throws(SQLiteError) {
        for function in all { try connection.add(function) }
        for aggregate in aggregates { try connection.add(aggregate) }
        try connection.add(elements)
    }

    private static let all = [
        // (match, options, text, pattern)
        ScalarFunction("martlet_text", argumentCount: 4) { arguments in
            guard let match = Predicate.TextMatch(rawValue: arguments.integer(0)) else { return .null }
            let options = Predicate.TextOptions(rawValue: arguments.integer(1))
            return switch (arguments.value(2), arguments.value(3)) {
            case (.text(let text), .text(let pattern)):
                .integer(TextMatcher.matches(text, match, pattern, options) ? 1 : 0)
            case (.blob(let bytes), .blob(let pattern)):
                .integer(TextMatcher.matches(bytes, match, pattern) ? 1 : 0)
            default: .null
            }
        },
        // (special, property): true when the property's floating value is kept there as NaN
        ScalarFunction("martlet_special", argumentCount: 2) { arguments in
            guard let bytes = arguments.bytes(0) else { return .integer(0) }
            let isNaN =
                FloatingSpecials.bits(bytes, Int(arguments.integer(1))).map { Double(bitPattern: $0).isNaN } ?? false
            return .integer(isNaN ? 1 : 0)
        },
        // (special, 'from:to,…'): the same for properties at other positions
        ScalarFunction("martlet_moved", argumentCount: 2) { arguments in
            guard let bytes = arguments.bytes(0), case .text(let text) = arguments.value(1) else { return .null }
            var positions: [PropertyIndex: PropertyIndex] = [:]
            for pair in text.split(separator: ",") {
                let numbers = pair.split(separator: ":").compactMap { Int($0) }
                if numbers.count == 2 { positions[numbers[0]] = numbers[1] }
            }
            return .blob(FloatingSpecials.moved([UInt8](bytes), positions))
        },
        // (value, value): below, at or above zero; NULL where neither comes first
        ScalarFunction("martlet_order", argumentCount: 2) { arguments in
            guard let left = AnyValue(arguments.value(0)), let right = AnyValue(arguments.value(1)) else {
                return .null
            }
            return left.compare(right).map { .integer(Int64($0)) } ?? .null
        },
        // (value): what kind of value it is
        ScalarFunction("martlet_kind", argumentCount: 1) { arguments in
            .text(AnyValue(arguments.value(0))?.kind ?? "none")
        },
        // (value): what values of any type are sorted by
        ScalarFunction("martlet_sort_key", argumentCount: 1) { arguments in AnyValue.sortKey(arguments.value(0)) },
        // (high, low): the number of so many times 2^32 and so many ones; a floating one where 64 bits do not hold it
        ScalarFunction("martlet_whole", argumentCount: 2) { arguments in
            let number = Int128(arguments.integer(0)) << 32 + Int128(arguments.integer(1))
            return Int64(exactly: number).map(SQLValue.integer) ?? .real(Double(number))
        },
        // (tag, value): the value of a typed column as one of any type
        ScalarFunction("martlet_tagged", argumentCount: 2) { arguments in
            guard let tag = UInt8(exactly: arguments.integer(0)).flatMap(AnyValueTag.init) else { return .null }
            return tag.tagged(arguments.value(1))
        },
        // (number): the bytes of the decimal
        ScalarFunction("martlet_decimal", argumentCount: 1) { arguments in
            DecimalNumber(arguments.value(0)).map { .blob($0.bytes) } ?? .null
        },
    ]

    // (decimal): of those that are numbers
    private static let aggregates = [
        AggregateFunction("martlet_decimal_sum", argumentCount: 1, DecimalTotal.self),
        AggregateFunction("martlet_decimal_avg", argumentCount: 1, DecimalMean.self),
    ]

    // (elements, count, layout): layout 1 for maps, whose keys and values take turns; 2 for floating values
    private static let elements = TableFunction("martlet_elements", columns: ["k", "v", "nan"], argumentCount: 3) {
        arguments in
        guard let bytes = arguments.bytes(0),
            let elements = bytes.withUnsafeBytes({ ElementCodec.decode($0, count: Int(arguments.integer(1))) })
        else { return [] }
        let layout = arguments.integer(2)
        func row(_ key: SQLValue, _ value: SQLValue) -> TableFunction.Row {
            guard layout & 2 != 0, case .blob = value, case .real(let number) = FloatingSpecials.number(value) else {
                return [key, value, .integer(0)]
            }
            // What REAL does not keep bit for bit are NaN and negative zero.
            let isNaN = number.isNaN
            return [key, isNaN ? .null : .real(0), .integer(isNaN ? 1 : 0)]
        }
        if layout & 1 == 0 { return elements.map { row(.null, $0) } }
        return stride(from: 0, to: elements.count - 1, by: 2).map { row(elements[$0], elements[$0 + 1]) }
    }
}

/// A sum of decimals; zero for none.
private final class DecimalTotal: Aggregation {
    private var sum = DecimalSum()

    init() {}

    func step(_ arguments: FunctionArguments) { sum.add(arguments) }

    var outcome: SQLValue { .blob(sum.total.bytes) }
}

/// A mean of decimals; nothing for none.
private final class DecimalMean: Aggregation {
    private var sum = DecimalSum()

    init() {}

    func step(_ arguments: FunctionArguments) { sum.add(arguments) }

    var outcome: SQLValue { sum.mean.map { .blob($0.bytes) } ?? .null }
}

extension DecimalSum {
    fileprivate mutating func add(_ arguments: FunctionArguments) {
        if let number = DecimalNumber(arguments.value(0)), !number.isNaN { add(number) }
    }
}

/// String conditions that SQL cannot express.
enum TextMatcher {
    static func matches(
        _ text: String, _ match: Predicate.TextMatch, _ pattern: String, _ options: Predicate.TextOptions
    ) -> Bool {
        let (text, pattern) = (folded(text, options), folded(pattern, options))
        guard match == .like else { return matches(Array(text.utf8), match, Array(pattern.utf8)) }
        return isLike(Array(text.unicodeScalars), Array(pattern.unicodeScalars), one: "?", many: "*", escape: "\\")
    }

    static func matches(_ bytes: [UInt8], _ match: Predicate.TextMatch, _ pattern: [UInt8]) -> Bool {
        switch match {
        case .contains: pattern.isEmpty || bytes.firstRange(of: pattern) != nil
        case .begins: bytes.starts(with: pattern)
        case .ends: bytes.count >= pattern.count && bytes.suffix(pattern.count).elementsEqual(pattern)
        case .equals: bytes == pattern
        case .like:
            isLike(
                bytes, pattern, one: UInt8(ascii: "?"), many: UInt8(ascii: "*"), escape: UInt8(ascii: "\\"))
        }
    }

    private static func folded(_ text: String, _ options: Predicate.TextOptions) -> String {
        guard !options.isEmpty else { return text }
        var compare: String.CompareOptions = []
        if options.contains(.caseInsensitive) { compare.insert(.caseInsensitive) }
        if options.contains(.diacriticInsensitive) { compare.insert(.diacriticInsensitive) }
        return text.folding(options: compare, locale: nil)
    }

    private enum LikePart<Unit: Equatable> {
        case one, many
        case unit(Unit)
    }

    // `?` is one character, `*` any number: greedy with one point of return, so never exponential. Behind a backslash all
    // three stand for themselves.
    private static func isLike<Unit: Equatable>(
        _ text: [Unit], _ pattern: [Unit], one: Unit, many: Unit, escape: Unit
    ) -> Bool {
        var parts: [LikePart<Unit>] = []
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
        return isLike(text, parts)
    }

    private static func isLike<Unit: Equatable>(_ text: [Unit], _ parts: [LikePart<Unit>]) -> Bool {
        func fits(_ part: Int, _ unit: Unit) -> Bool {
            switch parts[part] {
            case .one: true
            case .many: false
            case .unit(let wanted): wanted == unit
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
            } else if index < parts.count, fits(index, text[position]) {
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
