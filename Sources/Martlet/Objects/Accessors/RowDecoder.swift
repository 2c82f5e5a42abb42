public import Foundation
import MartletEngine
import MartletValues

/// Decodes the columns of one row for a generated class. The class calls one method for each property, in schema order.
/// The method assigns the value to the storage of the property, or does nothing if the value is not wanted.
@_spi(Generated) public struct RowDecoder {
    let row: RowColumns?
    private let image: RowImageBox?
    @usableFromInline var column = 0
    @usableFromInline var property = 0
    /// The properties to decode.
    @usableFromInline let wanted: UInt32
    /// True if the collections of the object are discarded, because the object becomes the accessor of another row.
    @usableFromInline var discardsCollections = false
    /// The number of columns to skip for a property that is not wanted: 0 if the row contains only the columns of
    /// wanted properties, otherwise 1.
    @usableFromInline let skippedColumns: Int
    /// The position of the column with the bits of the floating-point values that REAL cannot represent; -1 if the row
    /// contains no such values.
    private let specialsColumn: Int
    private let checksRawValues: Bool
    /// A property whose raw value is not a case of its enum. Set only if `checksRawValues` is true.
    private(set) var refusedProperty: Int?
    /// The first property whose stored value does not fit the schema; -1 if all values fit. The caller must check this
    /// number before using a decoded value.
    private(set) var damagedProperty = -1

    /// Decodes a stored row.
    ///
    /// - Parameters:
    ///   - row: the columns of the row that `selection` contains.
    ///   - wanted: the properties to decode. Must be all properties of the selection if the selection does not contain
    ///     all columns.
    init(_ row: RowColumns, _ selection: RowSelection, wanted: LoadedProperties = .all) {
        self.row = row
        image = nil
        checksRawValues = false
        self.wanted = selection.properties.intersection(wanted).word
        skippedColumns = selection.isWhole ? 1 : 0
        specialsColumn = selection.specialsPosition.map { row.isNull($0) ? -1 : $0 } ?? -1
    }

    /// Decodes an image of an object. The caller may have changed values in the image.
    ///
    /// - Parameter checksRawValues: if true, a raw value without a case sets `refusedProperty`. If false, such a value
    ///   is decoded as nil in an optional property, and traps in a required property.
    init(_ image: RowImage, checksRawValues: Bool = false) {
        row = nil
        wanted = LoadedProperties.all.word
        skippedColumns = 1
        self.image = RowImageBox(image)
        self.checksRawValues = checksRawValues
        specialsColumn = -1
    }

    private init(_ image: RowImageBox) {
        row = nil
        wanted = LoadedProperties.all.word
        skippedColumns = 1
        self.image = image
        checksRawValues = false
        specialsColumn = -1
    }

    /// A decoder that sets every property to its initial value. With this decoder, a stale accessor releases its
    /// outdated values.
    static var empty: RowDecoder { RowDecoder(RowImageBox.empty) }

    @inline(__always)
    mutating func next() -> Int {
        defer {
            column += 1
            property += 1
        }
        return column
    }

    /// True if the next property is wanted. If it is not, moves to the property after it.
    @inlinable @inline(__always) mutating func wantsNext() -> Bool {
        if wanted & (1 << UInt32(min(property, 31))) != 0 { return true }
        property += 1
        column += skippedColumns
        return false
    }

    // MARK: Decoding one value

    // Valid values are decoded fast: the check of the stored type is one comparison, and the code for damaged values
    // is not inlined.

    @inline(never)
    private mutating func recordDamage(_ property: Int) {
        if damagedProperty < 0 { damagedProperty = property }
    }

    // Called when a value could not be decoded. The value is damaged unless the column is NULL.
    @inline(never)
    private mutating func recordDamageUnlessNull(_ property: Int, _ column: Int) {
        if let row, !row.isNull(column) { recordDamage(property) }
    }

    private mutating func integer() -> Int64 {
        let current = property
        let column = next()
        if let row {
            if let value = row.integer(column) { return value }
        } else {
            return image.flatMap { Int64._value(StoredValue($0.image[current])) } ?? 0
        }
        recordDamage(current)
        return 0
    }

    @usableFromInline mutating func optionalInteger() -> Int64? {
        let current = property
        let column = next()
        if let row {
            if let value = row.integer(column) { return value }
        } else {
            return image.flatMap { Int64._value(StoredValue($0.image[current])) }
        }
        recordDamageUnlessNull(current, column)
        return nil
    }

    private mutating func narrow<T: FixedWidthInteger>(_ value: Int64) -> T {
        let narrow = T(truncatingIfNeeded: value)
        if Int64(narrow) != value { recordDamage(property - 1) }
        return narrow
    }

