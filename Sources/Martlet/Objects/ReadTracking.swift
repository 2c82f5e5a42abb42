import MartletEngine
import Synchronization

/// The tracked reads of one Realm: what was read inside `withObservationTracking`, so that Observation is notified of changes.
///
/// Observation is notified once of each place, because its observers read again. Used on the Realm's executor only, except for
/// `isInUse`.
final class ReadTracking {
    private struct RowMarks {
        /// True if the existence of the row was read.
        var row = false
        var columns = ColumnSet()

        var isEmpty: Bool { !row && columns.isEmpty }
    }

    private struct Marks {
        var rows = false
        var columns = ColumnSet()
        var properties: [ObjectKey: RowMarks] = [:]

        var isEmpty: Bool { !rows && columns.isEmpty && properties.isEmpty }

        mutating func insert(_ place: ReadPlace) {
            switch place {
            case .row(_, let key): properties[key, default: RowMarks()].row = true
            case .property(_, let key, let property): properties[key, default: RowMarks()].columns.insert(property)
            case .column(_, let property): columns.insert(property)
            case .rows: rows = true
            }
        }

        mutating func remove(_ place: ReadPlace) {
            switch place {
            case .row(_, let key): properties[key]?.row = false
            case .property(_, let key, let property): properties[key]?.columns.remove(property)
            case .column(_, let property): columns.remove(property)
            case .rows: rows = false
            }
            if let key = place.key, properties[key]?.isEmpty == true { properties[key] = nil }
        }
    }

    /// True if every read is checked for tracking. While it is false, a read of a held object checks only its guard word.
    @exclusivity(unchecked) var isOn = false {
        didSet { if isOn { Self.isInUse.store(true, ordering: .relaxed) } }
    }
    private lazy var registrar = ReadRegistrar()
    /// The context that owns this object. Nil for a Realm that never tracks reads.
    @exclusivity(unchecked) unowned(unsafe) var context: RealmContext?
    private var marks: [TableID: Marks] = [:]
    /// The number of tracked reads since the last sweep. Observation keeps the closure of each read until one of its places
    /// changes, and has no API to count or remove unused closures.
    private var readCount = 0
    private var isSweepDue = false
    private var lastSweep: UInt64?
    /// The least number of tracked reads between two sweeps.
    private static let leastReads = 16_384
    private static let leastPauseNanoseconds: UInt64 = 60_000_000_000
    /// The places of which `willSet` was called and `didSet` was not called yet.
    private var changing: [ReadPlace] = []

    /// True if a Realm of this process has tracked reads, or if SwiftUI exists. Then reads of unmanaged objects are checked for
    /// tracking, too.
    static let isInUse = Atomic<Bool>(isDefault)

    #if canImport(SwiftUI)
        static let isDefault = true
    #else
        static let isDefault = false
    #endif

    /// True if no tracked read waits for a change.
    var isEmpty: Bool { marks.isEmpty }

    private func updateContext() { context?.hasTrackedReads = !marks.isEmpty || !changing.isEmpty }

    /// True inside `withObservationTracking`.
    var isTracking: Bool { registrar.isTracking }

    // MARK: Reads

    /// Records a read if Observation is tracking.
    func note(_ place: ReadPlace) {
        guard registrar.isTracking else { return }
        registrar.access(place)
        marks[place.table, default: Marks()].insert(place)
        context?.hasTrackedReads = true
        readCount += 1
        if readCount >= Self.leastReads { sweepSoon() }
    }

    // MARK: Sweeping unused closures

    // At most once a minute. Otherwise a program with very many live reads would repeat them endlessly.
    private func sweepSoon() {
        guard !isSweepDue, let context else { return }
        let now = context.coordinator.environment.now()
        if let lastSweep, now < lastSweep + Self.leastPauseNanoseconds { return }
        (isSweepDue, lastSweep) = (true, now)
        // Scheduled, because this is called inside a tracking closure. Without a scheduler the next change of version sweeps.
        let owner = context.reference
        context.scheduler?.schedule { (owner.object as? RealmContext)?.reads.sweep() }
    }

