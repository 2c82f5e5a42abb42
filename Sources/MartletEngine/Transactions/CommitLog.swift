package import MartletValues

/// The newest commits of this process, kept in memory. Threads of this process get changes from the log without
/// accessing SQLite. The versions in the log are consecutive.
package struct CommitLog {
    /// One commit and its changes. If the process has observers, `oldRows` contains up to `RowImages.limit` previous
    /// rows.
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

    /// Removes the entry of a commit that failed.
    mutating func removeLast(_ version: Version) {
        if entries.last?.version == version { entries.removeLast() }
    }

    /// The entries after the version `start` up to and including the version `end`. If the log no longer contains the
    /// oldest of these entries, the result contains only the newer entries. The result has no gaps. It is empty if the
    /// log has no entry for `end`.
    func newestEntries(after start: Version, through end: Version) -> ArraySlice<Entry> {
        guard let first = entries.first?.version, let last = entries.last?.version else { return [] }
        guard start < end, first <= end, end <= last else { return [] }
        return entries[Int(max(start + 1, first) - first)...Int(end - first)]
    }
}

/// The previous rows of a commit, or of several consecutive commits: the changed rows as they were before these
/// commits. A row is stored as the values of its columns in schema order.
package struct RowImages: Sendable {
    private var rows: [TableID: [ObjectKey: [SQLValue]]] = [:]
    private var count = 0
    /// The maximum number of rows. Storing more rows would cost more than computing the changes without them.
    static let limit = 1_024
    /// False if no rows are stored, because the process has no observers.
    private var isStored = true

    package init(isStored: Bool = true) { self.isStored = isStored }

    /// True if the previous row of every modification and deletion is certainly stored.
    package var isComplete: Bool { isStored && !isFull }

    package var isFull: Bool { count >= Self.limit }

    /// Stores the values of a row if none are stored for this row. The first values of a row are those before the
    /// transaction.
    package mutating func insertIfAbsent(_ values: [SQLValue], of key: ObjectKey, in table: TableID) {
        guard !isFull, rows[table]?[key] == nil else { return }
        rows[table, default: [:]][key] = values
        count += 1
    }

    package func row(_ key: ObjectKey, in table: TableID) -> [SQLValue]? { rows[table]?[key] }

    /// Adds the previous rows of later commits. If values of a row are already stored, they are kept, because they are
    /// older. If none are stored, but a change set in `earlier` touches the row, the row is not added: its later values
    /// are not those before the earlier changes.
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
