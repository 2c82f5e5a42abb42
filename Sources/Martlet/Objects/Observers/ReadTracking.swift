import MartletEngine
import Synchronization

/// The tracked reads of one Realm: the rows and properties that were read inside `withObservationTracking`. When one of
/// them changes, the Observation framework is notified.
///
/// After Observation was notified of a change of a dependency, the dependency is tracked again only when it is read
/// again. Exception: if the tracking closure itself makes the change, the dependency is kept.
///
/// Thread safety: this class is used on the Realm's executor only. The exception is `isInUse`, which is atomic.
final class ReadTracking {
    private struct RowDependencies {
        /// True if the existence of the row was read.
        var existence = false
        var columns = ColumnSet()

        var isEmpty: Bool { !existence && columns.isEmpty }
    }

    private struct TableDependencies {
        /// True if the set of rows was read.
        var rows = false
        /// The properties that were read for all rows, because results are filtered or sorted by these properties.
        var columns = ColumnSet()
        var byRow: [ObjectKey: RowDependencies] = [:]

        var isEmpty: Bool { !rows && columns.isEmpty && byRow.isEmpty }

        mutating func insert(_ dependency: ReadDependency) {
            switch dependency {
            case .row(_, let key): byRow[key, default: RowDependencies()].existence = true
            case .property(_, let key, let property):
                byRow[key, default: RowDependencies()].columns.insert(property)
            case .column(_, let property): columns.insert(property)
            case .rows: rows = true
            }
        }

        mutating func remove(_ dependency: ReadDependency) {
            switch dependency {
            case .row(_, let key): byRow[key]?.existence = false
            case .property(_, let key, let property): byRow[key]?.columns.remove(property)
            case .column(_, let property): columns.remove(property)
            case .rows: rows = false
            }
            if let key = dependency.key, byRow[key]?.isEmpty == true { byRow[key] = nil }
        }
    }

    /// While this is true, every read checks whether Observation is tracking. While this is false, a read checks only
    /// the guard word of the object (`_guard`).
    @exclusivity(unchecked) var isOn = false {
        didSet { if isOn { Self.isInUse.store(true, ordering: .relaxed) } }
    }
    private lazy var registrar = ReadRegistrar()
    /// The context that owns this object. Nil for a frozen Realm.
    @exclusivity(unchecked) unowned(unsafe) var context: RealmContext?
    private var tracked: [TableID: TableDependencies] = [:]
    /// The number of tracked reads since the last sweep. Observation keeps the closure of an observer until a
    /// dependency of the observer changes, even if the closure is not needed any more. Observation has no API to count
    /// or remove such closures, so a sweep notifies it of a change of every dependency.
    private var readCount = 0
    private var isSweepDue = false
    private var lastSweep: UInt64?
    /// The minimum number of tracked reads between two sweeps.
    private static let minimumReads = 16_384
    private static let minimumPauseNanoseconds: UInt64 = 60_000_000_000
    /// The dependencies for which `willSet` was called and `didSet` was not called yet.
    private var changing: [ReadDependency] = []

    /// True if a Realm of this process has ever had `isOn` set, or if SwiftUI is available. While this is true, reads
    /// of unmanaged objects also check whether Observation is tracking.
    static let isInUse = Atomic<Bool>(isDefault)

    #if canImport(SwiftUI)
        static let isDefault = true
    #else
        static let isDefault = false
    #endif

    /// True if no dependency is tracked.
    var isEmpty: Bool { tracked.isEmpty }

    private func updateContext() { context?.hasTrackedReads = !tracked.isEmpty || !changing.isEmpty }

    /// True inside `withObservationTracking`.
    var isTracking: Bool { registrar.isTracking }

    // MARK: Reads

    /// Records a read if Observation is tracking.
    func record(_ dependency: ReadDependency) {
        guard registrar.isTracking else { return }
        registrar.access(dependency)
        tracked[dependency.table, default: TableDependencies()].insert(dependency)
        context?.hasTrackedReads = true
        readCount += 1
        if readCount >= Self.minimumReads { sweepSoon() }
    }

    // MARK: Sweeping unused closures

    // Schedules a sweep, at most once a minute. After a sweep, all active observers read again. With very many
    // observers and no limit, these reads would immediately cause the next sweep.
    private func sweepSoon() {
        guard !isSweepDue, let context else { return }
        let now = context.coordinator.environment.now()
        if let lastSweep, now < lastSweep + Self.minimumPauseNanoseconds { return }
        (isSweepDue, lastSweep) = (true, now)
        // The sweep is scheduled, because this method is called inside a tracking closure. If the Realm has no
        // scheduler, the next change of its version performs the sweep.
        let owner = context.reference
        context.scheduler?.schedule { (owner.object as? RealmContext)?.reads.sweep() }
    }

