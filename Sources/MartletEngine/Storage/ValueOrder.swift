package import MartletValues

/// The order of stored values.
package enum ValueOrder {
    /// Compares two values like SQLite's `ORDER BY` with `BINARY` collation: null, then numbers by exact value, then
    /// texts by their UTF-8 bytes, then blobs by their bytes. NaN, which SQLite does not store, is treated as null.
    ///
    /// See the section "Sort Order" of SQLite's documentation "Datatypes In SQLite".
    package static func compare(_ left: SQLValue, _ right: SQLValue) -> Int {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): sign(left, right)
        case (.real(let left), .real(let right)) where !left.isNaN && !right.isNaN: sign(left, right)
        case (.integer(let left), .real(let right)) where !right.isNaN: compare(left, right)
        case (.real(let left), .integer(let right)) where !left.isNaN: -compare(right, left)
        case (.text(let left), .text(let right)): compare(left, right)
        case (.blob(let left), .blob(let right)):
            left.withUnsafeBufferPointer { left in right.withUnsafeBufferPointer { compareBytes(left, $0) } }
        default: sign(rank(left), rank(right))
        }
    }

    /// The position of a storage class in the order.
    private static func rank(_ value: SQLValue) -> Int {
        switch value {
        case .null: 0
        case .real(let number) where number.isNaN: 0
        case .integer, .real: 1
        case .text: 2
        case .blob: 3
        }
    }

    private static func sign<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
        left < right ? -1 : (left > right ? 1 : 0)
    }

    /// Compares an integer with a floating-point number without rounding the integer: first the whole parts, then the
    /// fraction.
    private static func compare(_ integer: Int64, _ real: Double) -> Int {
        // 2^63, the first double above all integers. Its negation is the smallest integer.
        let limit = 0x1p63
        if real < -limit { return 1 }
        if real >= limit { return -1 }
        let whole = Int64(real)
        if integer != whole { return sign(integer, whole) }
        return sign(Double(whole), real)
    }

    private static func compare(_ left: String, _ right: String) -> Int {
        let contiguous = left.utf8.withContiguousStorageIfAvailable { leftBytes in
            right.utf8.withContiguousStorageIfAvailable { compareBytes(leftBytes, $0) }
        }
        if case .some(.some(let order)) = contiguous { return order }
        if left.utf8.elementsEqual(right.utf8) { return 0 }
        return left.utf8.lexicographicallyPrecedes(right.utf8) ? -1 : 1
    }

    private static func compareBytes(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Int {
        for index in 0..<min(left.count, right.count) where left[index] != right[index] {
            return left[index] < right[index] ? -1 : 1
        }
        return sign(left.count, right.count)
    }

    static func isNaN(_ value: SQLValue) -> Bool {
        if case .real(let number) = value { number.isNaN } else { false }
    }
}
