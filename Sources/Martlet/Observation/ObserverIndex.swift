import MartletEngine

/// What must change before an observer can have something to hear.
enum ObserverInterest {
    case anything
    /// One row, or any row of some other tables.
    case row(TableID, ObjectKey, orTables: Set<TableID>)
}

/// The observers of a Realm, arranged so that those whom a change does not concern cost nothing.
///
/// An observer sleeps while nothing that it is interested in has changed since it was told: what it knows is right for every
/// version up to `settled`. A change wakes those whom it may concern; they go to sleep again when they know it. Those that are
/// interested in anything are always awake.
struct ObserverIndex {
    /// In the order in which they began, which is that of their numbers.
    private(set) var awake: [ObservationEntry] = []
    /// Everything up to here has been looked at: nothing before it concerns those who sleep.
    private(set) var settled: Version = 0
    private var sleeperCount = 0
    private var entries: [Int: ObservationEntry] = [:]
    /// In the order of their numbers.
    private var rows: [TableID: [ObjectKey: [ObservationEntry]]] = [:]
    private var tables: [TableID: [Int: ObservationEntry]] = [:]
    private var nextNumber = 0

    var isEmpty: Bool { entries.isEmpty }

    /// All of them, in the order in which they began.
    var all: [ObservationEntry] { entries.values.sorted { $0.number < $1.number } }

    var hasSleepers: Bool { sleeperCount > 0 }

    /// True when somebody may not know all up to a version.
    func need(_ version: Version) -> Bool {
        (hasSleepers && settled < version) || awake.contains { $0.needs(version) }
    }

    /// True when all that there is to tell of a version has been worked out.
    func areReady(for version: Version) -> Bool {
        (!hasSleepers || settled >= version) && awake.allSatisfy { $0.isReady(for: version) }
    }

    mutating func add(_ entry: ObservationEntry) {
        entry.number = nextNumber
        nextNumber += 1
        entries[entry.number] = entry
        entry.isAwake = true
        awake.append(entry)
        guard case .row(let table, let key, let others) = entry.interest else { return }
        rows[table, default: [:]][key, default: []].append(entry)
        for other in others { tables[other, default: [:]][entry.number] = entry }
    }

    /// Forgets an observer, and returns it so that it can be released elsewhere.
    mutating func remove(_ number: Int) -> ObservationEntry? {
        guard let entry = entries.removeValue(forKey: number) else { return nil }
        if entry.isAwake {
            awake.remove(entry)
        } else {
            sleeperCount -= 1
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

    /// Wakes those whom changes may concern, which lead from `settled` or before up to `version`; nil for unknown ones.
    mutating func wake(_ changes: ChangeSet?, through version: Version) {
        guard version > settled else { return }
        defer { settled = version }
        guard hasSleepers else { return }
        let count = awake.count
        if let changes {
            for (table, change) in changes.tables {
                for entry in tables[table]?.values ?? [:].values { wake(entry) }
                if let observed = rows[table] { wake(observed, change.touchedKeys) }
            }
            for (id, _) in changes.collections {
                for entry in tables[id.table]?.values ?? [:].values { wake(entry) }
                for entry in rows[id.table]?[id.owner] ?? [] { wake(entry) }
            }
        } else {
            for entry in entries.values { wake(entry) }
        }
        if awake.count > count { awake.sort { $0.number < $1.number } }
    }

    private mutating func wake(_ observed: [ObjectKey: [ObservationEntry]], _ touched: KeySet) {
        if touched.count < observed.count {
            for key in touched { for entry in observed[key] ?? [] { wake(entry) } }
        } else {
            for (key, entries) in observed where touched.contains(key) { entries.forEach { wake($0) } }
        }
    }

    private mutating func wake(_ entry: ObservationEntry) {
        guard !entry.isAwake else { return }
        entry.isAwake = true
        entry.catchUp(to: settled)
        sleeperCount -= 1
        awake.append(entry)
    }

    /// Lets those sleep who know all there is, and forgets those to whom nothing can happen any more; returns the latter so
    /// that they can be released elsewhere.
    mutating func rest() -> [ObservationEntry] {
        var over: [ObservationEntry] = []
        awake.removeAll { [settled] entry in
            guard entry.isOver || entry.canSleep(settled) else { return false }
            if entry.isOver { over.append(entry) }
            entry.isAwake = false
            return true
        }
        sleeperCount = entries.count - awake.count
        for entry in over { _ = remove(entry.number) }
        return over
    }
}

extension [ObservationEntry] {
    /// Removes an entry from an array in the order of the numbers. Complexity: O(log n) comparisons.
    fileprivate mutating func remove(_ entry: ObservationEntry) {
        let place = indices.partitionPoint { self[$0].number >= entry.number }
        if place < count, self[place] === entry { remove(at: place) }
    }
}