    private mutating func checkedBool(_ value: Int64) -> Bool {
        if value & ~1 != 0 { recordDamage(property - 1) }
        return value != 0
    }

    private mutating func floating() -> Double {
        let current = property
        if let value = optionalFloating() { return value }
        if image == nil { recordDamage(current) }
        return 0
    }

    private mutating func optionalFloating() -> Double? {
        let current = property
        let column = next()
        if let image { return Double._value(StoredValue(image.image[current])) }
        if specialsColumn >= 0, let special = special(current) { return special }
        if let row, let value = row.real(column) { return value }
        recordDamageUnlessNull(current, column)
        return nil
    }

    private mutating func narrow(_ value: Double) -> Float {
        let narrow = Float(value)
        if narrow.isInfinite && value.isFinite { recordDamage(property - 1) }
        return narrow
    }

    private mutating func text() -> String? {
        let column = next()
        if let row {
            if let text = row.text(column) { return text }
        } else {
            return image.flatMap { String._value(StoredValue($0.image[property - 1])) }
        }
        recordDamageUnlessNull(property - 1, column)
        return nil
    }

    // The value that `make` creates from a blob. If `make` returns nil, the value is damaged.
    private mutating func blob<T>(_ make: (UnsafeRawBufferPointer) -> T?, image: (StoredValue) -> T?) -> T? {
        let current = property
        let column = next()
        if let row {
            if let value = row.withBlob(column, make) ?? nil { return value }
        } else {
            return self.image.flatMap { image(StoredValue($0.image[current])) }
        }
        recordDamageUnlessNull(current, column)
        return nil
    }

    // Unwraps the value of a required property. If a row has no valid value for the property, the property is recorded
    // as damaged.
    private mutating func required<T>(_ value: T?, or zero: @autoclosure () -> T) -> T {
        if let value { return value }
        if image == nil { recordDamage(property - 1) }
        return zero()
    }

    private func special(_ property: Int) -> Double? {
        let bits = row?.withBlob(specialsColumn) { FloatingSpecials.bits($0, property) }
        return (bits ?? nil).map { Double(bitPattern: $0) }
    }

    private mutating func stored() -> StoredValue {
        let current = property
        let column = next()
        if let image { return StoredValue(image.image[current]) }
        let value = row?.value(column) ?? .null
        // `value(_:)` replaces invalid UTF-8, so `text(_:)` checks the bytes.
        if case .text = value, row?.text(column) == nil { recordDamage(current) }
        return StoredValue(value)
    }

    /// The stored value of a column. `isValid` is false for a text that is not valid UTF-8.
    func storedValue(inColumn column: Int) -> (value: SQLValue, isValid: Bool) {
        let value = row?.value(column) ?? .null
        guard case .text = value else { return (value, true) }
        return (value, row?.text(column) != nil)
    }

    // MARK: The value of a wanted property

