import CMartletColumns
import MartletValues

/// Evaluates a condition on the columns of a table, block by block.
struct ColumnScan {
    let table: TableColumns
    let condition: ColumnCondition?

    /// The rows of a block for which a condition is true.
    private enum Selection {
        case none, all
        /// The rows are in the bitmap that was passed to the evaluation.
        case some
    }

    /// Calls `body` for each block with selected rows, until it returns false. The mask is nil if all rows of the block
    /// are selected.
    func forEachBlock(_ body: (_ block: Int, _ mask: UnsafePointer<UInt64>?) -> Bool) {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: ColumnBlock.wordCount) { bits in
            guard let bits = bits.baseAddress else { return }
            for block in table.keys.indices {
                switch condition.map({ evaluate($0, block, bits) }) ?? .all {
                case .none: continue
                case .all: if !body(block, nil) { return }
                case .some: if !body(block, bits) { return }
                }
            }
        }
    }

    func count() -> Int {
        var count = 0
        forEachBlock { block, mask in
            let rows = table.keys[block].count
            count += mask.map { Int(cmartlet_count_bits($0, (rows + 63) / 64)) } ?? rows
            return true
        }
        return count
    }

    /// The keys of the selected rows in ascending order, at most `limit`.
    func keys(limit: Int?) -> [ObjectKey] {
        var found: [ObjectKey] = []
        let limit = limit ?? .max
        guard limit > 0 else { return [] }
        forEachBlock { block, mask in
            let keys = table.keys[block]
            guard let mask else {
                found += keys.all.prefix(limit - found.count)
                return found.count < limit
            }
            for word in 0..<(keys.count + 63) / 64 {
                var bits = mask[word]
                while bits != 0 {
                    found.append(keys[64 * word + bits.trailingZeroBitCount])
                    if found.count == limit { return false }
                    bits &= bits - 1
                }
            }
            return true
        }
        return found
    }

    // MARK: Aggregates

    /// The sum and number of the integers of a column in the selected rows.
    func integerSum(_ property: PropertyIndex) -> (sum: Int128, count: Int) {
        var (sum, count) = (Int128(0), 0)
        forEachValue(property) { column, mask, values in
            count += values
            sum += mask.map { column.sum($0) } ?? column.sum
        }
        return (sum, count)
    }

    /// The sum of the floating-point numbers of a column in the selected rows, added in the order of their keys.
    func realSum(_ property: PropertyIndex) -> (sum: Double, count: Int) {
        var (sum, count) = (0.0, 0)
        forEachValue(property) { column, mask, values in
            count += values
            sum = column.add(to: sum, mask)
        }
        return (sum, count)
    }

    /// The least and the greatest integer of a column in the selected rows. Nil if no selected row has a value.
    func integerExtrema(_ property: PropertyIndex) -> ClosedRange<Int64>? {
        var found: ClosedRange<Int64>?
        forEachValue(property) { column, mask, _ in
            if let found, found.lowerBound <= column.range.lowerBound, found.upperBound >= column.range.upperBound {
                return
            }
            let range = mask.map { column.extrema($0) } ?? column.range
            found = found.map { min($0.lowerBound, range.lowerBound)...max($0.upperBound, range.upperBound) } ?? range
        }
        return found
    }

    /// The least and the greatest floating-point number of a column in the selected rows. Nil if no selected row has a
    /// value.
    func realExtrema(_ property: PropertyIndex) -> ClosedRange<Double>? {
        var found: ClosedRange<Double>?
        forEachValue(property) { column, mask, _ in
            if let found, found.lowerBound <= column.realRange.lowerBound,
                found.upperBound >= column.realRange.upperBound
            {
                return
            }
            let range = mask.map { column.realExtrema($0) } ?? column.realRange
            found = found.map { min($0.lowerBound, range.lowerBound)...max($0.upperBound, range.upperBound) } ?? range
        }
        return found
    }

    /// The result of an aggregate function over a column of the selected rows. It equals the result of the SQL of the
    /// query. Nil for texts, and if the sum of integers exceeds 64 bits.
    func value(of function: Predicate.Aggregate, _ property: PropertyIndex, _ kind: ColumnKind) -> SQLValue? {
        switch (function, kind) {
        case (_, .text): return nil
        case (.min, .integer): return integerExtrema(property).map { .integer($0.lowerBound) } ?? .null
        case (.max, .integer): return integerExtrema(property).map { .integer($0.upperBound) } ?? .null
        case (.min, .real): return realExtrema(property).map { .real($0.lowerBound) } ?? .null
        case (.max, .real): return realExtrema(property).map { .real($0.upperBound) } ?? .null
        case (.sum, .integer): return Int64(exactly: integerSum(property).sum).map { .integer($0) }
        case (.average, .integer):
            let (sum, count) = integerSum(property)
            guard let sum = Int64(exactly: sum) else { return nil }
            return count == 0 ? .null : .real(Double(sum) / Double(count))
        case (.sum, .real):
            let (sum, count) = realSum(property)
            return count == 0 ? .integer(0) : .real(sum.isNaN ? .nan : sum)
        case (.average, .real):
            let (sum, count) = realSum(property)
            return count == 0 ? .null : .real(sum.isNaN ? .nan : sum / Double(count))
        }
    }

    // Calls `body` for the blocks in which selected rows have values, with a mask of these rows and the number of these
    // rows. The mask is nil if all rows of the block are selected and have values.
    private func forEachValue(
        _ property: PropertyIndex, _ body: (NumberBlock, UnsafePointer<UInt64>?, _ values: Int) -> Void
    ) {
        guard let blocks = table.columns[property] else { return }
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: ColumnBlock.wordCount) { values in
            forEachBlock { block, mask in
                guard let column = blocks[block].numbers, column.valueCount > 0 else { return true }
                let words = (column.count + 63) / 64
                guard let present = column.present else {
                    let count = mask.map { Int(cmartlet_count_bits($0, words)) } ?? column.count
                    if count > 0 { body(column, mask, count) }
                    return true
                }
                for word in 0..<words { values[word] = present[word] & (mask?[word] ?? .max) }
                guard let first = values.baseAddress.map({ UnsafePointer($0) }) else { return false }
                let count = Int(cmartlet_count_bits(first, words))
                if count > 0 { body(column, first, count) }
                return true
            }
        }
    }

    // MARK: Conditions

    private func evaluate(
        _ condition: ColumnCondition, _ block: Int, _ bits: UnsafeMutablePointer<UInt64>
    ) -> Selection {
        switch condition {
        case .constant(let value): return value ? .all : .none
        case .not(let part):
            switch evaluate(part, block, bits) {
            case .none: return .all
            case .all: return .none
            case .some:
                let rows = table.keys[block].count
                for word in 0..<(rows + 63) / 64 { bits[word] = ~bits[word] }
                Self.clear(bits, after: rows)
                return .some
            }
        case .and(let parts): return combine(parts, block, bits, neutral: .all, final: .none) { $0 & $1 }
        case .or(let parts): return combine(parts, block, bits, neutral: .none, final: .all) { $0 | $1 }
        case .absent(let property):
            guard let column = table.columns[property]?[block], let present = column.present else { return .none }
            var any: UInt64 = 0
            for word in 0..<(column.count + 63) / 64 {
                bits[word] = ~(present[word] | (column.nan?[word] ?? 0))
                if word == column.count / 64 { bits[word] &= (1 << UInt64(column.count % 64)) - 1 }
                any |= bits[word]
            }
            return any == 0 ? .none : .some
        case .integers(let property, let range):
            guard let column = table.columns[property]?[block].numbers, column.valueCount > 0,
                column.range.overlaps(range)
            else { return .none }
            if range.contains(column.range.lowerBound), range.contains(column.range.upperBound) {
                return present(.numbers(column), bits)
            }
            column.select(range, bits)
            return restrict(bits, to: .numbers(column))
        case .texts(let property, let condition):
            guard case .texts(let column)? = table.columns[property]?[block] else { return .none }
            condition.select(column, bits)
            return restrict(bits, to: .texts(column))
        case .reals(let property, let range):
            guard let column = table.columns[property]?[block].numbers, column.valueCount > 0,
                column.realRange.overlaps(range)
            else { return .none }
            if range.contains(column.realRange.lowerBound), range.contains(column.realRange.upperBound) {
                return present(.numbers(column), bits)
            }
            column.select(range, bits)
            return restrict(bits, to: .numbers(column))
        }
    }

    // Combines the selections of several conditions. A condition with the selection `neutral` does not change the
    // result. If a condition has the selection `final`, the result is `final`.
    private func combine(
        _ parts: [ColumnCondition], _ block: Int, _ bits: UnsafeMutablePointer<UInt64>, neutral: Selection,
        final: Selection, _ combined: (UInt64, UInt64) -> UInt64
    ) -> Selection {
        var result = neutral
        return withUnsafeTemporaryAllocation(of: UInt64.self, capacity: ColumnBlock.wordCount) { other in
            guard let other = other.baseAddress else { return .none }
            for part in parts {
                let selection = evaluate(part, block, result == neutral ? bits : other)
                if selection == final { return final }
                if selection == neutral { continue }
                if result == .some {
                    for word in 0..<(table.keys[block].count + 63) / 64 {
                        bits[word] = combined(bits[word], other[word])
                    }
                }
                result = .some
            }
            return result
        }
    }

    private func present(_ column: ColumnBlock, _ bits: UnsafeMutablePointer<UInt64>) -> Selection {
        guard let present = column.present else { return .all }
        for word in 0..<(column.count + 63) / 64 { bits[word] = present[word] }
        return .some
    }

    private func restrict(_ bits: UnsafeMutablePointer<UInt64>, to column: ColumnBlock) -> Selection {
        if let present = column.present {
            for word in 0..<(column.count + 63) / 64 { bits[word] &= present[word] }
        }
        return .some
    }

    private static func clear(_ bits: UnsafeMutablePointer<UInt64>, after rows: Int) {
        if rows % 64 != 0 { bits[rows / 64] &= (1 << UInt64(rows % 64)) - 1 }
    }
}
