import Dispatch
import MartletEngine

/// An event of a tracked collection. It is delivered together with the state after the event.
enum TrackedEvent<Change> {
    case initial
    case update(Change, RemovedElementsReader?)
    /// The state is newer, but the observer is not notified. `silenced` is the change made by a silent write; nil if no
    /// silent write made a change.
    case stateOnly(silenced: Change?)
    case failure(any Error)
}

/// Reads the elements that were removed from a collection. It keeps the previous version pinned.
struct RemovedElementsReader: Sendable {
    let read: @Sendable () throws -> [RemovedElement]
}

extension RealmContext {
    /// Registers an observer on the current executor or on a queue. `begin` runs on the executor of the observer, with
    /// the Realm of that executor.
    func observe(
        on queue: DispatchQueue?, _ fail: @escaping (any Error) -> Void,
        _ begin: @escaping (RealmContext, Registration) -> Void
    ) -> NotificationToken {
        guard let queue else {
            let token = NotificationToken(self)
            begin(self, token.registration)
            return token
        }
        return observe(on: queue, fail, begin)
    }

    /// A state. If its version must stay readable, also a snapshot of that version.
    private struct RetainedState<State> {
        let state: State
        let handle: SnapshotHandle?
    }

    /// Registers an observer of a collection. The first call is `.initial`. Commits that change nothing in the
    /// collection are not reported.
    ///
    /// - Parameter keepsDeleted: whether removed elements can be read as they were before the change.
    func registerObserver<Tracker: CollectionTracker>(
        _ tracker: Tracker, _ registration: Registration, keepsDeleted: Bool = false,
        _ notify: @escaping (TrackedEvent<Tracker.Change>, Tracker.State?, Version) -> Void
    ) {
        let coordinator = coordinator
        // An `Update` is nil for the first call.
        typealias Update = (change: Tracker.Change, past: RemovedElementsReader?)?
        let entry = TrackingEntry<RetainedState<Tracker.State>, Update>(
            registration, deliveredVersion: version, known: nil
        ) {
            known, changes, handle in
            let kept = keepsDeleted ? Self.separateSnapshot(handle, coordinator) : nil
            guard let known else {
                let state = try tracker.firstState(changes, handle)
                return .init(
                    state: RetainedState(state: state, handle: kept), change: .some(nil), isLast: state.isInvalidated)
            }
            let (state, change) = try tracker.advance(known.state, changes, handle)
            let old = known.state
            #if MARTLET_SEEDED_BUGS
                let before =
                    SeededBug.isOn(.deletedElementsFromNewVersion) ? known.handle.map { _ in handle } : known.handle
            #else
                let before = known.handle
            #endif
            let past = before.map { handle in
                RemovedElementsReader { try tracker.removedElements(change, old, handle) }
            }
            return .init(
                state: RetainedState(state: state, handle: kept), change: change.isEmpty ? nil : .some((change, past)),
                isLast: state.isInvalidated)
        } notify: { event, known, version in
            switch event {
            case .change(let change):
                notify(change.map { .update($0.change, $0.past) } ?? .initial, known?.state, version)
            case .stateOnly(let silenced):
                notify(.stateOnly(silenced: silenced.flatMap { $0?.change }), known?.state, version)
            case .failure(let error): notify(.failure(error), known?.state, version)
            }
        }
        hub.add(entry)
    }

    /// A snapshot of the version of `handle` that stays readable during a write; nil if it cannot be opened. If
    /// `handle` is the snapshot from which a write starts, it shares its connection with the writer, so another
    /// snapshot is opened. Otherwise returns `handle` itself.
    static func separateSnapshot(_ handle: SnapshotHandle, _ coordinator: StoreCoordinator) -> SnapshotHandle? {
        if handle.isUnmodified { return handle }
        guard let newest = try? coordinator.openSnapshot(), newest.version == handle.version else { return nil }
        return newest
    }

    /// Creates a tracker. The caller has checked the key paths.
    func tracker<Tracker>(_ make: () throws(ResolvedPath.Failure) -> Tracker) -> Tracker {
        do {
            return try make()
        } catch {
            Misuse.query("'\(error.type)' has no property '\(error.name)'")
        }
    }
}

extension _CollectionEvent {
    /// Nil for an event that is not reported to observers.
    init?(_ event: TrackedEvent<CollectionChange>, _ schema: DeletedElement.ElementSchema) {
        switch event {
        case .initial: self = .initial
        case .update(let change, let past): self = .update(CollectionChangeSet(change, past, schema))
        case .stateOnly: return nil
        case .failure(let error): self = .failure(error)
        }
    }
}
