import CMartletRuntime
import MartletEngine
import Observation

/// What a tracked read depends on. When it changes, Observation is notified.
enum ReadPlace: Hashable {
    /// Whether a row exists.
    case row(TableID, ObjectKey)
    /// A property of one row.
    case property(TableID, ObjectKey, PropertyIndex)
    /// A property of all rows, by which results are filtered or sorted.
    case column(TableID, PropertyIndex)
    /// The set of rows of a table.
    case rows(TableID)

    var table: TableID {
        switch self {
        case .row(let table, _), .property(let table, _, _), .column(let table, _), .rows(let table): table
        }
    }

    /// The key of the row; nil for all rows.
    var key: ObjectKey? {
        switch self {
        case .row(_, let key), .property(_, let key, _): key
        case .column, .rows: nil
        }
    }
}

/// The observable object that represents all tracked reads of one Realm. Each `ReadPlace` is a key path of this object.
///
/// A registrar for each accessor would cost memory that most accessors do not need. It would also be deallocated with the
/// accessor, although the row can still be read through another one.
final class ReadRegistrar: Observable {
    private let registrar = ObservationRegistrar()
    // Each registrar has a separate key path, because several threads may hash key paths at the same time.
    private let probe: KeyPath<ReadRegistrar, Bool> = \.[Probe()]

    private subscript(probe: Probe) -> Bool { true }
    private subscript(place: ReadPlace) -> Bool { true }

    /// Detects whether Observation is tracking, for which it has no API. If it is tracking, and only then, it inserts the
    /// accessed key path into a set, which computes the hash of this value.
    private struct Probe: Hashable {
        static func == (left: Probe, right: Probe) -> Bool { true }
        // The counter is per thread, because tracking on other threads does not matter.
        func hash(into hasher: inout Hasher) { cmartlet_increment_thread_counter() }
    }

    /// True inside `withObservationTracking` on this thread.
    var isTracking: Bool {
        let before = cmartlet_thread_counter()
        registrar.access(self, keyPath: probe)
        return cmartlet_thread_counter() != before
    }

    func access(_ place: ReadPlace) { registrar.access(self, keyPath: \.[place]) }
    func willSet(_ place: ReadPlace) { registrar.willSet(self, keyPath: \.[place]) }
    func didSet(_ place: ReadPlace) { registrar.didSet(self, keyPath: \.[place]) }

    // MARK: The spare registrar of a thread

    /// A registrar of the current thread without an owner, used to detect whether the thread is tracking.
    static var spare: ReadRegistrar {
        if let known = cmartlet_thread_object() {
            return Unmanaged<ReadRegistrar>.fromOpaque(known).takeUnretainedValue()
        }
        let made = ReadRegistrar()
        cmartlet_set_thread_object(Unmanaged.passRetained(made).toOpaque())
        return made
    }

    /// Takes the spare registrar of the current thread. Its tracked reads end when the new owner releases it.
    static func takeSpare() -> ReadRegistrar {
        let spare = spare
        if let known = cmartlet_thread_object() {
            cmartlet_set_thread_object(nil)
            Unmanaged<ReadRegistrar>.fromOpaque(known).release()
        }
        return spare
    }
}
