package import MartletSQLite

/// What the first byte of a value of any type says of the others. Whole numbers, texts and plain doubles have none.
package enum AnyValueTag: UInt8, Sendable {
    case bool = 1
    case float, double, data, date, decimal128, objectId, uuid

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

/// A stored value of any type, to be compared with another.
struct AnyValue {
    private enum Content {
        case bool(Bool)
        case number(SQLValue)
        case decimal(DecimalNumber)
        case text(String)
        case date(Double)
        case bytes(AnyValueTag, [UInt8])
    }

    private let content: Content

    /// Nil for the absence of a value, and for what no value of any type is stored as.
    init?(_ stored: SQLValue) {
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
            }
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
        default: nil
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
