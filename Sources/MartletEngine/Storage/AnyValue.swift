package import MartletSQLite

/// What the first byte of a value of any type says of the others. Whole numbers, texts and plain doubles have none.
package enum AnyValueTag: UInt8, Sendable {
    case bool = 1
    case float, double, data, date, decimal128, objectId, uuid
    /// A link: the number of the type and the key. See `AnyLink`.
    case object
    /// Values one after the other, as in a chunk; in a map keys and values take turns, in the order of the keys.
    case list, map

    /// The tag of values of a scalar type; nil where they lie as they are.
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

    /// A value of a typed column as one of any type.
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
    /// What a stored value of any type says of itself; nil for those that lie as they are, and for absent ones.
    package var tag: AnyValueTag? {
        guard case .blob(let bytes) = self else { return nil }
        return bytes.first.flatMap(AnyValueTag.init)
    }
}

/// A stored value of any type, to be compared with another.
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

    /// Nil for the absence of a value, and for what no value of any type is stored as.
    init?(_ stored: SQLValue) {
        guard Self.isSound(stored) else { return nil }
        self.init(sound: stored)
    }

    // What is in a sound value is sound, and need not be looked through again.
    private init?(sound stored: SQLValue) {
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

    /// How many lists and maps may lie within each other. What is deeper is not stored: no stack would be safe with it.
    package static let greatestDepth = 100

    /// True for what a value of any type is stored as, whatever is in it.
    package static func isSound(_ stored: SQLValue, depth: Int = 0) -> Bool {
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
            guard depth < greatestDepth, let elements = ElementCodec.decode(Array(blob.dropFirst())) else {
                return false
            }
            return areSound(elements, isMap: tag == .map, depth: depth + 1)
        }
    }

    private static func areSound(_ elements: [SQLValue], isMap: Bool, depth: Int) -> Bool {
        if !isMap { return elements.allSatisfy { isSound($0, depth: depth) } }
        return elements.count.isMultiple(of: 2)
            && elements.indices.allSatisfy { position in
                if !position.isMultiple(of: 2) { return isSound(elements[position], depth: depth) }
                if case .text = elements[position] { return true }
                return false
            }
    }

    /// Below, at or above zero; nil for values of different kinds, and where one is not a number.
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
        // Objects and collections have no order: they are equal, or nothing is known of them.
        case (.object(let left), .object(let right)): left == right ? 0 : nil
        case (.list(let left), .list(let right)): Self.areEqual(left, right) ? 0 : nil
        case (.map(let left), .map(let right)): Self.areEqual(left, right) ? 0 : nil
        default: nil
        }
    }

    private static func areEqual(_ left: [SQLValue], _ right: [SQLValue]) -> Bool {
        left.count == right.count
            && zip(left, right).allSatisfy { left, right in
                guard let first = AnyValue(sound: left), let second = AnyValue(sound: right) else {
                    return left == right
                }
                return first.compare(second) == 0
            }
    }

    /// What kind of value it is, in the words of `AnyRealmValue`.
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

    // Nothing compares with a NaN.
    private var decimal: DecimalNumber? {
        switch content {
        case .decimal(let decimal): decimal.isNaN ? nil : decimal
        case .number(let number): DecimalNumber(number)
        default: nil
        }
    }
}

extension AnyValue {
    /// Bytes whose order is that of values of any type: absent ones, booleans, numbers of all kinds by value, texts, data,
    /// dates, ids, UUIDs, then objects, lists and maps, which have no order but their own.
    package static func sortKey(_ stored: SQLValue) -> SQLValue {
        isSound(stored) ? soundSortKey(stored) : .null
    }

    private static func soundSortKey(_ stored: SQLValue) -> SQLValue {
        guard let value = AnyValue(sound: stored) else { return .null }
        return switch value.content {
        case .bool(let bool): .blob([1, bool ? 1 : 0])
        case .number(let number): .blob([2] + numberKey(DecimalNumber(number)))
        case .decimal(let decimal): .blob([2] + numberKey(decimal))
        case .text(let text): .blob([3] + Array(text.utf8))
        case .date(let date): .blob([5] + ordered(date))
        case .bytes(let kind, let bytes): .blob([kind == .data ? 4 : kind == .objectId ? 6 : 7] + bytes)
        case .object(let bytes): .blob([8] + bytes)
        case .list(let elements): .blob([9] + ElementCodec.encode(elements.map(soundSortKey)))
        case .map(let elements): .blob([10] + ElementCodec.encode(elements.map(soundSortKey)))
        }
    }

    // What is not a number comes before all that are.
    private static func numberKey(_ number: DecimalNumber?) -> [UInt8] {
        if let number, !number.isNaN { number.bytes } else { [] }
    }

    /// That of all values that are not a number.
    package static let nanKey = SQLValue.blob([2])

    // The bits of floating numbers have their order, but for negative ones, whose order is the opposite.
    private static func ordered(_ number: Double) -> [UInt8] {
        let bits = (number == 0 ? 0 : number).bitPattern
        return AnyValueTag.bigEndian(bits >> 63 == 1 ? ~bits : bits | 1 << 63)
    }
}