    /// Notifies Observation of a change of every dependency. Active observers then read again. Observation releases the
    /// closures of all other observers.
    private func sweep() {
        guard isSweepDue, changing.isEmpty else { return }
        willChangeAll()
        didChange()
    }

    // MARK: Changes

    /// Called when a property of a row is about to change.
    func willChange(_ property: PropertyIndex, of key: ObjectKey, in table: TableID) {
        guard let known = tracked[table] else { return }
        var dependencies: [ReadDependency] = []
        if known.byRow[key]?.columns.contains(property) == true {
            dependencies.append(.property(table, key, property))
        }
        if known.columns.contains(property) { dependencies.append(.column(table, property)) }
        notifyWillChange(dependencies)
    }

    /// Called when a row is about to be inserted.
    func willInsert(in table: TableID) {
        if tracked[table]?.rows == true { notifyWillChange([.rows(table)]) }
    }

    /// Called when a row is about to be deleted.
    func willDelete(_ key: ObjectKey, in table: TableID) {
        guard let known = tracked[table] else { return }
        notifyWillChange((known.rows ? [.rows(table)] : []) + dependencies(of: key, known, table))
    }

    /// Called when the Realm is about to move to another version.
    ///
    /// - Parameters:
    ///   - changes: the changes between the versions; nil if they are not known.
    ///   - isInverted: true if the changes are rolled back.
    func willChange(_ changes: ChangeSet?, isInverted: Bool) {
        guard let changes, !isSweepDue else { return willChangeAll() }
        var dependencies: [ReadDependency] = []
        for (table, known) in tracked.sorted(by: { $0.key < $1.key }) {
            guard let change = changes.tables[table] else { continue }
            if known.rows, !change.inserted.isEmpty || !change.deleted.isEmpty { dependencies.append(.rows(table)) }
            for column in known.columns where change.modified.contains(where: { $0.columns.contains(column) }) {
                dependencies.append(.column(table, column))
            }
            // A rollback also affects the rows that the write has deleted, because they exist again.
            let deletedOrRestored = isInverted ? change.inserted.union(change.deleted) : change.deleted
            for key in touched(change, known) {
                guard let row = known.byRow[key] else { continue }
                if deletedOrRestored.contains(key) {
                    dependencies += self.dependencies(of: key, known, table)
                } else {
                    let columns = change.columns(modifiedFor: key)
                    dependencies += row.columns.filter { columns.contains($0) }.map { .property(table, key, $0) }
                }
            }
        }
        notifyWillChange(dependencies)
    }

    // The keys of the rows to check. If more rows were read than changed, returns the changed rows that were read.
    // Otherwise returns all rows that were read.
    private func touched(_ change: TableChanges, _ known: TableDependencies) -> [ObjectKey] {
        let keys = change.touchedKeys
        return keys.count < known.byRow.count
            ? keys.filter { known.byRow[$0] != nil } : known.byRow.keys.sorted()
    }

    /// Called when all rows may be about to change or to be invalidated.
    func willChangeAll() {
        (readCount, isSweepDue) = (0, false)
        notifyWillChange(
            tracked.sorted { $0.key < $1.key }.flatMap { table, known in
                (known.rows ? [.rows(table)] : []) + known.columns.map { .column(table, $0) }
                    + known.byRow.keys.sorted().flatMap { dependencies(of: $0, known, table) }
            })
    }

    private func dependencies(of key: ObjectKey, _ known: TableDependencies, _ table: TableID) -> [ReadDependency] {
        guard let row = known.byRow[key] else { return [] }
        return row.columns.map { .property(table, key, $0) } + (row.existence ? [.row(table, key)] : [])
    }

    private func notifyWillChange(_ dependencies: [ReadDependency]) {
        if dependencies.isEmpty { return }
        // The dependencies are removed first: an observer may read again when it is notified, and these reads add the
        // dependencies for the next change. Exception: if the tracking closure itself makes the change, the
        // dependencies are kept. Observation starts to observe the closure's reads only when the closure has ended.
        if !registrar.isTracking { for dependency in dependencies { remove(dependency) } }
        changing += dependencies
        for dependency in dependencies { registrar.willSet(dependency) }
    }

    private func remove(_ dependency: ReadDependency) {
        tracked[dependency.table]?.remove(dependency)
        if tracked[dependency.table]?.isEmpty == true { tracked[dependency.table] = nil }
    }

    /// Called when the changes have happened.
    func didChange() {
        if changing.isEmpty { return }
        let dependencies = changing
        changing = []
        updateContext()
        for dependency in dependencies { registrar.didSet(dependency) }
    }
}
