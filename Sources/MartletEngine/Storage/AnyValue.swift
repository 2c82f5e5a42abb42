package import MartletValues

/// The first byte of a stored value of an `AnyRealmValue` property. It defines the format of the other bytes. Whole
/// numbers and texts have no tag. A double has no tag if SQLite stores it exactly as REAL.
package enum AnyValueTag: UInt8, Sendable {
    case bool = 1
    case float, double, data, date, decimal128, objectId, uuid
    /// A link: the number of the type and the key. See `AnyLink`.
    case object
    /// Elements, encoded as in a chunk of a stored list. A map alternates keys and values, in the order of the keys.
    case list, map

    /// The tag that all values of a scalar type have in an `AnyRealmValue` property. Nil if the type has no such tag.
    init?(_ scalar: ScalarType) {
        switch scalar {
        case .int, .int8, .int16, .int32, .int64, .string, .double, .any: return nil
        case .bool: self = .bool
        case .float: self = .float
        case .data: self = .data
        case .date: self = .date
        case .decimal128: self = .decimal128
        case .objectId: self = .objectId
        case .uuid: self = .uuid
        }
    }

    package func tagged(_ content: [UInt8]) -> SQLValue { .blob([rawValue] + content) }

    /// Converts a value of a typed column to the stored form of an `AnyRealmValue` property.
    func tagged(_ value: SQLValue) -> SQLValue {
        switch (self, value) {
        case (_, .null): .null
        case (.bool, .integer(let number)): tagged([number == 0 ? 0 : 1])
        case (.float, .real(let number)): tagged(Self.bigEndian(UInt64(Float(number).bitPattern)))
        case (.date, .real(let number)): tagged(Self.bigEndian(number.bitPattern))
        case (_, .blob(let bytes)): tagged(bytes)
        default: value
        }
    }

    package static func bigEndian(_ word: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) }
    }
}

extension SQLValue {
    /// The tag of a stored value of an `AnyRealmValue` property. Nil for null and for values that are stored without a
    /// tag.
    package var tag: AnyValueTag? {
        guard case .blob(let bytes) = self else { return nil }
        return bytes.first.flatMap(AnyValueTag.init)
    }
}

