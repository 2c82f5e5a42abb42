import MartletEngine
import Synchronization

/// What was read of a Realm inside of `withObservationTracking`, and is to be announced when it changes.
///
/// Each place is announced once: whoever is told reads again. Used on the Realm's executor only, but for `isInUse`.
final class ReadTracking {
    private struct RowMarks {
        /// Whether there is such a row.
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

    /// Whether every read is looked at. While it is not, held objects are read without a look at anything but their guard.
    @exclusivity(unchecked) var isOn = false {
        didSet { if isOn { Self.isInUse.store(true, ordering: .relaxed) } }
    }
    private lazy var registrar = ReadRegistrar()
    /// Owns this. Nil for a Realm that never tracks.
    @exclusivity(unchecked) unowned(unsafe) var context: RealmContext?
    private var marks: [TableID: Marks] = [:]
    /// Tracked reads since everything was last announced. Observation keeps the closure of each until one of its places
    /// changes, and does not say how many it keeps, nor for whom.
    private var readCount = 0
    private var isSweepDue = false
    private var lastSweep: UInt64?
    /// So many tracked reads, and so many nanoseconds, lie between two sweeps.
    private static let leastReads = 16_384
    private static let leastPause: UInt64 = 60_000_000_000
    /// Changes that were announced and are under way.
    private var announced: [ReadPlace] = []

    /// True once some Realm of the process tracks, or where SwiftUI does: reads of unmanaged objects are looked at then.
    static let isInUse = Atomic<Bool>(isDefault)

    #if canImport(SwiftUI)
        static let isDefault = true
    #else
        static let isDefault = false
    #endif

    /// True when nothing waits to be announced.
    var isEmpty: Bool { marks.isEmpty }

    private func settle() { context?.isNoting = !marks.isEmpty || !announced.isEmpty }

    /// True inside of `withObservationTracking`.
    var isTracking: Bool { registrar.isTracking }

    // MARK: Reads

    /// Takes note of what is read, if somebody tracks.
    func note(_ place: ReadPlace) {
        guard registrar.isTracking else { return }
        registrar.access(place)
        marks[place.table, default: Marks()].insert(place)
        context?.isNoting = true
        readCount += 1
        if readCount >= Self.leastReads { sweepSoon() }
    }

    // MARK: Those who do not wait any more

    // Not more than once a minute: what very many wait for would be read again without end.
    private func sweepSoon() {
        guard !isSweepDue, let context else { return }
        let now = context.coordinator.environment.now()
        if let lastSweep, now < lastSweep + Self.leastPause { return }
        (isSweepDue, lastSweep) = (true, now)
        // Not now, inside of a tracking closure. Where no turns are taken, with the next step to another version.
        let owner = context.reference
        context.scheduler?.schedule { (owner.object as? RealmContext)?.reads.sweep() }
    }

    /// Announces everything: whoever still waits reads again, and what was kept for the others is let go of.
    private func sweep() {
        guard isSweepDue, announced.isEmpty else { return }
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
        announce(places)
    }

    /// A row is about to be inserted.
    func willInsert(in table: TableID) {
        if marks[table]?.rows == true { announce([.rows(table)]) }
    }

    /// A row is about to be deleted.
    func willDelete(_ key: ObjectKey, in table: TableID) {
        guard let known = marks[table] else { return }
        announce((known.rows ? [.rows(table)] : []) + places(of: key, known, table))
    }

    /// A step to another version is about to change things; nil for no one knows what.
    func willChange(_ changes: ChangeSet?, isInverted: Bool) {
        guard let changes, !isSweepDue else { return willChangeAll() }
        var places: [ReadPlace] = []
        for (table, known) in marks.sorted(by: { $0.key < $1.key }) {
            guard let change = changes.tables[table] else { continue }
            if known.rows, !change.inserted.isEmpty || !change.deleted.isEmpty { places.append(.rows(table)) }
            for column in known.columns where change.modified.contains(where: { $0.columns.contains(column) }) {
                places.append(.column(table, column))
            }
            // What was deleted comes back when that is taken back.
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
        announce(places)
    }

    // The marked rows that changed, or all that are marked where that is less to look through.
    private func touched(_ change: TableChanges, _ known: Marks) -> [ObjectKey] {
        let keys = change.touchedKeys
        return keys.count < known.properties.count
            ? keys.filter { known.properties[$0] != nil } : known.properties.keys.sorted()
    }

    /// Everything is about to change, or to become invalidated.
    func willChangeAll() {
        (readCount, isSweepDue) = (0, false)
        announce(
            marks.sorted { $0.key < $1.key }.flatMap { table, known in
                (known.rows ? [.rows(table)] : []) + known.columns.map { .column(table, $0) }
                    + known.properties.keys.sorted().flatMap { places(of: $0, known, table) }
            })
    }

    private func places(of key: ObjectKey, _ known: Marks, _ table: TableID) -> [ReadPlace] {
        guard let row = known.properties[key] else { return [] }
        return row.columns.map { .property(table, key, $0) } + (row.row ? [.row(table, key)] : [])
    }

    private func announce(_ places: [ReadPlace]) {
        if places.isEmpty { return }
        // First of all: who is told may read again, and waits for the next change then. What is read in the same closure
        // that changes it is observed only when the closure ends, and waits for it.
        if !registrar.isTracking { for place in places { forget(place) } }
        announced += places
        for place in places { registrar.willSet(place) }
    }

    private func forget(_ place: ReadPlace) {
        marks[place.table]?.remove(place)
        if marks[place.table]?.isEmpty == true { marks[place.table] = nil }
    }

    /// What was announced has happened.
    func didChange() {
        if announced.isEmpty { return }
        let places = announced
        announced = []
        settle()
        for place in places { registrar.didSet(place) }
    }
}
