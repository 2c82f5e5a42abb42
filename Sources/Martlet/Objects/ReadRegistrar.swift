import CMartletRuntime
import MartletEngine
import Observation

/// What a tracked read asked for: when it changes, whoever read it is told.
enum ReadPlace: Hashable {
    /// Whether a row is there.
    case row(TableID, ObjectKey)
    /// A property of one row.
    case property(TableID, ObjectKey, PropertyIndex)
    /// A property of any row: what a result is filtered or sorted by.
    case column(TableID, PropertyIndex)
    /// Which rows there are.
    case rows(TableID)

    var table: TableID {
        switch self {
        case .row(let table, _), .property(let table, _, _), .column(let table, _), .rows(let table): table
        }
    }

    /// The row that is meant; nil for all.
    var key: ObjectKey? {
        switch self {
        case .row(_, let key), .property(_, let key, _): key
        case .column, .rows: nil
        }
    }
}

/// Stands before Observation for what is read of objects: places are key paths of one observable object.
///
/// A registrar of each object would be memory that most never need, and would be gone with the accessor while its row lives
/// on and is read through another.
final class ReadRegistrar: Observable {
    private let registrar = ObservationRegistrar()
    // A key path of its own for each: they may be hashed at once on several threads, but never change.
    private let probe: KeyPath<ReadRegistrar, Bool> = \.[Probe()]

    private subscript(probe: Probe) -> Bool { true }
    private subscript(place: ReadPlace) -> Bool { true }

    /// Observation does not say whether it is tracking; but it puts what is accessed into a set when it is, and only then,
    /// and whoever is put into a set is asked for a hash.
    private struct Probe: Hashable {
        static func == (left: Probe, right: Probe) -> Bool { true }
        // Each thread counts for itself: what others track is none of its business.
        func hash(into hasher: inout Hasher) { cmartlet_thread_count() }
    }

    /// True inside of `withObservationTracking` on this thread.
    var isTracking: Bool {
        let before = cmartlet_thread_counted()
        registrar.access(self, keyPath: probe)
        return cmartlet_thread_counted() != before
    }

    func access(_ place: ReadPlace) { registrar.access(self, keyPath: \.[place]) }
    func willSet(_ place: ReadPlace) { registrar.willSet(self, keyPath: \.[place]) }
    func didSet(_ place: ReadPlace) { registrar.didSet(self, keyPath: \.[place]) }

    // MARK: A thread's spare one

    /// One that belongs to nobody yet, to ask whether this thread is tracking.
    static var spare: ReadRegistrar {
        if let known = cmartlet_thread_spare() {
            return Unmanaged<ReadRegistrar>.fromOpaque(known).takeUnretainedValue()
        }
        let made = ReadRegistrar()
        cmartlet_set_thread_spare(Unmanaged.passRetained(made).toOpaque())
        return made
    }

    /// The spare one, to keep: what was accessed of it ends with its new owner.
    static func takeSpare() -> ReadRegistrar {
        let spare = spare
        if let known = cmartlet_thread_spare() {
            cmartlet_set_thread_spare(nil)
            Unmanaged<ReadRegistrar>.fromOpaque(known).release()
        }
        return spare
    }
}
