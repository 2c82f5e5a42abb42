/// Records the changes that a transaction makes to the rows of one table, and computes the net result.
///
/// Each change is appended to a log of runs. A run grows if the next key gets the same change. So a million consecutive
/// insertions are one entry, and a property that is written in a million consecutive rows is one entry. `finish` sorts
/// the log and computes the net change of each row. A long log is compacted during recording, so its memory is
/// proportional to the number of written rows, not to the number of writes.
package struct TableChangesBuilder: Sendable {
    package enum Kind: Sendable {
        case insert
        case delete
        case modify
    }

    /// One change of a run of rows.
    struct Entry: Sendable {
        var lower: ObjectKey
        var upper: ObjectKey
        var kind: Kind
        var columns: ColumnSet
    }

    private var log: [Entry] = []

    /// The index in `log` of the newest run of insertions, if this run can still grow; otherwise nil. No row was
    /// deleted since this run began.
    private var openInsertion: Int?

    /// Finds insertions and deletions in the log. Nil until the first search or compaction.
    private var runs: RecordedRunIndex?

    /// The length at which the log is compacted.
    private var compactionLength: Int
    private let minimumCompactionLength: Int

    /// Creates an empty builder.
    ///
    /// - Parameter compactionLength: the length at which the log is compacted for the first time.
    package init(compactionLength: Int = 1 << 17) {
        self.compactionLength = compactionLength
        minimumCompactionLength = compactionLength
    }

    /// True if nothing was recorded.
    package var isEmpty: Bool { log.isEmpty }

    /// True if an insertion or a deletion of a row was recorded. `kind` must not be `.modify`.
    ///
    /// Complexity: O(log² n), where n is the number of recorded runs.
    package mutating func hasRecorded(_ kind: Kind, _ key: ObjectKey) -> Bool {
        var searched = runs ?? RecordedRunIndex()
        runs = nil
        defer { runs = searched }
        return searched.search(for: key, kind, in: log)
    }

    /// True if an entry may grow. An entry that is already indexed in `runs` must not change.
    private func mayGrow(_ index: Int) -> Bool { runs.map { $0.count <= index } ?? true }

    /// Records that a row was created.
    package mutating func insert(_ key: ObjectKey) { insert(key...key) }

    /// Records that rows were created.
    package mutating func insert(_ run: ClosedRange<ObjectKey>) {
        let first = run.lowerBound
        if let open = openInsertion, first > log[open].upper, first - 1 == log[open].upper, mayGrow(open) {
            log[open].upper = run.upperBound
            return
        }
        compactIfLong()
        openInsertion = log.count
        log.append(Entry(lower: first, upper: run.upperBound, kind: .insert, columns: []))
    }

    /// Records that a row was deleted.
    package mutating func delete(_ key: ObjectKey) {
        if let last = log.indices.last, log[last].kind == .delete, key > log[last].upper, key - 1 == log[last].upper,
            mayGrow(last)
        {
            log[last].upper = key
        } else {
            delete(key...key)
        }
    }

    /// Records that one column of a row was written.
    package mutating func modify(_ key: ObjectKey, _ column: PropertyIndex) {
        modify(key, ColumnSet(column))
    }

    /// Records that several columns of a row were written.
    package mutating func modify(_ key: ObjectKey, _ columns: ColumnSet) {
        if columns.isEmpty { return }
        if let open = openInsertion, log[open].lower <= key, key <= log[open].upper { return }
        guard let last = log.indices.last, log[last].kind == .modify else {
            modify(key...key, columns)
            return
        }
        #if MARTLET_SEEDED_BUGS
            if SeededBug.isOn(.secondColumnForgotten), log[last].lower < key, key <= log[last].upper { return }
        #endif
        if log[last].upper == key, log[last].lower == key {
            log[last].columns.formUnion(columns)
            joinLastModifications()
        } else if key > log[last].upper, key - 1 == log[last].upper, log[last].columns == columns {
            log[last].upper = key
        } else if log[last].lower > key || key > log[last].upper || log[last].columns != columns {
            modify(key...key, columns)
        }
    }

    /// Records all changes of a later version.
    package mutating func append(_ changes: TableChanges) {
        append(inserted: changes.inserted, deleted: changes.deleted, modified: changes.modified)
    }

    mutating func append(inserted: KeySet, deleted: KeySet, modified: [TableChanges.ModifiedGroup]) {
        for run in deleted.ranges { delete(run) }
        for run in inserted.ranges { insert(run) }
        for group in modified where !group.columns.isEmpty {
            for run in group.keys.ranges { modify(run, group.columns) }
        }
    }

    /// The net result of all recorded changes.
    ///
    /// Complexity: O(n log n) for a log of n runs; O(n) if the runs are in key order.
    package func finish() -> TableChanges {
        TableChangesSweep(log: log).run()
    }

    private mutating func delete(_ run: ClosedRange<ObjectKey>) {
        compactIfLong()
        openInsertion = nil
        log.append(Entry(lower: run.lowerBound, upper: run.upperBound, kind: .delete, columns: []))
    }

    private mutating func modify(_ run: ClosedRange<ObjectKey>, _ columns: ColumnSet) {
        compactIfLong()
        log.append(Entry(lower: run.lowerBound, upper: run.upperBound, kind: .modify, columns: columns))
    }

    /// Joins the last entry to the previous entry if both are modifications of the same columns in consecutive rows.
    private mutating func joinLastModifications() {
        let last = log.count - 1
        guard last > 0, log[last - 1].kind == .modify, log[last - 1].columns == log[last].columns,
            log[last].lower > log[last - 1].upper, log[last].lower - 1 == log[last - 1].upper
        else { return }
        log[last - 1].upper = log[last].upper
        log.removeLast()
        runs?.truncate(to: log.count)
    }

    private mutating func compactIfLong() {
        if log.count < compactionLength { return }
        let compacted = finish()
        let recorded = log
        log.removeAll()
        openInsertion = nil
        compactionLength = .max
        append(compacted)
        compactionLength = max(minimumCompactionLength, log.count * 2)
        var runs = self.runs ?? RecordedRunIndex()
        runs.replace(recorded, with: log)
        self.runs = runs
    }
}