    @usableFromInline mutating func bool() -> Bool { checkedBool(integer()) }
    @usableFromInline mutating func optionalBool() -> Bool? {
        if let value = optionalInteger() { checkedBool(value) } else { nil }
    }
    @usableFromInline mutating func int() -> Int { Int(integer()) }
    @usableFromInline mutating func optionalInt() -> Int? { optionalInteger().map { Int($0) } }
    @usableFromInline mutating func int8() -> Int8 { narrow(integer()) }
    @usableFromInline mutating func optionalInt8() -> Int8? {
        if let value = optionalInteger() { narrow(value) } else { nil }
    }
    @usableFromInline mutating func int16() -> Int16 { narrow(integer()) }
    @usableFromInline mutating func optionalInt16() -> Int16? {
        if let value = optionalInteger() { narrow(value) } else { nil }
    }
    @usableFromInline mutating func int32() -> Int32 { narrow(integer()) }
    @usableFromInline mutating func optionalInt32() -> Int32? {
        if let value = optionalInteger() { narrow(value) } else { nil }
    }
    @usableFromInline mutating func int64() -> Int64 { integer() }
    @usableFromInline mutating func optionalInt64() -> Int64? { optionalInteger() }
    @usableFromInline mutating func float() -> Float { narrow(floating()) }
    @usableFromInline mutating func optionalFloat() -> Float? {
        if let value = optionalFloating() { narrow(value) } else { nil }
    }
    @usableFromInline mutating func double() -> Double { floating() }
    @usableFromInline mutating func optionalDouble() -> Double? { optionalFloating() }
    @usableFromInline mutating func string() -> String { required(text(), or: "") }
    @usableFromInline mutating func optionalString() -> String? { text() }
    @usableFromInline mutating func data() -> Data { required(optionalData(), or: Data()) }
    @usableFromInline mutating func optionalData() -> Data? { blob({ Data($0) }, image: Data._value) }
    @usableFromInline mutating func date() -> Date { Date(timeIntervalSinceReferenceDate: floating()) }
    @usableFromInline mutating func optionalDate() -> Date? {
        optionalFloating().map { Date(timeIntervalSinceReferenceDate: $0) }
    }
    @usableFromInline mutating func uuid() -> UUID {
        required(optionalUuid(), or: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
    }
    @usableFromInline mutating func optionalUuid() -> UUID? {
        blob({ $0.count == 16 ? UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) : nil }, image: UUID._value)
    }
    @usableFromInline mutating func objectId() -> ObjectId { required(optionalObjectId(), or: .zero) }
    @usableFromInline mutating func optionalObjectId() -> ObjectId? {
        blob({ $0.count == 12 ? ObjectId(bytes: $0) : nil }, image: ObjectId._value)
    }
    @usableFromInline mutating func decimal128() -> Decimal128 { required(optionalDecimal128(), or: .zero) }
    @usableFromInline mutating func optionalDecimal128() -> Decimal128? {
        blob({ Decimal128(bytes: Array($0)) }, image: Decimal128._value)
    }
    @usableFromInline mutating func anyValue() -> AnyStorage {
        let current = property
        let stored = stored()
        if let image { return image.image.anyValues[current].map { .value($0) } ?? AnyStorage(stored: stored.raw) }
        guard let storage = AnyStorage(validating: stored.raw) else {
            recordDamage(current)
            return .none
        }
        return storage
    }

    // A stored value is damaged if it does not have the type of the enum's raw values. An unknown raw value is not
    // damaged, because a newer program may have written it.
    private mutating func recordDamageUnlessRawValueType<E: PersistableEnum>(_ value: StoredValue, _: E.Type) {
        if image == nil, value != .null, E.RawValue._value(value) == nil { recordDamage(property - 1) }
    }

    @usableFromInline mutating func enumeration<E: PersistableEnum>() -> E {
        let value = stored()
        recordDamageUnlessRawValueType(value, E.self)
        if let known = E._value(value) { return known }
        if image == nil, value == .null { recordDamage(property - 1) }
        if damagedProperty >= 0, let first = E.firstCase { return first }
        if checksRawValues, value != .null { refusedProperty = property - 1 }
        guard value == .null || checksRawValues, let first = E.firstCase else {
            Misuse.enumWithoutCase("\(E.self)", "\(value.raw)")
        }
        return first
    }

    @usableFromInline mutating func optionalEnumeration<E: PersistableEnum>() -> E? {
        let value = stored()
        recordDamageUnlessRawValueType(value, E.self)
        let known = E._value(value)
        if checksRawValues, known == nil, value != .null { refusedProperty = property - 1 }
        return known
    }

    /// Decodes a property whose type is known only at run time, in the form in which `RowImage` contains the value.
    mutating func value(_ property: PropertySchema, into value: inout SQLValue) {
        guard wantsNext() else { return }
        let current = self.property
        if property.element.isFloating {
            value = property.isOptional ? optionalFloating()._stored.raw : floating()._stored.raw
            return
        }
        value = stored().raw
        if image == nil, !property.accepts(value) { recordDamage(current) }
    }

    @usableFromInline mutating func link<T: ObjectBase>() -> LinkStorage<T> {
        let object = image?.image.objects[property] as? T
        let key = optionalInteger()
        return object.map { LinkStorage($0) } ?? LinkStorage(key: key)
    }
}

/// A class instance that contains an image. A decoder is created for each row, so it must be small. The decoder
/// therefore stores a reference to this instance and not the image itself.
// Sendable: the image never changes, and only the empty image is shared.
private final class RowImageBox: @unchecked Sendable {
    let image: RowImage

    init(_ image: RowImage) { self.image = image }

    static let empty = RowImageBox(RowImage())
}

/// The values of an object, one for each property in schema order. For links that are not stored yet, `objects`
/// contains the targets. Its keys are the indices of the properties.
struct RowImage {
    var values: [SQLValue] = []
    var objects: [Int: ObjectBase] = [:]
    /// The `AnyRealmValue` values that contain objects and are not stored yet. For these properties, `values` contains
    /// `AnyRealmValue._stored`, which is used to compare values.
    var anyValues: [Int: AnyRealmValue] = [:]

    subscript(property: Int) -> SQLValue { property < values.count ? values[property] : .null }
}
