import MartletEngine

/// The rows or tables whose changes can affect an observer.
enum ObserverInterest {
    case anything
    /// One row, or any row of the tables `orTables`.
    case row(TableID, ObjectKey, orTables: Set<TableID>)
}

/// The observers of a Realm. They are indexed by rows and tables, so that a commit examines only the observers that it
/// may affect.
///
/// An observer is suspended while no row or table on which it depends changes. Its state is then valid for every
/// version up to `examinedVersion`. A commit activates the observers that it may affect. An active observer is
/// suspended again when it knows the new state. Observers with the interest `.anything` are always active.
struct ObserverIndex {
    /// The active observers, in the order of registration, which is the order of their numbers.
    private(set) var active: [ObservationEntry] = []
    /// All commits up to this version have been examined. None of them affects a suspended observer.
    private(set) var examinedVersion: Version = 0
    private var suspendedCount = 0
    private var entries: [Int: ObservationEntry] = [:]
    /// The observers of each row, in the order of their numbers.
    private var rows: [TableID: [ObjectKey: [ObservationEntry]]] = [:]
    /// The observers that depend on any row of a table, by number.
    private var tables: [TableID: [Int: ObservationEntry]] = [:]
    private var nextNumber = 0

    var isEmpty: Bool { entries.isEmpty }

    /// All observers, in the order of registration.
    var all: [ObservationEntry] { entries.values.sorted { $0.number < $1.number } }

    var hasSuspended: Bool { suspendedCount > 0 }

    /// True if an observer may not have been notified of all changes up to `version` yet.
    func needsDelivery(of version: Version) -> Bool {
        (hasSuspended && examinedVersion < version) || active.contains { $0.needs(version) }
    }

    /// True if all notifications for `version` are prepared.
    func areReady(for version: Version) -> Bool {
        (!hasSuspended || examinedVersion >= version) && active.allSatisfy { $0.isReady(for: version) }
    }

    mutating func add(_ entry: ObservationEntry) {
        entry.number = nextNumber
        nextNumber += 1
        entries[entry.number] = entry
        entry.isActive = true
        active.append(entry)
        guard case .row(let table, let key, let others) = entry.interest else { return }
        rows[table, default: [:]][key, default: []].append(entry)
        for other in others { tables[other, default: [:]][entry.number] = entry }
    }

    /// Removes an observer and returns it, so that the caller can release it without holding the lock.
    mutating func remove(_ number: Int) -> ObservationEntry? {
        guard let entry = entries.removeValue(forKey: number) else { return nil }
        if entry.isActive {
            active.remove(entry)
        } else {
            suspendedCount -= 1
        }
        guard case .row(let table, let key, let others) = entry.interest else { return entry }
        rows[table]?[key]?.remove(entry)
        if rows[table]?[key]?.isEmpty == true { rows[table]?[key] = nil }
        if rows[table]?.isEmpty == true { rows[table] = nil }
        for other in others {
            tables[other]?[number] = nil
            if tables[other]?.isEmpty == true { tables[other] = nil }
        }
        return entry
    }

    /// Activates the observers that may be affected by `changes`, which lead from `examinedVersion` or an earlier
    /// version to `version`. If `changes` is nil, the changes are unknown, and all observers are activated.
    mutating func activate(_ changes: ChangeSet?, through version: Version) {
        guard version > examinedVersion else { return }
        defer { examinedVersion = version }
        guard hasSuspended else { return }
        let count = active.count
        if let changes {
            for (table, change) in changes.tables {
                for entry in tables[table]?.values ?? [:].values { activate(entry) }
                if let observed = rows[table] { activate(observed, change.touchedKeys) }
            }
            for (id, _) in changes.collections {
                for entry in tables[id.table]?.values ?? [:].values { activate(entry) }
                for entry in rows[id.table]?[id.owner] ?? [] { activate(entry) }
            }
        } else {
            for entry in entries.values { activate(entry) }
        }
        if active.count > count { active.sort { $0.number < $1.number } }
    }

    private mutating func activate(_ observed: [ObjectKey: [ObservationEntry]], _ touched: KeySet) {
        if touched.count < observed.count {
            for key in touched { for entry in observed[key] ?? [] { activate(entry) } }
        } else {
            for (key, entries) in observed where touched.contains(key) { entries.forEach { activate($0) } }
        }
    }

    private mutating func activate(_ entry: ObservationEntry) {
        guard !entry.isActive else { return }
        entry.isActive = true
        entry.catchUp(to: examinedVersion)
        suspendedCount -= 1
        active.append(entry)
    }

    /// Suspends the observers that have no pending change, and removes those for which no further change is possible.
    /// Returns the removed observers, so that the caller can release them without holding the lock.
    mutating func suspendCurrent() -> [ObservationEntry] {
        var finished: [ObservationEntry] = []
        active.removeAll { [examinedVersion] entry in
            guard entry.hasEnded || entry.canSuspend(examinedVersion) else { return false }
            if entry.hasEnded { finished.append(entry) }
            entry.isActive = false
            return true
        }
        suspendedCount = entries.count - active.count
        for entry in finished { _ = remove(entry.number) }
        return finished
    }
}

extension [ObservationEntry] {
    /// Removes an entry from an array that is sorted by number. Complexity: O(log n) comparisons.
    fileprivate mutating func remove(_ entry: ObservationEntry) {
        let position = indices.partitionPoint { self[$0].number >= entry.number }
        if position < count, self[position] === entry { remove(at: position) }
    }
}
