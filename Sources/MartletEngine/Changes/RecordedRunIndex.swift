/// Finds the insertions and deletions of a row in the log of a `TableChangesBuilder`.
///
/// The index consists of blocks. Each block contains the inserted and the deleted rows of a range of log entries, and
/// is at least twice as long as the next block. If more than 16 entries are in no block, a search first adds these
/// entries as a new block. Otherwise the search checks each of these entries. Then the search looks into every block.
///
/// Complexity: O(log² n) for a log of n entries, and O(log n) amortized to add an entry.
struct RecordedRunIndex: Sendable {
    private struct Block: Sendable {
        var length: Int
        var inserted: KeySet
        var deleted: KeySet
    }

    private var blocks: [Block] = []
    /// The number of log entries that are in blocks. These entries must not grow any more.
    private(set) var count = 0
    /// If more than this number of entries are in no block, a search first adds them as a block.
    private static let searchedLength = 16

    /// True if an entry of the given kind that contains the key was ever recorded. The kind is `.insert` or `.delete`.
    /// The search also finds entries that are no longer in the log because `replace` removed them.
    mutating func search(for key: ObjectKey, _ kind: TableChangesBuilder.Kind, in log: [Entry]) -> Bool {
        if log.count - count > Self.searchedLength { add(log[count...]) }
        if log[count...].contains(where: { $0.contains(key, kind) }) { return true }
        return blocks.contains { block in
            switch kind {
            case .insert: block.inserted.contains(key)
            case .delete: block.deleted.contains(key)
            case .modify: false
            }
        }
    }

    /// Called after the log was shortened to `length` entries. The removed entries are modifications, which blocks do
    /// not contain.
    mutating func truncate(to length: Int) { count = min(count, length) }

    /// Called when a shorter log with the same net result replaces `log`. The blocks keep all rows of `log`, so that a
    /// search still finds rows that were first inserted and then deleted. The shorter log does not contain these rows.
    mutating func replace(_ log: [Entry], with shorter: [Entry]) {
        add(log[count...])
        count = shorter.count
    }

    typealias Entry = TableChangesBuilder.Entry

    private mutating func add(_ entries: ArraySlice<Entry>) {
        count = entries.endIndex
        var block = Block(
            length: entries.count, inserted: Self.keys(of: entries, .insert), deleted: Self.keys(of: entries, .delete))
        while let last = blocks.last, last.length < 2 * block.length {
            blocks.removeLast()
            block.length += last.length
            block.inserted.formUnion(last.inserted)
            block.deleted.formUnion(last.deleted)
        }
        blocks.append(block)
    }

    private static func keys(of entries: ArraySlice<Entry>, _ kind: TableChangesBuilder.Kind) -> KeySet {
        let runs = entries.filter { $0.kind == kind }.sorted { $0.lower < $1.lower }
        return runs.reduce(into: KeySet()) { $0.append($1.lower...$1.upper) }
    }
}

extension TableChangesBuilder.Entry {
    fileprivate func contains(_ key: ObjectKey, _ kind: TableChangesBuilder.Kind) -> Bool {
        self.kind == kind && lower <= key && key <= upper
    }
}
