import MartletSQLite
package import MartletValues

/// The floating-point values of a row that SQLite's REAL cannot store exactly: it stores NaN as NULL, and negative zero
/// without its sign. The column `_special` of the row contains an entry for each of these values: the property index (2
/// bytes) and the bits of the value (8 bytes), both little-endian.
package enum FloatingSpecials {
    package static func needsBits(_ value: Double) -> Bool { value.isNaN || (value == 0 && value.sign == .minus) }

    package static func append(_ value: Double, of property: PropertyIndex, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: UInt16(property).littleEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
    }

    package static func bits(_ bytes: some RandomAccessCollection<UInt8>, _ property: PropertyIndex) -> UInt64? {
        let bytes = Array(bytes)
        for start in stride(from: 0, to: bytes.count - 9, by: 10) {
            let number = Int(bytes[start]) | Int(bytes[start + 1]) << 8
            guard number == property else { continue }
            return (0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[start + 2 + $1]) << UInt64(8 * $1) }
        }
        return nil
    }

    /// The floating-point number that a stored element represents. In collections, which have no `_special` column,
    /// special values are stored as blobs of their bits.
    package static func decodedElement(_ value: SQLValue) -> SQLValue {
        guard case .blob(let bytes) = value, bytes.count == 8 else { return value }
        return .real(Double(bitPattern: (0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[$1]) << UInt64(8 * $1) }))
    }

    /// The form in which a collection stores a floating-point value: special values become blobs of their bits.
    static func encodedElement(_ value: SQLValue) -> SQLValue {
        guard case .real(let number) = value, needsBits(number) else { return value }
        return .blob(withUnsafeBytes(of: number.bitPattern.littleEndian) { Array($0) })
    }

    /// The bytes of the column `_special` without the value of one property.
    static func without(_ property: PropertyIndex, _ bytes: [UInt8]) -> [UInt8] {
        stride(from: 0, to: bytes.count - 9, by: 10).flatMap { start -> ArraySlice<UInt8> in
            let number = Int(bytes[start]) | Int(bytes[start + 1]) << 8
            return number == property ? [] : bytes[start..<start + 10]
        }
    }

    /// The bytes of the column `_special` after the indexes of properties have changed. `positions` maps old indexes to
    /// new indexes.
    static func moved(_ bytes: [UInt8], _ positions: [PropertyIndex: PropertyIndex]) -> [UInt8] {
        var moved: [UInt8] = []
        for start in stride(from: 0, to: bytes.count - 9, by: 10) {
            let number = Int(bytes[start]) | Int(bytes[start + 1]) << 8
            withUnsafeBytes(of: UInt16(truncatingIfNeeded: positions[number] ?? number).littleEndian) { moved += $0 }
            moved += bytes[start + 2..<start + 10]
        }
        return moved
    }
}
