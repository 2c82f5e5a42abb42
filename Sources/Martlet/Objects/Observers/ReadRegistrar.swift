import CMartletRuntime
import MartletEngine
import Observation

/// A part of the data that a tracked read depends on. When this part changes, the Observation framework is notified.
enum ReadDependency: Hashable {
    /// Whether a row exists.
    case row(TableID, ObjectKey)
    /// A property of one row.
    case property(TableID, ObjectKey, PropertyIndex)
    /// A property in all rows. Results are filtered or sorted by this property.
    case column(TableID, PropertyIndex)
    /// The set of rows of a table.
    case rows(TableID)

    var table: TableID {
        switch self {
        case .row(let table, _), .property(let table, _, _), .column(let table, _), .rows(let table): table
        }
    }

    /// The key of the row; nil if the dependency concerns all rows.
    var key: ObjectKey? {
        switch self {
        case .row(_, let key), .property(_, let key, _): key
        case .column, .rows: nil
        }
    }
}

/// The observable object for all tracked reads of one Realm. Each `ReadDependency` is represented by a key path of this
/// object.
///
/// Accessors have no registrars of their own, because most accessors are never tracked, and a registrar needs memory.
/// Such a registrar would also be deallocated with its accessor, although a later accessor of the same row can be
/// tracked.
final class ReadRegistrar: Observable {
    private let registrar = ObservationRegistrar()
    // Each registrar has a separate key path, because several threads may compute the hash of a key path at the same
    // time.
    private let probe: KeyPath<ReadRegistrar, Bool> = \.[Probe()]

    private subscript(probe: Probe) -> Bool { true }
    private subscript(dependency: ReadDependency) -> Bool { true }

    /// A value that detects whether Observation is tracking reads. Observation has no API for this. While Observation
    /// is tracking, and only then, it inserts the key path of each read into a set. The insertion computes the hash of
    /// the value, which increments a counter.
    private struct Probe: Hashable {
        static func == (left: Probe, right: Probe) -> Bool { true }
        // Each thread has a separate counter, because tracking on other threads does not matter.
        func hash(into hasher: inout Hasher) { cmartlet_increment_probe_hash_count() }
    }

    /// True inside `withObservationTracking` on this thread.
    var isTracking: Bool {
        let before = cmartlet_probe_hash_count()
        registrar.access(self, keyPath: probe)
        return cmartlet_probe_hash_count() != before
    }

    func access(_ dependency: ReadDependency) { registrar.access(self, keyPath: \.[dependency]) }
    func willSet(_ dependency: ReadDependency) { registrar.willSet(self, keyPath: \.[dependency]) }
    func didSet(_ dependency: ReadDependency) { registrar.didSet(self, keyPath: \.[dependency]) }

    // MARK: The spare registrar of a thread

    /// A registrar of the current thread that has no owner yet. It is used to detect whether the thread is tracking.
    static var spare: ReadRegistrar {
        if let known = cmartlet_thread_object() {
            return Unmanaged<ReadRegistrar>.fromOpaque(known).takeUnretainedValue()
        }
        let made = ReadRegistrar()
        cmartlet_set_thread_object(Unmanaged.passRetained(made).toOpaque())
        return made
    }

    /// Passes the spare registrar of the current thread to an owner. The tracked reads end when the owner releases the
    /// registrar.
    static func takeSpare() -> ReadRegistrar {
        let spare = spare
        if let known = cmartlet_thread_object() {
            cmartlet_set_thread_object(nil)
            Unmanaged<ReadRegistrar>.fromOpaque(known).release()
        }
        return spare
    }
}