    /// Notifies Observation of all places. Active observers read again, and Observation releases the closures of all others.
    private func sweep() {
        guard isSweepDue, changing.isEmpty else { return }
        willChangeAll()
        didChange()
    }

    // MARK: Changes

    /// A property of a row is about to change.
    func willChange(_ property: PropertyIndex, of key: ObjectKey, in table: TableID) {
        guard let known = marks[table] else { return }
        var places: [ReadPlace] = []
        if known.properties[key]?.columns.contains(property) == true { places.append(.property(table, key, property)) }
        if known.columns.contains(property) { places.append(.column(table, property)) }
        notifyWillChange(places)
    }

    /// A row is about to be inserted.
    func willInsert(in table: TableID) {
        if marks[table]?.rows == true { notifyWillChange([.rows(table)]) }
    }

    /// A row is about to be deleted.
    func willDelete(_ key: ObjectKey, in table: TableID) {
        guard let known = marks[table] else { return }
        notifyWillChange((known.rows ? [.rows(table)] : []) + places(of: key, known, table))
    }

    /// The Realm is about to move to another version.
    ///
    /// - Parameters:
    ///   - changes: the changes between the versions; nil if they are not known.
    ///   - isInverted: true if the changes are rolled back.
    func willChange(_ changes: ChangeSet?, isInverted: Bool) {
        guard let changes, !isSweepDue else { return willChangeAll() }
        var places: [ReadPlace] = []
        for (table, known) in marks.sorted(by: { $0.key < $1.key }) {
            guard let change = changes.tables[table] else { continue }
            if known.rows, !change.inserted.isEmpty || !change.deleted.isEmpty { places.append(.rows(table)) }
            for column in known.columns where change.modified.contains(where: { $0.columns.contains(column) }) {
                places.append(.column(table, column))
            }
            // A rollback changes deleted rows, too: they exist again.
            let gone = isInverted ? change.inserted.union(change.deleted) : change.deleted
            for key in touched(change, known) {
                guard let row = known.properties[key] else { continue }
                if gone.contains(key) {
                    places += self.places(of: key, known, table)
                } else {
                    let columns = change.columns(modifiedFor: key)
                    places += row.columns.filter { columns.contains($0) }.map { .property(table, key, $0) }
                }
            }
        }
        notifyWillChange(places)
    }

    // The marked rows that changed, or all marked rows if these are fewer than the changed ones.
    private func touched(_ change: TableChanges, _ known: Marks) -> [ObjectKey] {
        let keys = change.touchedKeys
        return keys.count < known.properties.count
            ? keys.filter { known.properties[$0] != nil } : known.properties.keys.sorted()
    }

    /// All rows are about to change or to be invalidated.
    func willChangeAll() {
        (readCount, isSweepDue) = (0, false)
        notifyWillChange(
            marks.sorted { $0.key < $1.key }.flatMap { table, known in
                (known.rows ? [.rows(table)] : []) + known.columns.map { .column(table, $0) }
                    + known.properties.keys.sorted().flatMap { places(of: $0, known, table) }
            })
    }

    private func places(of key: ObjectKey, _ known: Marks, _ table: TableID) -> [ReadPlace] {
        guard let row = known.properties[key] else { return [] }
        return row.columns.map { .property(table, key, $0) } + (row.row ? [.row(table, key)] : [])
    }

    private func notifyWillChange(_ places: [ReadPlace]) {
        if places.isEmpty { return }
        // The marks are removed first, because an observer may read again when it is notified and wait for the next change.
        // If this thread is tracking, the tracking closure itself makes the change. Its reads are observed only after it has
        // ended, so their marks are kept.
        if !registrar.isTracking { for place in places { forget(place) } }
        changing += places
        for place in places { registrar.willSet(place) }
    }

    private func forget(_ place: ReadPlace) {
        marks[place.table]?.remove(place)
        if marks[place.table]?.isEmpty == true { marks[place.table] = nil }
    }

    /// The changes have happened.
    func didChange() {
        if changing.isEmpty { return }
        let places = changing
        changing = []
        updateContext()
        for place in places { registrar.didSet(place) }
    }
}
