/// The keys of up to `ColumnBlock.capacity` consecutive rows, ascending. A block never changes.
final class KeyBlock: Sendable {
    let first: ObjectKey
    let last: ObjectKey
    let count: Int
    /// Nil if the keys are consecutive numbers.
    private let keys: [ObjectKey]?

    /// - Parameter keys: ascending, and not empty.
    init(_ keys: [ObjectKey]) {
        first = keys[0]
        last = keys[keys.count - 1]
        count = keys.count
        self.keys = last &- first == Int64(keys.count - 1) ? nil : keys
    }

    subscript(row: Int) -> ObjectKey { keys?[row] ?? first &+ Int64(row) }

    var all: [ObjectKey] { keys ?? Array(first...last) }

    /// The number of bytes that the block occupies in memory.
    var byteCount: Int { 64 + 8 * (keys?.count ?? 0) }
}
