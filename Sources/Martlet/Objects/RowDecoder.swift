public import Foundation
import MartletEngine
import MartletSQLite

/// Hands the columns of one row to a generated class, in schema order.
@_spi(Generated) public struct RowDecoder {
    // Kept by whoever decodes, until all is decoded.
    private unowned(unsafe) let statement: Statement?
    private let copied: BufferedRow?
    private let image: RowImageBox?
    private var column: Int32 = 0
    private var property = 0
    /// The column with the parts of floating values that columns cannot hold; -1 for a row without.
    private let specials: Int
    private let isChecking: Bool
    /// A property whose value is no case of its enum; known only where that is to be found out.
    private(set) var refused: Int?

    /// The current row of a statement that selects `TableLayout.rowColumns`, of which one may be special.
    init(_ statement: Statement, specialsAt position: Int?) {
        self.statement = statement
        copied = nil
        image = nil
        isChecking = false
        specials = position.map { statement.isNull($0) ? -1 : $0 } ?? -1
    }

    /// The same from a row that was copied out of such a statement. The buffer must not change before all is decoded.
    init(_ row: BufferedRow, specialsAt position: Int?) {
        statement = nil
        copied = row
        image = nil
        isChecking = false
        specials = position.map { row.isNull($0) ? -1 : $0 } ?? -1
    }

    /// Values that were taken from an object and may have been changed since.
    ///
    /// - Parameter isChecking: raw values that are no case are noted; otherwise they trap, or read as nil.
    init(_ image: RowImage, isChecking: Bool = false) {
        statement = nil
        copied = nil
        self.image = RowImageBox(image)
        self.isChecking = isChecking
        specials = -1
    }

    private init(_ image: RowImageBox) {
        statement = nil
        copied = nil
        self.image = image
        isChecking = false
        specials = -1
    }

    /// Gives every property its zero: releases what an accessor holds when it becomes stale.
    static var empty: RowDecoder { RowDecoder(RowImageBox.empty) }

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
        if let copied { return copied.integer(column) }
        guard let statement else { return image.flatMap { Int64._value(StoredValue($0.image[current])) } }
        let value = statement.column(column)
        return value.isNull ? nil : value.integer
    }

    private mutating func floating() -> Double? {
        let current = property
        let column = next()
        if let image { return Double._value(StoredValue(image.image[current])) }
        if specials >= 0, let special = special(current) { return special }
        if let copied { return copied.real(column) }
        guard let statement else { return nil }
        let value = statement.column(column)
        return value.isNull ? nil : value.real
    }

    private func special(_ property: Int) -> Double? {
        let bits =
            copied?.withBlob(specials) { FloatingSpecials.bits($0, property) }
            ?? statement?.withBlob(specials) { FloatingSpecials.bits($0, property) }
        return (bits ?? nil).map { Double(bitPattern: $0) }
    }

    private mutating func stored() -> StoredValue {
        let current = property
        let column = next()
        if let copied { return StoredValue(copied.value(column)) }
        return StoredValue(statement?.value(column) ?? image?.image[current] ?? .null)
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
        if let copied { return copied.text(next()) ?? "" }
        guard let statement else { return optionalString() ?? "" }
        return statement.text(next())
    }

    public mutating func optionalString() -> String? {
        if let copied { return copied.text(next()) }
        guard let statement else { return String._value(stored()) }
        let value = statement.column(next())
        return value.isNull ? nil : value.text
    }

    public mutating func data() -> Data { optionalData() ?? Data() }

    public mutating func optionalData() -> Data? {
        if let copied { return copied.withBlob(next()) { Data($0) } }
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
        if let copied { return copied.withBlob(next()) { ObjectId(bytes: $0) } }
        guard let statement else { return ObjectId._value(stored()) }
        let value = statement.column(next())
        return value.isNull ? nil : value.withBlob { ObjectId(bytes: $0) }
    }

    public mutating func decimal128() -> Decimal128 { Decimal128._value(stored()) ?? .zero }
    public mutating func optionalDecimal128() -> Decimal128? { Decimal128._value(stored()) }
    public mutating func anyValue() -> AnyStorage {
        let current = property
        let stored = stored()
        return image?.image.anyValues[current].map { .value($0) } ?? AnyStorage(stored: stored.raw)
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
        let object = image?.image.objects[property] as? T
        let key = optionalInteger()
        storage = object.map { LinkStorage($0) } ?? LinkStorage(key: key)
    }

    /// Lists, sets and maps look after themselves.
    public mutating func collection<C: PropertyCollection>(_ collection: inout C?) { property += 1 }

    /// Linking objects have no column.
    public mutating func skip() { property += 1 }
}

/// An image behind one reference: decoders of rows have none, and are made for each row.
// Sendable: the image never changes, and only the empty one is shared.
private final class RowImageBox: @unchecked Sendable {
    let image: RowImage

    init(_ image: RowImage) { self.image = image }

    static let empty = RowImageBox(RowImage())
}

/// The values of an object, one for each property in schema order, with the objects behind links that are not yet added.
struct RowImage {
    var values: [SQLValue] = []
    var objects: [Int: ObjectBase] = [:]
    /// Values of any type with objects that are not yet added; `values` has what they are compared by.
    var anyValues: [Int: AnyRealmValue] = [:]

    subscript(property: Int) -> SQLValue { property < values.count ? values[property] : .null }
}
