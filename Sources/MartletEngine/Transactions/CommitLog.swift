package import MartletValues

/// The newest commits of this process, kept in memory. Threads of this process get changes from the log without
/// accessing SQLite. The versions in the log are consecutive.
package struct CommitLog {
    /// One commit and its changes. If the process has observers, `oldRows` contains the previous values of up to
    /// `RowImages.limit` changed rows.
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

/// Copies of rows of several tables. Each copy (image) contains the values of the row's columns in schema order.
package struct RowImages: Sendable {
    private var rows: [TableID: [ObjectKey: [SQLValue]]] = [:]
    private var count = 0
    /// The maximum number of rows. Storing more rows would cost more than computing the changes without them.
    static let limit = 1_024
    /// False if the images of changed rows are not stored, because the process has no observers.
    private var isStored = true

    package init(isStored: Bool = true) { self.isStored = isStored }

    /// True if the image of every modified or deleted row is certainly stored.
    package var isComplete: Bool { isStored && !isFull }

    package var isFull: Bool { count >= Self.limit }

    /// Stores the image of a row unless the row already has an image. The first image shows the row before the
    /// transaction.
    package mutating func insertIfAbsent(_ values: [SQLValue], of key: ObjectKey, in table: TableID) {
        guard !isFull, rows[table]?[key] == nil else { return }
        rows[table, default: [:]][key] = values
        count += 1
    }

    package func row(_ key: ObjectKey, in table: TableID) -> [SQLValue]? { rows[table]?[key] }

    /// Adds the images of later versions. A row that already has an image keeps this older image. If a row has no
    /// image, but a change set in `earlier` touches the row, the later image is not added, because it would not show
    /// the row as it was before the earlier changes.
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
