public import Foundation
import MartletEngine

// The methods for generated code, one for each type. They are inlined into generated code, because most of them do
// nothing in a loop that reads few properties.
@_spi(Generated) extension RowDecoder {
    @inlinable @inline(__always) public mutating func bool(_ value: inout Bool) { if wantsNext() { value = bool() } }
    @inlinable @inline(__always) public mutating func optionalBool(_ value: inout Bool?) {
        if wantsNext() { value = optionalBool() }
    }
    @inlinable @inline(__always) public mutating func int(_ value: inout Int) { if wantsNext() { value = int() } }
    @inlinable @inline(__always) public mutating func optionalInt(_ value: inout Int?) {
        if wantsNext() { value = optionalInt() }
    }
    @inlinable @inline(__always) public mutating func int8(_ value: inout Int8) { if wantsNext() { value = int8() } }
    @inlinable @inline(__always) public mutating func optionalInt8(_ value: inout Int8?) {
        if wantsNext() { value = optionalInt8() }
    }
    @inlinable @inline(__always) public mutating func int16(_ value: inout Int16) { if wantsNext() { value = int16() } }
    @inlinable @inline(__always) public mutating func optionalInt16(_ value: inout Int16?) {
        if wantsNext() { value = optionalInt16() }
    }
    @inlinable @inline(__always) public mutating func int32(_ value: inout Int32) { if wantsNext() { value = int32() } }
    @inlinable @inline(__always) public mutating func optionalInt32(_ value: inout Int32?) {
        if wantsNext() { value = optionalInt32() }
    }
    @inlinable @inline(__always) public mutating func int64(_ value: inout Int64) { if wantsNext() { value = int64() } }
    @inlinable @inline(__always) public mutating func optionalInt64(_ value: inout Int64?) {
        if wantsNext() { value = optionalInt64() }
    }
    @inlinable @inline(__always) public mutating func float(_ value: inout Float) { if wantsNext() { value = float() } }
    @inlinable @inline(__always) public mutating func optionalFloat(_ value: inout Float?) {
        if wantsNext() { value = optionalFloat() }
    }
    @inlinable @inline(__always) public mutating func double(_ value: inout Double) {
        if wantsNext() { value = double() }
    }
    @inlinable @inline(__always) public mutating func optionalDouble(_ value: inout Double?) {
        if wantsNext() { value = optionalDouble() }
    }
    @inlinable @inline(__always) public mutating func string(_ value: inout String) {
        if wantsNext() { value = string() }
    }
    @inlinable @inline(__always) public mutating func optionalString(_ value: inout String?) {
        if wantsNext() { value = optionalString() }
    }
    @inlinable @inline(__always) public mutating func data(_ value: inout Data) { if wantsNext() { value = data() } }
    @inlinable @inline(__always) public mutating func optionalData(_ value: inout Data?) {
        if wantsNext() { value = optionalData() }
    }
    @inlinable @inline(__always) public mutating func date(_ value: inout Date) { if wantsNext() { value = date() } }
    @inlinable @inline(__always) public mutating func optionalDate(_ value: inout Date?) {
        if wantsNext() { value = optionalDate() }
    }
    @inlinable @inline(__always) public mutating func uuid(_ value: inout UUID) { if wantsNext() { value = uuid() } }
    @inlinable @inline(__always) public mutating func optionalUuid(_ value: inout UUID?) {
        if wantsNext() { value = optionalUuid() }
    }
    @inlinable @inline(__always) public mutating func objectId(_ value: inout ObjectId) {
        if wantsNext() { value = objectId() }
    }
    @inlinable @inline(__always) public mutating func optionalObjectId(_ value: inout ObjectId?) {
        if wantsNext() { value = optionalObjectId() }
    }
    @inlinable @inline(__always) public mutating func decimal128(_ value: inout Decimal128) {
        if wantsNext() { value = decimal128() }
    }
    @inlinable @inline(__always) public mutating func optionalDecimal128(_ value: inout Decimal128?) {
        if wantsNext() { value = optionalDecimal128() }
    }
    @inlinable @inline(__always) public mutating func anyValue(_ value: inout AnyStorage) {
        if wantsNext() { value = anyValue() }
    }
    @inlinable @inline(__always) public mutating func enumeration<E: PersistableEnum>(_ value: inout E) {
        guard wantsNext() else { return }
        if let known: E = knownCase() { value = known } else { value = enumeration() }
    }
    @inlinable @inline(__always) public mutating func optionalEnumeration<E: PersistableEnum>(_ value: inout E?) {
        guard wantsNext() else { return }
        if let known: E = knownCase() { value = known } else { value = optionalEnumeration() }
    }
    @inlinable @inline(__always) public mutating func link<T: ObjectBase>(_ storage: inout LinkStorage<T>) {
        guard wantsNext() else { return }
        storage = isRow ? LinkStorage(key: optionalInteger()) : link()
    }

    // The case of a valid raw value. This function is specialized in the module of the enum, where it is several times
    // as fast as the functions for all values.
    @inlinable @inline(__always) mutating func knownCase<E: PersistableEnum>() -> E? {
        if E.RawValue.self == Int.self {
            guard let raw = nextIfInteger(), let known = E(rawValue: unsafeBitCast(raw, to: E.RawValue.self)) else {
                return nil
            }
            moveToNext()
            return known
        }
        if E.RawValue.self == String.self {
            guard let raw = nextIfText(), let known = E(rawValue: unsafeBitCast(raw, to: E.RawValue.self)) else {
                return nil
            }
            moveToNext()
            return known
        }
        return nil
    }

    @usableFromInline func nextIfInteger() -> Int? { row?.integer(column).map { Int($0) } }

    @usableFromInline func nextIfText() -> String? { row?.text(column) }

    @usableFromInline mutating func moveToNext() { _ = next() }

    @usableFromInline var isRow: Bool { row != nil }

    /// Skips a list, set or map, whose elements are not stored in the row.
    @inlinable @inline(__always) public mutating func collection<C: PropertyCollection>(_ collection: inout C?) {
        if discardsCollections { collection = nil }
        property += 1
    }

    /// Skips linking objects, which have no column.
    @inlinable @inline(__always) public mutating func skip() { property += 1 }
}
