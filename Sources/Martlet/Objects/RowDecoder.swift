public import Foundation
import MartletEngine
import MartletSQLite

/// Hands the columns of one row to a generated class, in schema order.
@_spi(Generated) public struct RowDecoder {
    private let statement: Statement?
    private let image: RowImage?
    private var column: Int32 = 0
    private var property = 0
    private let specials: [UInt8]
    private let isChecking: Bool
    /// A property whose value is no case of its enum; known only where that is to be found out.
    private(set) var refused: Int?

    /// The current row of a statement that selects `TableLayout.rowColumns`, of which one may be special.
    init(_ statement: Statement, specialsAt position: Int?) {
        self.statement = statement
        image = nil
        isChecking = false
        specials = position.map { statement.isNull($0) ? [] : statement.blob($0) } ?? []
    }

    /// Values that were taken from an object and may have been changed since.
    ///
    /// - Parameter isChecking: raw values that are no case are noted; otherwise they trap, or read as nil.
    init(_ image: RowImage, isChecking: Bool = false) {
        statement = nil
        self.image = image
        self.isChecking = isChecking
        specials = []
    }

    /// Gives every property its zero: releases what an accessor holds when it becomes stale.
    static var empty: RowDecoder { RowDecoder(RowImage()) }

    @inline(__always)
    private mutating func next() -> Int {
        defer {
            column += 1
            property += 1
        }
        return Int(column)
    }

    private mutating func integer() -> Int64 { optionalInteger() ?? 0 }

    private mutating func optionalInteger() -> Int64? {
        let current = property
        let column = next()
        guard let statement else { return image.flatMap { Int64._value(StoredValue($0[current])) } }
        let value = statement.column(column)
        return value.isNull ? nil : value.integer
    }

    private mutating func floating() -> Double? {
        let current = property
        let column = next()
        guard let statement else { return image.flatMap { Double._value(StoredValue($0[current])) } }
        if !specials.isEmpty, let bits = FloatingSpecials.bits(specials, current) { return Double(bitPattern: bits) }
        let value = statement.column(column)
        return value.isNull ? nil : value.real
    }

    private mutating func stored() -> StoredValue {
        let current = property
        let column = next()
        return StoredValue(statement?.value(column) ?? image?[current] ?? .null)
    }

    // MARK: One method per kind, as generated code calls them

    public mutating func bool() -> Bool { integer() != 0 }
    public mutating func optionalBool() -> Bool? { optionalInteger().map { $0 != 0 } }
    public mutating func int() -> Int { Int(integer()) }
    public mutating func optionalInt() -> Int? { optionalInteger().map { Int($0) } }
    public mutating func int8() -> Int8 { Int8(truncatingIfNeeded: integer()) }
    public mutating func optionalInt8() -> Int8? { optionalInteger().map { Int8(truncatingIfNeeded: $0) } }
    public mutating func int16() -> Int16 { Int16(truncatingIfNeeded: integer()) }
    public mutating func optionalInt16() -> Int16? { optionalInteger().map { Int16(truncatingIfNeeded: $0) } }
    public mutating func int32() -> Int32 { Int32(truncatingIfNeeded: integer()) }
    public mutating func optionalInt32() -> Int32? { optionalInteger().map { Int32(truncatingIfNeeded: $0) } }
    public mutating func int64() -> Int64 { integer() }
    public mutating func optionalInt64() -> Int64? { optionalInteger() }
    public mutating func float() -> Float { Float(floating() ?? 0) }
    public mutating func optionalFloat() -> Float? { floating().map { Float($0) } }
    public mutating func double() -> Double { floating() ?? 0 }
    public mutating func optionalDouble() -> Double? { floating() }

    public mutating func string() -> String {
        guard let statement else { return optionalString() ?? "" }
        return statement.text(next())
    }

    public mutating func optionalString() -> String? {
        guard let statement else { return String._value(stored()) }
        let value = statement.column(next())
        return value.isNull ? nil : value.text
    }

    public mutating func data() -> Data { optionalData() ?? Data() }

    public mutating func optionalData() -> Data? {
        guard let statement else { return Data._value(stored()) }
        let value = statement.column(next())
        return value.isNull ? nil : value.withBlob { Data($0) }
    }

    public mutating func date() -> Date { Date(timeIntervalSinceReferenceDate: floating() ?? 0) }
    public mutating func optionalDate() -> Date? { floating().map { Date(timeIntervalSinceReferenceDate: $0) } }
    public mutating func uuid() -> UUID {
        optionalUuid() ?? UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    }
    public mutating func optionalUuid() -> UUID? { UUID._value(stored()) }
    public mutating func objectId() -> ObjectId { optionalObjectId() ?? .zero }

    public mutating func optionalObjectId() -> ObjectId? {
        guard let statement else { return ObjectId._value(stored()) }
        let value = statement.column(next())
        return value.isNull ? nil : value.withBlob { ObjectId(bytes: $0) }
    }

    public mutating func decimal128() -> Decimal128 { Decimal128._value(stored()) ?? .zero }
    public mutating func optionalDecimal128() -> Decimal128? { Decimal128._value(stored()) }
    public mutating func anyValue() -> AnyStorage {
        let current = property
        let stored = stored()
        return image?.anyValues[current].map { .value($0) } ?? AnyStorage(stored: stored.raw)
    }

    public mutating func enumeration<E: PersistableEnum>() -> E {
        let value = stored()
        if let known = E._value(value) { return known }
        if isChecking, value != .null { refused = property - 1 }
        guard value == .null || isChecking, let first = E.first else {
            Misuse.enumWithoutCase("\(E.self)", "\(value.raw)")
        }
        return first
    }

    public mutating func optionalEnumeration<E: PersistableEnum>() -> E? {
        let value = stored()
        let known = E._value(value)
        if isChecking, known == nil, value != .null { refused = property - 1 }
        return known
    }

    /// The value of a property of any type, as `RowImage` has it.
    mutating func value(_ element: ElementType) -> SQLValue {
        element.isFloating ? floating()._stored.raw : stored().raw
    }

    public mutating func link<T: ObjectBase>(_ storage: inout LinkStorage<T>) {
        let object = image?.objects[property] as? T
        let key = optionalInteger()
        storage = object.map { LinkStorage($0) } ?? LinkStorage(key: key)
    }

    /// Lists, sets and maps look after themselves.
    public mutating func collection<C: PropertyCollection>(_ collection: inout C?) { property += 1 }

    /// Linking objects have no column.
    public mutating func skip() { property += 1 }
}

/// The values of an object, one for each property in schema order, with the objects behind links that are not yet added.
struct RowImage {
    var values: [SQLValue] = []
    var objects: [Int: ObjectBase] = [:]
    /// Values of any type with objects that are not yet added; `values` has what they are compared by.
    var anyValues: [Int: AnyRealmValue] = [:]

    subscript(property: Int) -> SQLValue { property < values.count ? values[property] : .null }
}
