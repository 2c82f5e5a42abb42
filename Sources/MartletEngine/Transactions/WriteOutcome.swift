import Synchronization

/// Whether a write was committed, or has deleted the row again. The write shares this object with references to a row that
/// it has inserted: after a rollback or a deletion, another row may get the key of this row.
package final class WriteOutcome: Sendable {
    package enum State: UInt8, AtomicRepresentable, Sendable {
        case open, committed, cancelled
    }

    private let stored = Atomic<State>(.open)

    package init() {}

    package var state: State { stored.load(ordering: .acquiring) }

    func set(_ state: State) { stored.store(state, ordering: .releasing) }
}
