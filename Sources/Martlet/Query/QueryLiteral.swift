import Foundation
import MartletEngine
import MartletValues

/// A literal or an argument of a query string.
enum QueryLiteral: Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    /// A `Decimal128`, or a number in a query string whose digits a `Double` would not preserve.
    case decimal(Decimal128)
    case string(String)
    case data(Data)
    case date(Date)
    case uuid(UUID)
    case objectId(ObjectId)
    case any(AnyRealmValue)
    case object(ObjectBase)
    case list([QueryLiteral])

    /// Creates a literal from an argument. Returns nil if no property can have the value.
    init?(_ value: Any?) {
        guard let value = UntypedValue.unwrapped(value) else {
            self = .null
            return
        }
        switch value {
        case let value as Bool: self = .bool(value)
        case let value as any PersistableEnum: self.init(value.rawValue)
        case let value as any FixedWidthInteger:
            guard let number = Int64(exactly: value) else { return nil }
            self = .integer(number)
        case let value as Double: self = .double(value)
        case let value as Float: self = .double(Double(value))
        case let value as Decimal128: self = .decimal(value)
        case let value as String: self = .string(value)
        case let value as Substring: self = .string(String(value))
        case let value as Data: self = .data(value)
        case let value as Date: self = .date(value)
        case let value as UUID: self = .uuid(value)
        case let value as ObjectId: self = .objectId(value)
        case let value as AnyRealmValue: self.init(any: value)
        case let value as ObjectBase: self = .object(value)
        case let value as any Sequence:
            var elements: [QueryLiteral] = []
            for element in value {
                guard let literal = QueryLiteral(element) else { return nil }
                elements.append(literal)
            }
            self = .list(elements)
        default: return nil
        }
    }

    // Unwraps the `AnyRealmValue`, so that the value inside can also be compared with properties of other types.
    private init(any value: AnyRealmValue) {
        self =
            switch value {
            case .none: .null
            case .bool(let value): .bool(value)
            case .int(let value): .integer(Int64(value))
            case .float(let value): .double(Double(value))
            case .double(let value): .double(value)
            case .string(let value): .string(value)
            case .data(let value): .data(value)
            case .date(let value): .date(value)
            case .decimal128(let value): .decimal(value)
            case .objectId(let value): .objectId(value)
            case .uuid(let value): .uuid(value)
            case .object(let value): .object(value)
            case .list, .map: .any(value)
            }
    }

    static func == (left: QueryLiteral, right: QueryLiteral) -> Bool {
        switch (left, right) {
        case (.object(let left), .object(let right)): left === right
        case (.list(let left), .list(let right)): left == right
        default: left.anyValue != nil && left.anyValue == right.anyValue
        }
    }

    /// Describes the literal in error messages.
    var description: String {
        switch self {
        case .null: "nil"
        case .bool(let value): "\(value)"
        case .integer(let value): "the number \(value)"
        case .double(let value): "the number \(value)"
        case .decimal(let value): "the number \(value)"
        case .string(let value): "the text '\(value)'"
        case .data: "data"
        case .date: "a date"
        case .uuid: "a UUID"
        case .objectId: "an object id"
        case .any(let value): "a \(value.kind.rawValue) in an 'AnyRealmValue'"
        case .object(let object): "a '\(object._typeName)'"
        case .list: "a list"
        }
    }

    // MARK: Literals in query strings

    static func number(_ text: String) -> QueryLiteral? {
        if let integer = Int64(text) { return .integer(integer) }
        guard let first = text.utf8.first, first != UInt8(ascii: "i"), first != UInt8(ascii: "n"),
            let double = Double(text)
        else { return nil }
        guard let decimal = try? Decimal128(string: text) else { return double.isFinite ? .double(double) : nil }
        return decimal == Decimal128(comparing: double) ? .double(double) : .decimal(decimal)
    }

    static func base64(_ text: String) -> QueryLiteral? { Data(base64Encoded: text).map { .data($0) } }

    static func uuidOrObjectId(_ type: String, _ content: String) -> QueryLiteral? {
        type == "uuid"
            ? UUID(uuidString: content).map { .uuid($0) } : (try? ObjectId(string: content)).map { .objectId($0) }
    }

    /// Creates a date literal. Returns nil if the nanoseconds amount to a full second or more, or if the seconds and
    /// the nanoseconds have opposite signs.
    static func dateLiteral(since1970 seconds: Int64, nanoseconds: Int64) -> QueryLiteral? {
        guard nanoseconds.magnitude < 1_000_000_000, seconds.signum() * nanoseconds.signum() >= 0 else { return nil }
        return .date(
            Date(timeIntervalSinceReferenceDate: Double(seconds) - 978_307_200 + Double(nanoseconds) / 1_000_000_000))
    }

    /// Parses `2024-01-31`, `2024-01-31T10:00:00.5Z` and Realm's own format `2024-01-31@10:00:00:500`.
    static func dateLiteral(_ text: String) -> QueryLiteral? {
        let parts = text.split(omittingEmptySubsequences: false) { $0 == "T" || $0 == "@" }
        guard parts.count <= 2, var day = parts.first.map(String.init), isDay(day) else { return nil }
        var nanoseconds = 0.0
        var time = parts.count == 2 ? String(parts[1]) : "00:00:00Z"
        let fields = time.split(separator: ":", omittingEmptySubsequences: false)
        if text.contains("@"), fields.count == 4 {
            guard let count = Double(fields[3]), 0..<1_000_000_000 ~= count else { return nil }
            nanoseconds = count / 1_000_000_000
            time = fields.dropLast().joined(separator: ":")
        }
        var fraction = 0.0
        if let point = time.firstIndex(of: ".") {
            let digits = time[time.index(after: point)...].prefix { $0.isNumber }
            guard let value = Double("0." + digits) else { return nil }
            fraction = value
            time.removeSubrange(point..<digits.endIndex)
        }
        guard isTime(time) else { return nil }
        if !time.hasSuffix("Z") && !time.dropFirst(8).contains(where: { $0 == "+" || $0 == "-" }) { time += "Z" }
        day += "T" + time
        guard let date = try? Date(day, strategy: .iso8601) else { return nil }
        return .date(date.addingTimeInterval(fraction + nanoseconds))
    }

    // True if the day exists. Foundation would accept 30 February and convert it to 2 March.
    private static func isDay(_ text: String) -> Bool {
        let fields = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        guard fields.count == 3, 1...12 ~= fields[1] else { return false }
        let isLeap = fields[0].isMultiple(of: 4) && (!fields[0].isMultiple(of: 100) || fields[0].isMultiple(of: 400))
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return 1...days[fields[1] - 1] ~= fields[2]
    }

    // True for hours, minutes and seconds, followed by 'Z', '+02:00', '+0200' or nothing.
    private static func isTime(_ text: String) -> Bool {
        let zoneStart = text.firstIndex { $0 == "Z" || $0 == "+" || $0 == "-" } ?? text.endIndex
        let fields = text[..<zoneStart].split(separator: ":", omittingEmptySubsequences: false).map { Int($0) ?? -1 }
        guard fields.count == 3, 0...23 ~= fields[0], 0...59 ~= fields[1], 0...59 ~= fields[2] else { return false }
        let zone = text[zoneStart...]
        guard zone != "Z", !zone.isEmpty else { return true }
        let digits = zone.dropFirst().filter { $0 != ":" }
        guard let number = Int(digits), number >= 0 else { return false }
        let (hours, minutes) = digits.count > 2 ? (number / 100, number % 100) : (number, 0)
        return 0...23 ~= hours && 0...59 ~= minutes
    }

    // MARK: Conversion to stored values

    /// The literal as an `AnyRealmValue`; nil for lists.
    var anyValue: AnyRealmValue? {
        switch self {
        case .null: AnyRealmValue.none
        case .bool(let value): .bool(value)
        case .integer(let value): .int(Int(value))
        case .double(let value): .double(value)
        case .decimal(let value): .decimal128(value)
        case .string(let value): .string(value)
        case .data(let value): .data(value)
        case .date(let value): .date(value)
        case .uuid(let value): .uuid(value)
        case .objectId(let value): .objectId(value)
        case .any(let value): value
        case .object(let object): .object(object)
        case .list: nil
        }
    }

    /// The managed objects in `anyValue`. They must belong to the queried Realm.
    var managedObjects: [ObjectBase] { anyValue?.objects.filter { $0._context != nil } ?? [] }

    /// The literal in the stored form that can be compared with values of the given type; nil if such a comparison is
    /// not possible.
    func storedOperand(for element: ElementType) -> SQLValue? {
        if case .null = self { return .null }
        switch element {
        case .link, .embedded: return nil
        case .intEnum: return number
        case .stringEnum: return text
        case .scalar(let scalar): return storedOperand(for: scalar)
        }
    }

    private var text: SQLValue? { if case .string(let value) = self { .text(value) } else { nil } }

    private func storedOperand(for scalar: ScalarType) -> SQLValue? {
        switch (scalar, self) {
        case (.any, _): return anyValue?._stored.raw
        case (.bool, .bool(let value)): return value._stored.raw
        case (.bool, .integer(let value)) where value == 0 || value == 1: return .integer(value)
        case (.string, _): return text
        case (.data, .data(let value)): return value._stored.raw
        case (.data, .string(let value)): return .blob(Array(value.utf8))
        case (.date, .date(let value)): return value._compared.raw
        case (.date, .string(let value)): return QueryLiteral.dateLiteral(value)?.storedOperand(for: scalar)
        case (.uuid, .uuid(let value)): return value._stored.raw
        case (.uuid, .string(let value)): return UUID(uuidString: value)?._stored.raw
        case (.objectId, .objectId(let value)): return value._stored.raw
        case (.objectId, .string(let value)): return (try? ObjectId(string: value))?._stored.raw
        case (.decimal128, .decimal(let value)): return value._stored.raw
        case (.decimal128, .integer(let value)): return Decimal128(Int(value))._stored.raw
        case (.decimal128, .double(let value)): return Decimal128(comparing: value)._stored.raw
        case (.decimal128, .string(let value)): return (try? Decimal128(string: value))?._stored.raw
        case (.float, _): return nearest { Double(Float($0)) }
        case (.double, _): return nearest { $0 }
        case (.int, _), (.int8, _), (.int16, _), (.int32, _), (.int64, _): return number
        default: return nil
        }
    }

    // Numbers are compared by value. A number that an `Int64` can represent exactly becomes an integer, because SQLite
    // does not find the key `Int64.min` in a comparison with a floating-point number. Decimals beyond 64 bits become
    // floating-point numbers, because calculations that exceed 64 bits are rounded, too. All other decimals remain
    // decimals.
    private var number: SQLValue? {
        switch self {
        case .integer(let value): .integer(value)
        case .double(let value): Int64(exactly: value).map(SQLValue.integer) ?? value._compared.raw
        case .decimal(let value):
            Int64("\(value)").map(SQLValue.integer) ?? beyond64Bits(value)?._compared.raw ?? value._stored.raw
        default: nil
        }
    }

    private func beyond64Bits(_ value: Decimal128) -> Double? {
        guard let nearest = Double("\(value)"), nearest.isFinite else { return nil }
        // A number below `Int64.min` must not equal `Int64.min`. If rounding would give `Int64.min`, the number remains
        // a decimal.
        return value >= Self.firstAboveInt64 || nearest < -0x1p63 ? nearest : nil
    }

    private static let firstAboveInt64 = Decimal128("9223372036854775808")

    // A floating-point number is rounded to the type of the property with which it is compared, because the values of
    // the property were rounded when they were stored. This also applies to decimals that have a fraction or exceed 64
    // bits. A finite number is not rounded to infinity.
    private func nearest(_ rounding: (Double) -> Double) -> SQLValue? {
        switch self {
        case .double(let value):
            let nearest = rounding(value)
            return (nearest.isFinite ? nearest : value)._compared.raw
        case .decimal(let value):
            guard Int64("\(value)") == nil, let nearest = Double("\(value)").map(rounding), nearest.isFinite else {
                return number
            }
            return nearest._compared.raw
        default: return number
        }
    }

    /// The number or NULL as an operand of a calculation; nil for literals of other kinds.
    var calculated: SQLValue? {
        switch self {
        case .null: .null
        case .integer(let value): .integer(value)
        case .double(let value): value._compared.raw
        case .decimal(let value): Double("\(value)").map { $0._compared.raw }
        default: nil
        }
    }
}

extension QueryLiteral {
    /// The literal for a keyword such as `TRUE`; nil if the name is not such a keyword.
    static func keyword(_ name: String) -> QueryLiteral? {
        switch name.uppercased() {
        case "TRUE", "YES": .bool(true)
        case "FALSE", "NO": .bool(false)
        case "NIL", "NULL": .null
        case "INF", "INFINITY": .double(.infinity)
        case "NAN": .double(.nan)
        default: nil
        }
    }

    /// The number with the opposite sign.
    var negated: QueryLiteral {
        switch self {
        case .integer(let value): .integer(0 &- value)
        // The query text contains -9223372036854776000. As a `Double`, this number would equal `Int64.min`, so it
        // becomes a decimal.
        case .double(0x1p63): (try? Decimal128(string: "-\(0x1p63)")).map { .decimal($0) } ?? self
        case .double(let value): .double(-value)
        case .decimal(let value):
            Int64("-\(value)").map { .integer($0) } ?? (try? Decimal128(string: "-\(value)")).map { .decimal($0) }
                ?? self
        default: self
        }
    }
}
