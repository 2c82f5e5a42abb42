import ConformanceModels
import Foundation
import Martlet
import MartletTestSupport
import ModelTesting
import Testing

/// A number in the form in which conditions compare numbers. Nothing equals NaN, and NaN has no order.
private enum ComparedNumber: Equatable {
    case nan, negativeInfinity, infinity
    case finite(Decimal)

    init(_ text: String) {
        switch text.lowercased() {
        case "nan": self = .nan
        case "inf": self = .infinity
        case "-inf": self = .negativeInfinity
        default: self = .finite(Decimal(string: text) ?? .nan)
        }
    }

    /// A number that equals an `Int64` has its exact value. Any other number has the value of its shortest decimal
    /// representation.
    init(_ number: Double) { self.init(Int64(exactly: number).map { "\($0)" } ?? "\(number)") }

    /// Returns -1 if this number is less than `other`, 0 if they are equal, and 1 if this number is greater. Returns
    /// nil if either number is NaN.
    func compare(_ other: ComparedNumber) -> Int? {
        switch (self, other) {
        case (.nan, _), (_, .nan): nil
        case (.finite(let left), .finite(let right)): left < right ? -1 : left > right ? 1 : 0
        default: (rank - other.rank).signum()
        }
    }

    private var rank: Int {
        switch self {
        case .negativeInfinity: -1
        case .finite, .nan: 0
        case .infinity: 1
        }
    }

    var fitsInt64: Bool {
        if case .finite(let number) = self { Int64("\(number)") != nil } else { false }
    }
}

/// A number in a query: its text or its argument, its exact value, and its value after rounding to a `Double`.
private struct QueriedNumber {
    var text: String
    var argument: Any?
    let exact: ComparedNumber
    let nearest: Double

    init(text: String) {
        self.text = text
        exact = ComparedNumber(text)
        nearest = Double(text) ?? .nan
    }

    init(_ argument: Any, _ exact: ComparedNumber, _ nearest: Double) {
        text = "%@"
        self.argument = argument
        self.exact = exact
        self.nearest = nearest
    }
}

@Suite struct NumberQueryTests {
    private static let wholes: [Int64] = [
        0, 1, -1, 2, 9_007_199_254_740_991, 9_007_199_254_740_992, 9_007_199_254_740_993, -9_007_199_254_740_993,
        4_611_686_018_427_387_904, 4_611_686_018_427_387_905, .max, .max - 1, .min, .min + 1,
    ]
    private static let doubles: [Double] = [
        0, -0.0, 0.1, 0.5, -2.5, 9_007_199_254_740_992, 9_007_199_254_740_994, 0x1p62, 0x1p63, -0x1p63, 1e22, 1e23,
        .nan,
        .infinity, -.infinity,
    ]
    private static let decimals = [
        "0", "0.1", "0.5", "9007199254740993", "9007199254740992.5", "9223372036854775807", "9223372036854775808",
        "-9223372036854775808", "9223372036854775807.5", "9223372036854775806.5", "1234567890123456789012345678901234",
        "0.9999999999999999999999999999999999", "4611686018427387904", "1e23", "NaN", "inf", "-inf",
    ]

    private struct Row {
        let id: Int
        let int: Int64
        let double: Double
        let decimal: String
        let any: ComparedNumber
    }

