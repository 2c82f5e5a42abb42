package import MartletSQLite

/// The newest commits of this process, in memory: readers of the process get their changes without touching SQLite.
package struct CommitLog {
    /// One commit: what it touched and, where it was small, the rows as they were before.
    package struct Entry: Sendable {
        package let version: Version
        package let changes: ChangeSet
        package let oldRows: RowImages
    }

    private var entries: [Entry] = []
    static let capacity = 256

    mutating func append(_ entry: Entry) {
        #if MARTLET_SEEDED_BUGS
            if SeededBug.isOn(.gapInLog) { return entries.append(entry) }
        #endif
        if let last = entries.last, last.version + 1 != entry.version { entries.removeAll() }
        entries.append(entry)
        if entries.count > Self.capacity { entries.removeFirst(entries.count - Self.capacity / 2) }
    }

    /// Takes back the entry of a commit that failed.
    mutating func retract(_ version: Version) {
        if entries.last?.version == version { entries.removeLast() }
    }

    /// The entries after `start` up to `end`; nil when one of them is not here.
    func entries(after start: Version, through end: Version) -> ArraySlice<Entry>? {
        guard end > start else { return [] }
        guard let first = entries.first?.version, let last = entries.last?.version, start + 1 >= first, end <= last
        else { return nil }
        return entries[Int(start + 1 - first)...Int(end - first)]
    }
}

/// Rows of several tables, each as the values of its columns in schema order.
package struct RowImages: Sendable {
    private var rows: [TableID: [ObjectKey: [SQLValue]]] = [:]
    private var count = 0
    /// More rows than this are not worth carrying: they are read again instead.
    static let limit = 1_024
    /// False where rows were changed whose images were not kept.
    private var wasKept = true

    package init(wasKept: Bool = true) { self.wasKept = wasKept }

    /// True when every row that was modified or deleted is here.
    package var isComplete: Bool { wasKept && !isFull }

    package var isFull: Bool { count >= Self.limit }

    /// Keeps the first image of a row: that is the one from before the transaction.
    package mutating func keepFirst(_ values: [SQLValue], of key: ObjectKey, in table: TableID) {
        guard !isFull, rows[table]?[key] == nil else { return }
        rows[table, default: [:]][key] = values
        count += 1
    }

    package func row(_ key: ObjectKey, in table: TableID) -> [SQLValue]? { rows[table]?[key] }

    /// Adds the images of a later span: rows already here keep the older image, and those that an earlier span touched
    /// without keeping their images stay unknown.
    package mutating func merge(_ later: RowImages, unlessTouchedBy earlier: [ChangeSet]) {
        for (table, images) in later.rows {
            #if MARTLET_SEEDED_BUGS
                if SeededBug.isOn(.newestRowImage) { rows[table, default: [:]].merge(images) { $1 } }
            #endif
            for (key, values) in images where rows[table]?[key] == nil {
                if earlier.contains(where: { $0.tables[table]?.touches(key) ?? false }) { continue }
                rows[table, default: [:]][key] = values
                count += 1
            }
        }
    }
}