/// A value of an `AnyRealmValue` property, decoded for comparison.
package struct AnyValue {
    fileprivate enum Content {
        case bool(Bool)
        case number(SQLValue)
        case decimal(DecimalNumber)
        case text(String)
        case date(Double)
        case bytes(AnyValueTag, [UInt8])
        case object([UInt8])
        case list([SQLValue])
        case map([SQLValue])
    }

    fileprivate let content: Content
    private let isFloat: Bool

    /// Nil for null, and for values that are not well-formed.
    init?(_ stored: SQLValue) {
        guard Self.isWellFormed(stored) else { return nil }
        self.init(wellFormed: stored)
    }

    // Only for values that `isWellFormed` accepts, and for values nested in them.
    private init?(wellFormed stored: SQLValue) {
        isFloat = stored.tag == .float
        switch stored {
        case .null: return nil
        case .integer, .real: content = .number(stored)
        case .text(let text): content = .text(text)
        case .blob(let blob):
            guard let tag = blob.first.flatMap(AnyValueTag.init) else { return nil }
            let bytes = Array(blob.dropFirst())
            let word = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            switch tag {
            case .bool: content = .bool(bytes == [1])
            case .float: content = .number(.real(Double(Float(bitPattern: UInt32(truncatingIfNeeded: word)))))
            case .double: content = .number(.real(Double(bitPattern: word)))
            case .date: content = .date(Double(bitPattern: word))
            case .decimal128:
                guard let decimal = DecimalNumber(bytes: bytes) else { return nil }
                content = .decimal(decimal)
            case .data, .objectId, .uuid: content = .bytes(tag, bytes)
            case .object: content = .object(bytes)
            case .list, .map:
                guard let elements = ElementCodec.decode(bytes) else { return nil }
                content = tag == .list ? .list(elements) : .map(elements)
            }
        }
    }

    /// The maximum depth of nested lists and maps. Deeper values are not stored, because recursion over them could
    /// overflow the stack.
    package static let maximumDepth = 100

    /// True if a stored value of an `AnyRealmValue` property is well-formed, including its nested values.
    package static func isWellFormed(_ stored: SQLValue, depth: Int = 0) -> Bool {
        guard case .blob(let blob) = stored else { return true }
        guard let tag = stored.tag else { return false }
        let count = blob.count - 1
        switch tag {
        case .bool: return count == 1 && blob[1] <= 1
        case .float, .double, .date: return count == 8
        case .data: return true
        case .decimal128: return DecimalNumber(bytes: Array(blob.dropFirst())) != nil
        case .objectId, .object: return count == 12
        case .uuid: return count == 16
        case .list, .map:
            guard depth < maximumDepth, let elements = ElementCodec.decode(Array(blob.dropFirst())) else {
                return false
            }
            return areWellFormed(elements, isMap: tag == .map, depth: depth + 1)
        }
    }

    private static func areWellFormed(_ elements: [SQLValue], isMap: Bool, depth: Int) -> Bool {
        if !isMap { return elements.allSatisfy { isWellFormed($0, depth: depth) } }
        return elements.count.isMultiple(of: 2)
            && elements.indices.allSatisfy { position in
                if !position.isMultiple(of: 2) { return isWellFormed(elements[position], depth: depth) }
                if case .text = elements[position] { return true }
                return false
            }
    }

    /// Returns a number below zero, zero, or a number above zero if this value is less than, equal to or greater than
    /// `other`. Numbers of all kinds are compared by value. Returns nil if the values have no order: if one value is
    /// NaN, if the values have different kinds and are not two numbers, or if they are two different objects, lists or
    /// maps.
    func compare(_ other: AnyValue) -> Int? {
        switch (content, other.content) {
        case (.bool(let left), .bool(let right)): (left ? 1 : 0) - (right ? 1 : 0)
        case (.number(let left), .number(let right)):
            ValueOrder.isNaN(left) || ValueOrder.isNaN(right) ? nil : ValueOrder.compare(left, right)
        case (.text(let left), .text(let right)): ValueOrder.compare(.text(left), .text(right))
        case (.date(let left), .date(let right)):
            left.isNaN || right.isNaN ? nil : ValueOrder.compare(.real(left), .real(right))
        case (.bytes(let kind, let left), .bytes(let other, let right)):
            kind == other ? ValueOrder.compare(.blob(left), .blob(right)) : nil
        case (.decimal, .number), (.number, .decimal), (.decimal, .decimal):
            if let left = decimal, let right = other.decimal {
                ValueOrder.compare(.blob(left.bytes), .blob(right.bytes))
            } else {
                nil
            }
        // Objects and collections have no order: they are either equal or not comparable.
        case (.object(let left), .object(let right)): left == right ? 0 : nil
        case (.list(let left), .list(let right)): Self.areEqual(left, right) ? 0 : nil
        case (.map(let left), .map(let right)): Self.areEqual(left, right) ? 0 : nil
        default: nil
        }
    }

    private static func areEqual(_ left: [SQLValue], _ right: [SQLValue]) -> Bool {
        left.count == right.count
            && zip(left, right).allSatisfy { left, right in
                guard let first = AnyValue(wellFormed: left), let second = AnyValue(wellFormed: right) else {
                    return left == right
                }
                return first.compare(second) == 0
            }
    }

    /// The text or data in a stored value, without a tag; null for values of other kinds.
    static func textOrData(_ stored: SQLValue) -> SQLValue {
        switch stored {
        case .text: stored
        case .blob(let blob) where stored.tag == .data: .blob(Array(blob.dropFirst()))
        default: .null
        }
    }

    /// The kind of the value, by its name in `AnyRealmValue`.
    var kind: String {
        switch content {
        case .bool: "bool"
        case .number(.integer): "int"
        case .number: isFloat ? "float" : "double"
        case .decimal: "decimal128"
        case .text: "string"
        case .date: "date"
        case .bytes(.objectId, _): "objectId"
        case .bytes(.uuid, _): "uuid"
        case .bytes: "data"
        case .object: "object"
        case .list: "list"
        case .map: "map"
        }
    }

    // The number as a decimal. Nil for NaN and for values that are not numbers.
    private var decimal: DecimalNumber? {
        switch content {
        case .decimal(let decimal): decimal.isNaN ? nil : decimal
        case .number(let number): DecimalNumber(number)
        default: nil
        }
    }
}

