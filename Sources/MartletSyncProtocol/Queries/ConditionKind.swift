package import MartletEngine
package import MartletValues

/// The kind of the values that a condition compares. All values of a kind have the same stored form, so a condition
/// contains no conversions.
package enum ConditionKind: UInt8, Sendable, CaseIterable {
    /// Booleans, which are stored as 0 or 1.
    case bool
    /// Integers of all sizes, and the raw values of `Int` enums.
    case integer
    /// `Float` and `Double`.
    case floating
    /// Texts, and the raw values of `String` enums. They are ordered by their code points.
    case text
    case data, uuid, objectId
    /// Dates, which are stored as seconds since 2001-01-01T00:00:00Z.
    case date
    /// Decimal numbers, which are stored as the bytes of a `DecimalNumber`.
    case decimal
    /// A scalar of an `AnyRealmValue`, in its stored form. See `AnyLiteral`.
    case any
    /// An embedded object, which can only be compared with nil.
    case object

    /// The kind of the values of a property. The value of a link is the primary key of its target.
    ///
    /// Returns nil for a link to a type without a primary key.
    package init?(_ element: ElementType, in schema: AgreedSchema) {
        switch element {
        case .intEnum: self = .integer
        case .stringEnum: self = .text
        case .embedded: self = .object
        case .link(let target):
            guard let key = schema.primaryKey(of: target), key.element.target == nil else { return nil }
            self.init(key.element, in: schema)
        case .scalar(let scalar):
            switch scalar {
            case .bool: self = .bool
            case .int, .int8, .int16, .int32, .int64: self = .integer
            case .float, .double: self = .floating
            case .string: self = .text
            case .data: self = .data
            case .uuid: self = .uuid
            case .objectId: self = .objectId
            case .date: self = .date
            case .decimal128: self = .decimal
            case .any: self = .any
            }
        }
    }

    /// True if a condition may compare an operand of this kind with the value. Nil and NaN are not permitted. If
    /// several values are equal, such as zero and negative zero, only one of them is permitted.
    package func isCanonical(_ value: SQLValue) -> Bool {
        switch (self, value) {
        case (.bool, .integer(let number)): number == 0 || number == 1
        case (.integer, .integer), (.text, .text), (.data, .blob): true
        case (.floating, .real(let number)), (.date, .real(let number)):
            !number.isNaN && !(number == 0 && number.sign == .minus)
        case (.uuid, .blob(let bytes)): bytes.count == 16
        case (.objectId, .blob(let bytes)): bytes.count == 12
        case (.decimal, .blob(let bytes)):
            DecimalNumber(bytes: bytes).map { !$0.isNaN && $0.bytes == bytes } ?? false
        case (.any, _): AnyLiteral.canonical(value) == .value(value)
        default: false
        }
    }

    /// True if conditions can search inside the values.
    package var isSearchable: Bool { self == .text || self == .data }
}

/// The form of a scalar that a condition compares with an `AnyRealmValue` property.
///
/// Numbers of different types can be equal, but a condition may contain only one form of a number. A whole number that
/// fits into 64 bits becomes an integer. Any other number becomes a `Double` if a `Double` has exactly this value. All
/// remaining numbers become decimals.
package enum AnyLiteral: Equatable {
    case value(SQLValue)
    /// NaN, which equals no value and has no order.
    case notANumber
    /// Links, lists, maps and damaged values.
    case unsupported

    /// Converts a value to the only form in which a condition may contain it.
    package static func canonical(_ stored: SQLValue) -> AnyLiteral {
        guard stored != .null, AnyValue.isWellFormed(stored) else { return .unsupported }
        switch stored.tag {
        case .object, .list, .map: return .unsupported
        case .bool, .data, .objectId, .uuid: return .value(stored)
        case .date:
            let normalized = AnyValue.normalized(stored)
            return AnyValue.isNaN(sortKey: AnyValue.sortKey(stored)) ? .notANumber : .value(normalized)
        case nil, .float, .double, .decimal128: break
        }
        if case .text = stored { return .value(stored) }
        guard let number = number(stored) else { return .notANumber }
        return .value(number)
    }

    // Converts a number to the only form in which a condition may contain it. Returns nil for NaN.
    private static func number(_ stored: SQLValue) -> SQLValue? {
        var decimal: DecimalNumber?
        switch stored {
        case .integer, .real: decimal = DecimalNumber(stored)
        case .blob(let bytes):
            let content = Array(bytes.dropFirst())
            let word = content.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            switch stored.tag {
            case .float: decimal = DecimalNumber(.real(Double(Float(bitPattern: UInt32(truncatingIfNeeded: word)))))
            case .double: decimal = DecimalNumber(.real(Double(bitPattern: word)))
            default: decimal = DecimalNumber(bytes: content)
            }
        default: break
        }
        guard let decimal, !decimal.isNaN else { return nil }
        if let whole = Int64(decimal.description) { return .integer(whole) }
        if let real = Double(decimal.description), DecimalNumber(.real(real)) == decimal { return .real(real) }
        return AnyValueTag.decimal128.tagged(decimal.bytes)
    }
}