    private func fill(_ realm: Realm, _ random: inout SeededRandom) throws -> [Row] {
        try realm.write {
            try (0..<24).map { id in
                let int = Self.wholes.randomElement(using: &random) ?? 0
                let double = Self.doubles.randomElement(using: &random) ?? 0
                let decimal = Self.decimals.randomElement(using: &random) ?? ""
                let number = try Decimal128(string: decimal)
                let any: (AnyRealmValue, ComparedNumber) =
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: (.int(Int(int)), ComparedNumber("\(int)"))
                    case 1: (.double(double), ComparedNumber(double))
                    default: (.decimal128(number), ComparedNumber(decimal))
                    }
                let scalars = Scalars(id: id, int64: int, double: double, decimal128: number, anyValue: any.0)
                realm.add(scalars)
                return Row(id: id, int: int, double: double, decimal: decimal, any: any.1)
            }
        }
    }

    private func number(_ random: inout SeededRandom) throws -> QueriedNumber {
        let int = Self.wholes.randomElement(using: &random) ?? 0
        let double = Self.doubles.randomElement(using: &random) ?? 0
        let decimal = Self.decimals.randomElement(using: &random) ?? ""
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return QueriedNumber(text: "\(int)")
        case 1: return QueriedNumber(text: double.isNaN ? "nan" : "\(double)")
        case 2: return QueriedNumber(text: decimal)
        case 3: return QueriedNumber(Int(int), ComparedNumber("\(int)"), Double(int))
        case 4: return QueriedNumber(double, ComparedNumber(double), double)
        default:
            return QueriedNumber(
                try Decimal128(string: decimal), ComparedNumber(decimal), Double(decimal) ?? .nan)
        }
    }

    private func compare(_ row: Row, _ property: String, _ number: QueriedNumber) -> Int? {
        switch property {
        case "int64": return ComparedNumber("\(row.int)").compare(number.exact)
        case "decimal128": return ComparedNumber(row.decimal).compare(number.exact)
        case "anyValue": return row.any.compare(number.exact)
        default:
            // A number that is not an `Int64` is rounded to a `Double`, the type of the property.
            if number.exact.fitsInt64 { return ComparedNumber(row.double).compare(number.exact) }
            if row.double.isNaN || number.nearest.isNaN { return nil }
            return row.double < number.nearest ? -1 : row.double > number.nearest ? 1 : 0
        }
    }

    private static let operators: [(String, @Sendable (Int?) -> Bool)] = [
        ("==", { $0 == 0 }), ("!=", { $0 != 0 }), ("<", { $0 == -1 }), ("<=", { $0 == -1 || $0 == 0 }),
        (">", { $0 == 1 }), (">=", { $0 == 1 || $0 == 0 }),
    ]

    @Test(
        "numbers of any size compare by value with properties of every numeric type O80 O51 O54",
        arguments: 0..<12 as Range<UInt64>)
    func numbers(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed &+ 40_000)
        let test = try TestRealm()
        let rows = try fill(test.realm, &random)
        let all = test.realm.objects(Scalars.self)
        for _ in 0..<120 {
            let property = ["int64", "double", "decimal128", "anyValue"].randomElement(using: &random) ?? ""
            let (first, second) = (try number(&random), try number(&random))
            let relation = Self.operators.randomElement(using: &random) ?? Self.operators[0]
            let text: String
            let holds: (Row) -> Bool
            var numbers = [first, second]
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                text = "\(property) IN {\(first.text), \(second.text)}"
                holds = { compare($0, property, first) == 0 || compare($0, property, second) == 0 }
            case 1:
                text = "\(property) BETWEEN {\(first.text), \(second.text)}"
                holds = {
                    let (low, high) = (compare($0, property, first), compare($0, property, second))
                    return (low == 0 || low == 1) && (high == 0 || high == -1)
                }
            case 2:
                text = "NOT \(property) \(relation.0) \(first.text) OR \(property) == \(second.text)"
                holds = { !relation.1(compare($0, property, first)) || compare($0, property, second) == 0 }
            default:
                text = "\(property) \(relation.0) \(first.text)"
                holds = { relation.1(compare($0, property, first)) }
                numbers = [first]
            }
            let arguments = numbers.filter { $0.text == "%@" }.map(\.argument)
            let found = try all.filter(Realm.Predicate(parsing: text, arguments: arguments))
            #expect(found.map(\.id) == rows.filter(holds).map(\.id), "\(text) \(arguments)")
        }
    }

    private struct Calculation {
        let text: String
        let result: (Row) -> Calculated
    }

    private enum Calculated {
        case none
        case whole(Int64)
        case floating(Double)

        init(_ result: (Int64, overflow: Bool), _ rounded: @autoclosure () -> Double) {
            self = result.overflow ? .floating(rounded()) : .whole(result.0)
        }

        // If a calculation in SQLite results in NaN, SQLite returns NULL.
        init(_ number: Double) { self = number.isNaN ? .none : .floating(number) }
    }

    private func calculation(_ random: inout SeededRandom) -> Calculation {
        let whole: Int64 = [0, 1, 2, 3, 9_007_199_254_740_993, .max].randomElement(using: &random) ?? 0
        let factor: Double = [0, 0.5, 1, 2].randomElement(using: &random) ?? 0
        switch Int.random(in: 0..<9, using: &random) {
        case 0:
            return Calculation(text: "int64 + \(whole)") {
                Calculated($0.int.addingReportingOverflow(whole), Double($0.int) + Double(whole))
            }
        case 1:
            return Calculation(text: "int64 - \(whole)") {
                Calculated($0.int.subtractingReportingOverflow(whole), Double($0.int) - Double(whole))
            }
        case 2:
            return Calculation(text: "int64 * \(whole)") {
                Calculated($0.int.multipliedReportingOverflow(by: whole), Double($0.int) * Double(whole))
            }
        case 3: return Calculation(text: "int64 / \(whole)") { whole == 0 ? .none : .whole($0.int / whole) }
        case 4:
            return Calculation(text: "(int64 + id) * 1") {
                Calculated($0.int.addingReportingOverflow(Int64($0.id)), Double($0.int) + Double($0.id))
            }
        case 5: return Calculation(text: "int64 + \(factor)") { Calculated(Double($0.int) + factor) }
        case 6: return Calculation(text: "double * \(factor)") { Calculated($0.double * factor) }
        case 7: return Calculation(text: "double / \(factor)") { factor == 0 ? .none : Calculated($0.double / factor) }
        default: return Calculation(text: "double - double") { Calculated($0.double - $0.double) }
        }
    }

    private func compare(_ result: Calculated, isWhole: Bool, _ number: QueriedNumber) -> Int? {
        switch result {
        case .none: return nil
        case .whole(let result): return ComparedNumber("\(result)").compare(number.exact)
        case .floating(let result):
            let nearest = number.nearest
            // A result of whole numbers that did not fit 64 bits was rounded. If the compared number does not fit 64
            // bits, it is rounded too, except if the rounded number is `Int64.min`.
            let isAbove = (number.exact.compare(ComparedNumber("9223372036854775808")) ?? -1) >= 0
            let isRounded = !isWhole || nearest.isFinite && (isAbove || nearest < -0x1p63)
            if number.exact.fitsInt64 || !isRounded { return ComparedNumber(result).compare(number.exact) }
            if nearest.isNaN { return nil }
            return result < nearest ? -1 : result > nearest ? 1 : 0
        }
    }

    @Test(
        "results of whole numbers are exact if they fit 64 bits, and other results are rounded to a Double O80 O51",
        arguments: 0..<12 as Range<UInt64>)
    func calculations(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed &+ 50_000)
        let test = try TestRealm()
        let rows = try fill(test.realm, &random)
        let all = test.realm.objects(Scalars.self)
        for _ in 0..<120 {
            let calculation = calculation(&random)
            let isWhole =
                calculation.text.hasPrefix("int64") && !calculation.text.contains(".")
                || calculation.text.hasPrefix("(")
            let (first, second) = (try number(&random), try number(&random))
            let relation = Self.operators.randomElement(using: &random) ?? Self.operators[0]
            let compared = { self.compare(calculation.result($0), isWhole: isWhole, $1) }
            let isList = Bool.random(using: &random)
            let text =
                calculation.text + (isList ? " IN {\(first.text), \(second.text)}" : " \(relation.0) \(first.text)")
            let arguments = (isList ? [first, second] : [first]).filter { $0.text == "%@" }.map(\.argument)
            let found = try all.filter(Realm.Predicate(parsing: text, arguments: arguments))
            let expected = rows.filter { row in
                isList ? compared(row, first) == 0 || compared(row, second) == 0 : relation.1(compared(row, first))
            }
            #expect(found.map(\.id) == expected.map(\.id), "\(text) \(arguments)")
        }
    }

    @Test("calculated numbers and numbers in the query text compare by value; a division by zero is nil O80 O51")
    func calculated() throws {
        let test = try TestRealm()
        try test.realm.write {
            test.realm.add(ScalarLists(id: 1, ints: [9_007_199_254_740_992, 0]))
            test.realm.add(Scalars(id: 1, int64: 9_007_199_254_740_992, double: .nan))
        }
        func count(_ text: String) -> Int { test.realm.objects(Scalars.self).filter(text).count }
        func listCount(_ text: String) -> Int { test.realm.objects(ScalarLists.self).filter(text).count }
        #expect(count("int64 + 0 == 9007199254740992.5") == 0 && count("int64 + 0 < 9007199254740992.5") == 1)
        #expect(count("int64 + 0 BETWEEN {9007199254740992.5, 9007199254740993}") == 0)
        #expect(listCount("ints.@sum == 9007199254740992.5") == 0 && listCount("ints.@sum == 9007199254740992") == 1)
        #expect(count("9007199254740992 == 9007199254740992.5") == 0 && count("1 == 1.0") == 1)
        #expect(count("9007199254740992 < 9007199254740992.5") == 1 && count("0.5 < 1 AND nan != nan") == 1)
        #expect(count("int64 / 0 == nil") == 1 && count("int64 / 0 == 0") == 0 && count("int64 / 0 != 0") == 1)
        #expect(count("double + 0 == nil") == 0 && count("double + 0 != nil") == 1)
        #expect(count("double + 0 == double + 0") == 0 && count("double + int64 == nil") == 0)
    }

    @Test("zero times infinity is nil, a result below Int64.min is rounded, and a Float compares like a Double O80")
    func exceptions() throws {
        let test = try TestRealm()
        try test.realm.write {
            test.realm.add(Scalars(id: 1, int64: .min, float: 0.1, double: .infinity, decimal128: Decimal128("0.1")))
        }
        func count(_ text: String) -> Int { test.realm.objects(Scalars.self).filter(text).count }
        #expect(count("double * 0 == nil") == 1 && count("double * 1 == nil") == 0)
        // The result of the calculation is rounded to `Int64.min`. If -9223372036854775809 were rounded, it would equal
        // this result. So the runtime compares -9223372036854775809 exactly.
        #expect(count("int64 - 1 == -9223372036854775809") == 0 && count("int64 - 1 == -9223372036854775808") == 1)
        // A `Float` compares with decimals as the `Double` that it equals.
        #expect(count("float == decimal128") == 0 && count("float > decimal128") == 1)
    }

    @Test("NaN in the query text, and the sum and average of opposite infinities, are not nil O54 O53 O80 O51")
    func notANumber() throws {
        let test = try TestRealm()
        try test.realm.write {
            test.realm.add(OptionalScalars(id: 1, int: 1))
            test.realm.add(OptionalScalars(id: 2))
            test.realm.add(ScalarLists(id: 1, doubles: [.infinity, -.infinity]))
            test.realm.add(ScalarLists(id: 2, doubles: []))
            test.realm.add(ScalarLists(id: 3, doubles: [1, .infinity]))
        }
        func ids(_ text: String, _ arguments: Any...) throws -> [Int] {
            try test.realm.objects(OptionalScalars.self).filter(Realm.Predicate(parsing: text, arguments: arguments))
                .map(\.id)
        }
        func lists(_ text: String) -> [Int] { test.realm.objects(ScalarLists.self).filter(text).map(\.id) }
        for text in ["int + NAN", "NAN", "NAN * 2", "1 - NAN"] {
            #expect(try ids("\(text) == nil") == [] && ids("\(text) != nil") == [1, 2], "\(text)")
            #expect(try ids("\(text) == 1") == [] && ids("\(text) != 1") == [1, 2], "\(text)")
            #expect(try ids("nil == \(text)") == [] && ids("NOT \(text) == nil") == [1, 2], "\(text)")
        }
        #expect(try ids("int * %@ == nil", Double.nan) == [] && ids("%@ == nil", Double.nan) == [])
        #expect(lists("doubles.@sum == nil") == [] && lists("doubles.@sum != nil") == [1, 2, 3])
        #expect(lists("doubles.@avg == nil") == [2] && lists("doubles.@avg != nil") == [1, 3])
        #expect(lists("doubles.@sum == doubles.@sum") == [2, 3] && lists("doubles.@avg == doubles.@avg") == [2, 3])
    }

    @Test("the smallest and largest keys are found by numbers with a sign, with '.0' or of another type O80 O51")
    func keys() throws {
        let test = try TestRealm()
        try test.realm.write {
            for id in [Int.min, 9_007_199_254_740_992, 9_007_199_254_740_993, .max] { test.realm.add(Node(id: id)) }
        }
        func ids(_ text: String, _ arguments: Any?...) throws -> [Int] {
            try test.realm.objects(Node.self).filter(Realm.Predicate(parsing: text, arguments: arguments)).map(\.id)
        }
        for text in ["-9223372036854775808", "-9223372036854775808.0", "- 9223372036854775808"] {
            #expect(try ids("id == \(text)") == [.min] && ids("id IN {\(text)}") == [.min], "\(text)")
        }
        #expect(try ids("id == %@", -0x1p63) == [.min] && ids("id == 9223372036854775807.0") == [.max])
        #expect(try ids("id == %@", Decimal128("9007199254740993")) == [9_007_199_254_740_993])
        #expect(try ids("id == 9007199254740993.0") == [9_007_199_254_740_993])
        #expect(try ids("id > 9223372036854775807") == [] && ids("id <= 9223372036854775806.5").count == 3)
        #expect(try ids("id IN {9007199254740992.5, 9223372036854775808, 1e400}") == [])
    }

    @Test("a finite number never equals an infinite number, and is rounded to the type of the property O80 O51 O76")
    func overflow() throws {
        let test = try TestRealm()
        try test.realm.write {
            for (id, value) in [.infinity, 0.1, -.infinity, 1e300].enumerated() {
                test.realm.add(Scalars(id: id, float: Float(value), double: value))
            }
        }
        func ids(_ text: String, _ arguments: Any?...) throws -> [Int] {
            try test.realm.objects(Scalars.self).filter(Realm.Predicate(parsing: text, arguments: arguments)).map(\.id)
        }
        #expect(
            try ids("double == 1e400") == [] && ids("double < 1e400") == [1, 2, 3] && ids("double > -1e400").count == 3)
        #expect(try ids("double == inf") == [0] && ids("double IN {1e400, -inf}") == [2])
        #expect(try ids("float == 1e300") == [] && ids("float < %@", 1e39) == [1, 2] && ids("float == inf") == [0, 3])
        #expect(try ids("double == 0.1000000000000000000001") == [1] && ids("float == 0.1") == [1])
        #expect(throws: Realm.Error.self) { try ids("double == 1e7000") }
    }
}
