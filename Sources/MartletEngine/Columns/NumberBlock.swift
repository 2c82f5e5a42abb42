import CMartletColumns

/// The numbers of up to `ColumnBlock.capacity` consecutive rows in one column. A block never changes.
///
/// Integers are stored as differences from the least value of the block, in as few bytes as possible.
// Sendable: the memory is written in `init` only.
final class NumberBlock: @unchecked Sendable {
    let kind: ColumnKind
    let count: Int
    /// The number of rows with a value.
    let valueCount: Int
    /// The least and the greatest integer. The range 0...0 if there are no integers.
    let range: ClosedRange<Int64>
    /// The least and the greatest floating-point number. The range 0...0 if there are none.
    let realRange: ClosedRange<Double>
    /// The sum of the integers.
    let sum: Int128
    /// The rows with a value. Nil if all rows have one.
    let present: [UInt64]?
    /// The rows with NaN. Nil if there are none.
    let nan: [UInt64]?
    private let width: Width
    private let memory: UnsafeMutableRawPointer

    private enum Width: Int {
        case one = 1, two = 2, four = 4, eight = 8
    }

    /// The number of bytes that the block occupies in memory.
    var byteCount: Int {
        160 + count * width.rawValue + 8 * ((present?.count ?? -4) + (nan?.count ?? -4) + 8)
    }

    init(_ buffer: ColumnBuffer, _ kind: ColumnKind) {
        precondition(buffer.bits.count <= ColumnBlock.capacity)
        self.kind = kind
        count = buffer.bits.count
        var valueCount = 0
        var (low, high) = (Int64.max, Int64.min)
        var (realLow, realHigh) = (Double.infinity, -Double.infinity)
        var sum = Int128(0)
        for (bits, slot) in zip(buffer.bits, buffer.slots) where slot == .value {
            valueCount += 1
            if kind == .integer {
                (low, high) = (min(low, bits), max(high, bits))
                sum += Int128(bits)
            } else {
                let value = Double(bitPattern: UInt64(bitPattern: bits))
                (realLow, realHigh) = (min(realLow, value), max(realHigh, value))
            }
        }
        self.valueCount = valueCount
        self.sum = sum
        range = low <= high ? low...high : 0...0
        realRange = realLow <= realHigh ? realLow...realHigh : 0...0
        present = valueCount == count ? nil : buffer.bitmap(of: .value)
        nan = buffer.slots.contains(.nan) ? buffer.bitmap(of: .nan) : nil
        let base = range.lowerBound
        if kind == .real {
            width = .eight
        } else {
            switch UInt64(bitPattern: range.upperBound &- base) {
            case ...0xFF: width = .one
            case ...0xFFFF: width = .two
            case ...0xFFFF_FFFF: width = .four
            default: width = .eight
            }
        }
        memory = .allocate(byteCount: max(1, count * width.rawValue), alignment: 8)
        for (row, bits) in buffer.bits.enumerated() {
            let isValue = buffer.slots[row] == .value
            let offset = isValue ? UInt64(bitPattern: bits &- base) : 0
            switch width {
            case .one: memory.storeBytes(of: UInt8(truncatingIfNeeded: offset), toByteOffset: row, as: UInt8.self)
            case .two: memory.storeBytes(of: UInt16(truncatingIfNeeded: offset), toByteOffset: 2 * row, as: UInt16.self)
            case .four:
                memory.storeBytes(of: UInt32(truncatingIfNeeded: offset), toByteOffset: 4 * row, as: UInt32.self)
            case .eight: memory.storeBytes(of: isValue ? bits : base, toByteOffset: 8 * row, as: Int64.self)
            }
        }
    }

    deinit { memory.deallocate() }

    // MARK: Single rows

    func slot(at row: Int) -> ColumnBuffer.Slot {
        let bit = UInt64(1) << UInt64(row % 64)
        if let nan, nan[row / 64] & bit != 0 { return .nan }
        if let present, present[row / 64] & bit == 0 { return .absent }
        return .value
    }

