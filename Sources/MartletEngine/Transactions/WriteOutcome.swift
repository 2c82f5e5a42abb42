import Synchronization

/// The outcome of a write for the rows that it has inserted. The write shares this object with the references to these
/// rows, so that a reference can detect that its row is gone. The key does not show this, because another row may get
/// the same key after a rollback or a deletion.
package final class WriteOutcome: Sendable {
    package enum State: UInt8, AtomicRepresentable, Sendable {
        case open, committed
        /// The write was rolled back, or it has deleted the row again.
        case cancelled
    }

    private let stored = Atomic<State>(.open)

    package init() {}

    package var state: State { stored.load(ordering: .acquiring) }

    func set(_ state: State) { stored.store(state, ordering: .releasing) }
}
