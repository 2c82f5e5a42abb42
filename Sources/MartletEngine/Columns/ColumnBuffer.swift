import Foundation
import MartletSQLite
import MartletValues

/// The kinds of values that columns in memory can contain.
enum ColumnKind: Sendable {
    case integer, real, text

    /// The kind of the values of a property. Nil if its values cannot be kept in memory.
    init?(_ property: PropertySchema) {
        guard property.isColumn else { return nil }
        switch property.element {
        case .intEnum: self = .integer
        case .stringEnum: self = .text
        case .scalar(let scalar):
            switch scalar {
            case .bool, .int, .int8, .int16, .int32, .int64: self = .integer
            case .float, .double, .date: self = .real
            case .string: self = .text
            case .data, .uuid, .objectId, .decimal128, .any: return nil
            }
        case .link, .embedded: return nil
        }
    }
}

/// The values of some rows of one column, before they are packed into a block.
struct ColumnBuffer {
    enum Slot: UInt8 {
        case value, absent, nan
    }

    /// A property whose column is read from a row of a statement.
    struct Source {
        let property: PropertyIndex
        let kind: ColumnKind
        /// The position of the column in the row.
        let position: Int
        /// The position of the column `_special`; nil if the type has no such column.
        let special: Int?
    }

    /// The integer of each row, or the bit pattern of its floating-point number. Meaningless for texts and for rows
    /// without a value.
    private(set) var bits: [Int64] = []
    private(set) var slots: [Slot] = []
    /// The bytes of all texts. For each row, `ends` contains the offset at which its text ends.
    private(set) var bytes: [UInt8] = []
    private(set) var ends: [Int] = []

    private mutating func endRow(_ slot: Slot, _ number: Int64 = 0) {
        bits.append(number)
        slots.append(slot)
        ends.append(bytes.count)
    }

    /// Appends a value of the current row. Returns false if the value does not have the type of the property.
    mutating func append(_ statement: Statement, _ source: Source) -> Bool {
        if statement.isNull(source.position) {
            endRow(Self.isNaN(statement, source) ? .nan : .absent)
            return true
        }
        switch source.kind {
        case .integer:
            guard let value = statement.validInteger(source.position) else { return false }
            endRow(.value, value)
        case .real:
            guard let value = statement.validReal(source.position) else { return false }
            endRow(.value, Int64(bitPattern: value.bitPattern))
        case .text:
            guard let text = statement.column(source.position).textBytes, Self.isUTF8(text) else { return false }
            bytes.append(contentsOf: text)
            endRow(.value)
        }
        return true
    }

    /// Appends a row of a block or of another buffer.
    mutating func append(_ row: Int, of block: ColumnBlock) {
        switch block {
        case .numbers(let block): endRow(block.slot(at: row), block.bits(at: row))
        case .texts(let block):
            bytes.append(contentsOf: block.text(at: row))
            endRow(block.isPresent(row) ? .value : .absent)
        }
    }

    mutating func append(_ row: Int, of buffer: ColumnBuffer) {
        bytes.append(contentsOf: buffer.bytes[(row == 0 ? 0 : buffer.ends[row - 1])..<buffer.ends[row]])
        endRow(buffer.slots[row], buffer.bits[row])
    }

    mutating func removeAll() {
        bits.removeAll(keepingCapacity: true)
        slots.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }

    /// The bitmap of the rows with the given slot.
    func bitmap(of slot: Slot) -> [UInt64] {
        var words = [UInt64](repeating: 0, count: (slots.count + 63) / 64)
        for (row, found) in slots.enumerated() where found == slot { words[row / 64] |= 1 << UInt64(row % 64) }
        return words
    }

    private static func isNaN(_ statement: Statement, _ source: Source) -> Bool {
        guard source.kind == .real, let special = source.special, let bytes = statement.validBlob(special) else {
            return false
        }
        return FloatingSpecials.bits(bytes, source.property).map { Double(bitPattern: $0).isNaN } ?? false
    }

    private static func isUTF8(_ text: UnsafeRawBufferPointer) -> Bool {
        text.allSatisfy { $0 < 0x80 } || String(validating: text, as: UTF8.self) != nil
    }
}
