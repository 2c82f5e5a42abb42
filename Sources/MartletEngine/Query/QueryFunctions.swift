import Foundation
import MartletSQLite
import MartletValues

/// SQL functions for queries. The comment before each function lists its arguments in parentheses, and then its result.
enum QueryFunctions {
    static func install(on connection: Connection) throws(SQLiteError) {
        for function in all { try connection.add(function) }
        for aggregate in aggregates { try connection.add(aggregate) }
        try connection.add(elements)
        try connection.add(times)
    }

    private static let all = [
        // (match, options, text, pattern): 1 if the text matches the pattern; NULL if they cannot be compared
        ScalarFunction("martlet_text", argumentCount: 4) { arguments in
            guard let match = Predicate.TextMatch(rawValue: arguments.integer(0)) else { return .null }
            let options = Predicate.TextOptions(rawValue: arguments.integer(1))
            // The pattern is prepared once for all rows.
            let pattern = arguments.prepared(3) { TextPattern(arguments.value(3), match, options) }
            return pattern.matches(arguments, 2).map { .integer($0 ? 1 : 0) } ?? .null
        },
        // (special, property): 1 if the value of the property is stored as NaN
        ScalarFunction("martlet_special", argumentCount: 2) { arguments in
            guard let bytes = arguments.bytes(0) else { return .integer(0) }
            let isNaN =
                FloatingSpecials.bits(bytes, Int(arguments.integer(1))).map { Double(bitPattern: $0).isNaN } ?? false
            return .integer(isNaN ? 1 : 0)
        },
        // (special, 'from:to,…'): the column `_special` with new property indexes: each `from` is replaced by its `to`
        ScalarFunction("martlet_moved", argumentCount: 2) { arguments in
            guard let bytes = arguments.bytes(0), case .text(let text) = arguments.value(1) else { return .null }
            var positions: [PropertyIndex: PropertyIndex] = [:]
            for pair in text.split(separator: ",") {
                let numbers = pair.split(separator: ":").compactMap { Int($0) }
                if numbers.count == 2 { positions[numbers[0]] = numbers[1] }
            }
            return .blob(FloatingSpecials.moved([UInt8](bytes), positions))
        },
        // (left, right): a number below zero if left < right, zero if the values are equal, a number above zero if
        // left > right; NULL if the values have no order
        ScalarFunction("martlet_order", argumentCount: 2) { arguments in
            guard let left = AnyValue(arguments.value(0)), let right = AnyValue(arguments.value(1)) else {
                return .null
            }
            return left.compare(right).map { .integer(Int64($0)) } ?? .null
        },
        // (value): the kind of an `AnyRealmValue`
        ScalarFunction("martlet_kind", argumentCount: 1) { arguments in
            .text(AnyValue(arguments.value(0))?.kind ?? "none")
        },
        // (value): the text or data in an `AnyRealmValue`; NULL for values of other kinds
        ScalarFunction("martlet_text_or_data", argumentCount: 1) { arguments in
            AnyValue.textOrData(arguments.value(0))
        },
        // (value): the sort key of an `AnyRealmValue`
        ScalarFunction("martlet_sort_key", argumentCount: 1) { arguments in AnyValue.sortKey(arguments.value(0)) },
        // (high, low): high * 2^32 + low; a floating-point number if it does not fit 64 bits
        ScalarFunction("martlet_whole", argumentCount: 2) { arguments in
            let number = Int128(arguments.integer(0)) << 32 + Int128(arguments.integer(1))
            return Int64(exactly: number).map(SQLValue.integer) ?? .real(Double(number))
        },
        // (tag, value): the value of a typed column in the form in which an `AnyRealmValue` property stores it
        ScalarFunction("martlet_tagged", argumentCount: 2) { arguments in
            guard let tag = UInt8(exactly: arguments.integer(0)).flatMap(AnyValueTag.init) else { return .null }
            return tag.tagged(arguments.value(1))
        },
        // (number): the bytes that a decimal property stores for the number
        ScalarFunction("martlet_decimal", argumentCount: 1) { arguments in
            DecimalNumber(arguments.value(0)).map { .blob($0.bytes) } ?? .null
        },
    ]

    // (decimal): the sum or the mean of the decimals that are not NaN
    private static let aggregates = [
        AggregateFunction("martlet_decimal_sum", argumentCount: 1, DecimalTotal.self),
        AggregateFunction("martlet_decimal_avg", argumentCount: 1, DecimalMean.self),
    ]

    // (elements, count, layout): one row for each element. `layout` is a set of bits: 1 for maps, whose keys and values
    // alternate, and 2 for floating-point values.
    private static let elements = TableFunction("martlet_elements", columns: ["k", "v", "nan"], argumentCount: 3) {
        (arguments: FunctionArguments) throws(TableFunction.MalformedArguments) in
        guard !arguments.isNull(0) else { return [] }
        guard let bytes = arguments.bytes(0),
            let elements = bytes.withUnsafeBytes({ ElementCodec.decode($0, count: Int(arguments.integer(1))) })
        else { throw TableFunction.MalformedArguments(EngineError.unreadableCollection) }
        let layout = arguments.integer(2)
        func row(_ key: SQLValue, _ value: SQLValue) -> TableFunction.Row {
            guard layout & 2 != 0, case .blob = value, case .real(let number) = FloatingSpecials.decodedElement(value)
            else {
                return [key, value, .integer(0)]
            }
            // The number is NaN or negative zero.
            let isNaN = number.isNaN
            return [key, isNaN ? .null : .real(0), .integer(isNaN ? 1 : 0)]
        }
        if layout & 1 == 0 { return elements.map { row(.null, $0) } }
        return stride(from: 0, to: elements.count - 1, by: 2).map { row(elements[$0], elements[$0 + 1]) }
    }
}

// (count): `count` rows, which are numbered from zero
extension QueryFunctions {
    private static let times = TableFunction("martlet_times", columns: ["n"], argumentCount: 1) {
        (arguments: FunctionArguments) throws(TableFunction.MalformedArguments) in
        let count = arguments.integer(0)
        // No valid collection links to a row more often than this.
        guard (0...Int64(Int32.max)).contains(count) else {
            throw TableFunction.MalformedArguments(EngineError.miscountedLink)
        }
        return (0..<count).map { [.integer($0)] }
    }
}

/// The sum of decimals. Without decimals, it is zero. If a value is not a decimal, the result is the text 'damaged'.
private final class DecimalTotal: Aggregation {
    private var sum = DecimalSum()
    private var isDamaged = false

    init() {}

    func step(_ arguments: FunctionArguments) { if !sum.add(arguments) { isDamaged = true } }

    var result: SQLValue { isDamaged ? .text("damaged") : .blob(sum.total.bytes) }
}

/// The mean of decimals. Without decimals, it is null. If a value is not a decimal, the result is the text 'damaged'.
private final class DecimalMean: Aggregation {
    private var sum = DecimalSum()
    private var isDamaged = false

    init() {}

    func step(_ arguments: FunctionArguments) { if !sum.add(arguments) { isDamaged = true } }

    var result: SQLValue { isDamaged ? .text("damaged") : sum.mean.map { .blob($0.bytes) } ?? .null }
}

extension DecimalSum {
    /// Returns false for a value that is neither a decimal nor null.
    fileprivate mutating func add(_ arguments: FunctionArguments) -> Bool {
        let value = arguments.value(0)
        guard let number = DecimalNumber(value) else { return value == .null }
        if !number.isNaN { add(number) }
        return true
    }
}