    /// The integer, or the bit pattern of the floating-point number. Meaningless for a row without a value.
    func bits(at row: Int) -> Int64 {
        let base = range.lowerBound
        return switch width {
        case .one: base &+ Int64(memory.load(fromByteOffset: row, as: UInt8.self))
        case .two: base &+ Int64(memory.load(fromByteOffset: 2 * row, as: UInt16.self))
        case .four: base &+ Int64(memory.load(fromByteOffset: 4 * row, as: UInt32.self))
        case .eight: memory.load(fromByteOffset: 8 * row, as: Int64.self)
        }
    }

    // MARK: Loops

    /// Writes the bitmap of the rows whose integer is in a range that overlaps `range`.
    func select(_ wanted: ClosedRange<Int64>, _ bits: UnsafeMutablePointer<UInt64>) {
        let (low, high) = (max(wanted.lowerBound, range.lowerBound), min(wanted.upperBound, range.upperBound))
        let base = range.lowerBound
        let (first, last) = (UInt64(bitPattern: low &- base), UInt64(bitPattern: high &- base))
        switch width {
        case .one: cmartlet_range_u8(pointer(), count, UInt8(first), UInt8(last), bits)
        case .two: cmartlet_range_u16(pointer(), count, UInt16(first), UInt16(last), bits)
        case .four: cmartlet_range_u32(pointer(), count, UInt32(first), UInt32(last), bits)
        case .eight: cmartlet_range_i64(pointer(), count, low, high, bits)
        }
    }

    /// Writes the bitmap of the rows whose floating-point number is in a range.
    func select(_ wanted: ClosedRange<Double>, _ bits: UnsafeMutablePointer<UInt64>) {
        cmartlet_range_f64(pointer(), count, wanted.lowerBound, wanted.upperBound, bits)
    }

    /// The sum of the integers of the rows in a mask.
    func sum(_ mask: UnsafePointer<UInt64>) -> Int128 {
        let selected = Int(cmartlet_count_bits(mask, (count + 63) / 64))
        let base = Int128(range.lowerBound) * Int128(selected)
        switch width {
        case .one: return base + Int128(cmartlet_sum_u8(pointer(), count, mask))
        case .two: return base + Int128(cmartlet_sum_u16(pointer(), count, mask))
        case .four: return base + Int128(cmartlet_sum_u32(pointer(), count, mask))
        case .eight:
            var (high, low) = (Int64(0), UInt64(0))
            cmartlet_sum_i64(pointer(), count, mask, &high, &low)
            return Int128(high) << 64 | Int128(low)
        }
    }

    /// Adds the floating-point numbers of the rows in a mask to a sum, in the order of the rows.
    func add(to sum: Double, _ mask: UnsafePointer<UInt64>?) -> Double {
        cmartlet_sum_f64(sum, pointer(), count, mask)
    }

    /// The least and the greatest integer of the rows in a mask. The mask selects at least one row.
    func extrema(_ mask: UnsafePointer<UInt64>) -> ClosedRange<Int64> {
        let base = range.lowerBound
        switch width {
        case .one:
            var (low, high) = (UInt8.max, UInt8.min)
            cmartlet_extrema_u8(pointer(), count, mask, &low, &high)
            return base &+ Int64(low)...base &+ Int64(high)
        case .two:
            var (low, high) = (UInt16.max, UInt16.min)
            cmartlet_extrema_u16(pointer(), count, mask, &low, &high)
            return base &+ Int64(low)...base &+ Int64(high)
        case .four:
            var (low, high) = (UInt32.max, UInt32.min)
            cmartlet_extrema_u32(pointer(), count, mask, &low, &high)
            return base &+ Int64(low)...base &+ Int64(high)
        case .eight:
            var (low, high) = (Int64.max, Int64.min)
            cmartlet_extrema_i64(pointer(), count, mask, &low, &high)
            return low...high
        }
    }

    /// The least and the greatest floating-point number of the rows in a mask. The mask selects at least one row.
    func realExtrema(_ mask: UnsafePointer<UInt64>) -> ClosedRange<Double> {
        var (low, high) = (Double.infinity, -Double.infinity)
        cmartlet_extrema_f64(pointer(), count, mask, &low, &high)
        return low...high
    }

    private func pointer<T>() -> UnsafePointer<T> { UnsafePointer(memory.assumingMemoryBound(to: T.self)) }
}