extension AnyValue {
    /// Converts a stored value and the values that are nested in it: every negative zero becomes positive zero, and all
    /// NaNs of one kind get equal bits.
    package static func normalized(_ stored: SQLValue) -> SQLValue {
        guard case .blob(let blob) = stored, let tag = stored.tag else { return stored }
        let content = Array(blob.dropFirst())
        let word = content.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        switch tag {
        case .float:
            return normalized(Float(bitPattern: UInt32(truncatingIfNeeded: word))) {
                tag.tagged(AnyValueTag.bigEndian(UInt64($0.bitPattern)))
            }
        case .double:
            // A double that is zero needs no tag.
            return normalized(Double(bitPattern: word)) {
                $0 == 0 ? .real(0) : tag.tagged(AnyValueTag.bigEndian($0.bitPattern))
            }
        case .date:
            return normalized(Double(bitPattern: word)) { tag.tagged(AnyValueTag.bigEndian($0.bitPattern)) }
        case .list, .map:
            guard let elements = ElementCodec.decode(content) else { return stored }
            return tag.tagged(ElementCodec.encode(elements.map(normalized)))
        case .bool, .data, .decimal128, .objectId, .uuid, .object: return stored
        }
    }

    private static func normalized<Number: BinaryFloatingPoint>(
        _ number: Number, _ stored: (Number) -> SQLValue
    ) -> SQLValue {
        stored(number.isNaN ? .nan : number == 0 ? 0 : number)
    }

    /// Bytes that sort like the values of an `AnyRealmValue` property: null, NaN, booleans, numbers of all kinds by
    /// value, texts, data, dates, object ids, UUIDs, objects, lists and maps. The order among objects, lists or maps is
    /// fixed, but has no meaning.
    package static func sortKey(_ stored: SQLValue) -> SQLValue {
        isWellFormed(stored) ? wellFormedSortKey(stored) : .null
    }

    private static func wellFormedSortKey(_ stored: SQLValue) -> SQLValue {
        guard let value = AnyValue(wellFormed: stored) else { return .null }
        return switch value.content {
        case .bool(let bool): .blob([1, bool ? 1 : 0])
        case .number(let number): DecimalNumber(number).map { .blob([2] + $0.bytes) } ?? nanKey
        case .decimal(let decimal): decimal.isNaN ? nanKey : .blob([2] + decimal.bytes)
        case .text(let text): .blob([3] + Array(text.utf8))
        case .date(let date): date.isNaN ? nanDateKey : .blob([5] + ordered(date))
        case .bytes(let kind, let bytes): .blob([kind == .data ? 4 : kind == .objectId ? 6 : 7] + bytes)
        case .object(let bytes): .blob([8] + bytes)
        case .list(let elements): .blob([9] + ElementCodec.encode(elements.map(wellFormedSortKey)))
        case .map(let elements): .blob([10] + ElementCodec.encode(elements.map(wellFormedSortKey)))
        }
    }

    // A date that is NaN and a number that is NaN are different members of a set.
    private static let nanKey = SQLValue.blob([0])
    private static let nanDateKey = SQLValue.blob([0, 5])
    /// Less than all sort keys of values that are neither null nor NaN.
    static let leastKey = SQLValue.blob([1])

    /// True for the sort keys of NaN.
    package static func isNaN(sortKey: SQLValue) -> Bool { sortKey == nanKey || sortKey == nanDateKey }

    // As unsigned integers, the bit patterns of positive numbers sort like the numbers. The bit patterns of negative
    // numbers are greater, and sort in the reverse order of the numbers. Therefore the bits of negative numbers are
    // inverted, and the sign bit of other numbers is set.
    private static func ordered(_ number: Double) -> [UInt8] {
        let bits = (number == 0 ? 0 : number).bitPattern
        return AnyValueTag.bigEndian(bits >> 63 == 1 ? ~bits : bits | 1 << 63)
    }
}