/// Computes the net change of each row in a log of runs. The boundaries of all runs divide the keys into ranges, which
/// are called stretches. The sweep visits the stretches in ascending order. For each stretch, it applies the entries of
/// the log that contain the stretch, in the order in which they were recorded.
///
/// Complexity: O(n log n) for the sorting, and O(stretches × overlapping runs) for the sweep.
struct TableChangesSweep {
    /// The net change of the rows of a stretch.
    private struct State {
        var isInserted = false
        var isDeleted = false
        var columns = ColumnSet()

        mutating func apply(_ entry: TableChangesBuilder.Entry) {
            switch entry.kind {
            case .insert:
                isInserted = true
                columns = []
            case .delete:
                // If an earlier entry has inserted the row, this deletion undoes the insertion, and has no other
                // effect.
                #if MARTLET_SEEDED_BUGS
                    if SeededBug.isOn(.deletionForgotten), isInserted { isDeleted = false }
                #endif
                isDeleted = isDeleted || !isInserted
                isInserted = false
                columns = []
            case .modify:
                if !isInserted && !isDeleted { columns.formUnion(entry.columns) }
            }
        }
    }

    private let log: [TableChangesBuilder.Entry]
    private var inserted = KeySet()
    private var deleted = KeySet()
    private var groups: [(columns: ColumnSet, keys: KeySet)] = []
    private var groupByColumns: [ColumnSet: Int] = [:]
    private var latestGroup = 0

    init(log: [TableChangesBuilder.Entry]) {
        self.log = log
    }

    consuming func run() -> TableChanges {
        let order = entriesByLowerBound()
        var next = 0
        var position = order.first?.lower ?? 0
        var active: [Int] = []
        while next < order.count || !active.isEmpty {
            if active.isEmpty { position = order[next].lower }
            while next < order.count, order[next].lower == position {
                let place = active.lastIndex { $0 < order[next].index }.map { $0 + 1 } ?? 0
                active.insert(order[next].index, at: place)
                next += 1
            }
            var end = next < order.count ? order[next].lower - 1 : ObjectKey.max
            var state = State()
            for index in active {
                end = min(end, log[index].upper)
                state.apply(log[index])
            }
            emit(position...end, state)
            active.removeAll { log[$0].upper == end }
            if !active.isEmpty { position = end + 1 }
        }
        let modified = groups.sorted { $0.columns < $1.columns }
            .map { TableChanges.ModifiedGroup(columns: $0.columns, keys: $0.keys) }
        return TableChanges(canonicalInserted: inserted, deleted: deleted, modified: modified)
    }

    private func entriesByLowerBound() -> [(lower: ObjectKey, index: Int)] {
        var order = log.enumerated().map { (lower: $0.element.lower, index: $0.offset) }
        if zip(order, order.dropFirst()).contains(where: { $0.lower > $1.lower }) {
            order.sort { $0.lower == $1.lower ? $0.index < $1.index : $0.lower < $1.lower }
        }
        return order
    }

    private mutating func emit(_ run: ClosedRange<ObjectKey>, _ state: State) {
        if state.isInserted { inserted.append(run) }
        if state.isDeleted { deleted.append(run) }
        if state.columns.isEmpty { return }
        if groups.isEmpty || groups[latestGroup].columns != state.columns {
            latestGroup = groupByColumns[state.columns] ?? groups.count
            if latestGroup == groups.count {
                groups.append((state.columns, []))
                groupByColumns[state.columns] = latestGroup
            }
        }
        groups[latestGroup].keys.append(run)
    }
}
