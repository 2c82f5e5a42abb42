import Dispatch
import MartletEngine

/// What observers of a collection hear of, with the state it leads to.
enum TrackedEvent<Change> {
    case initial
    case update(Change, PastElements?)
    /// The state is newer; the change, if there was one, is not to be told.
    case quiet(silenced: Change?)
    case failure(any Error)
}

/// Reads the elements that left a collection from the version before, which it keeps readable.
struct PastElements: Sendable {
    let read: @Sendable () throws -> [PastElement]
}

extension RealmContext {
    /// Registers an observer here or, after the same checks, on a queue. `begin` runs where it is observed, with the Realm
    /// of that place.
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

    /// A state, with the version that it is the state of where that is to stay readable.
    private struct Held<State> {
        let state: State
        let handle: SnapshotHandle?
    }

    /// Follows a collection: the first call is `.initial`, and nothing is told that changed nothing.
    ///
    /// - Parameter keepsPast: whether elements that leave the collection can be read as they were.
    func follow<Tracker: CollectionTracker>(
        _ tracker: Tracker, _ registration: Registration, keepsPast: Bool = false,
        _ tell: @escaping (TrackedEvent<Tracker.Change>, Tracker.State?, Version) -> Void
    ) {
        let coordinator = coordinator
        // The change is nil for the first call.
        typealias News = (change: Tracker.Change, past: PastElements?)?
        let entry = TrackingEntry<Held<Tracker.State>, News>(registration, delivered: version, known: nil) {
            known, changes, handle in
            let kept = keepsPast ? Self.kept(handle, coordinator) : nil
            guard let known else {
                let state = try tracker.firstState(changes, handle)
                return .init(state: Held(state: state, handle: kept), news: .some(nil), isLast: state.isOver)
            }
            let (state, change) = try tracker.advance(known.state, changes, handle)
            let old = known.state
            #if MARTLET_SEEDED_BUGS
                let before = SeededBug.isOn(.pastOfPresent) ? known.handle.map { _ in handle } : known.handle
            #else
                let before = known.handle
            #endif
            let past = before.map { handle in
                PastElements { try tracker.past(change, old, handle) }
            }
            return .init(
                state: Held(state: state, handle: kept), news: change.isEmpty ? nil : .some((change, past)),
                isLast: state.isOver)
        } tell: { event, held, version in
            switch event {
            case .news(let news): tell(news.map { .update($0.change, $0.past) } ?? .initial, held?.state, version)
            case .quiet(let silenced):
                tell(.quiet(silenced: silenced.flatMap { $0?.change }), held?.state, version)
            case .failure(let error): tell(.failure(error), held?.state, version)
            }
        }
        hub.add(entry)
    }

    /// The version itself: that which a write begins from will not be readable with the connection that writes.
    static func kept(_ handle: SnapshotHandle, _ coordinator: StoreCoordinator) -> SnapshotHandle? {
        if handle.isVersion { return handle }
        guard let newest = try? coordinator.openSnapshot(), newest.version == handle.version else { return nil }
        return newest
    }

    /// A tracker whose paths were checked before.
    func tracker<Tracker>(_ make: () throws(ResolvedPath.Failure) -> Tracker) -> Tracker {
        do {
            return try make()
        } catch {
            Misuse.query("'\(error.type)' has no property '\(error.name)'")
        }
    }
}

extension _CollectionEvent {
    /// Nil for what observers are not told.
    init?(_ event: TrackedEvent<CollectionChange>, _ kind: DeletedElement.Kind) {
        switch event {
        case .initial: self = .initial
        case .update(let change, let past): self = .update(CollectionChangeSet(change, past, kind))
        case .quiet: return nil
        case .failure(let error): self = .failure(error)
        }
    }
}
