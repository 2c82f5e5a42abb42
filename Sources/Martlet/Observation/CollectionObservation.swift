import Dispatch
import MartletEngine

/// What observers of a collection hear of, with the state it leads to.
enum TrackedEvent<Change> {
    case initial
    case update(Change)
    /// The state is newer; the change, if there was one, is not to be told.
    case quiet(silenced: Change?)
    case failure(any Error)
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

    /// Follows a collection: the first call is `.initial`, and nothing is told that changed nothing.
    func follow<Tracker: CollectionTracker>(
        _ tracker: Tracker, _ registration: Registration,
        _ tell: @escaping (TrackedEvent<Tracker.Change>, Tracker.State?, Version) -> Void
    ) {
        // The change is nil for the first call.
        let entry = TrackingEntry<Tracker.State, Tracker.Change?>(registration, delivered: version, known: nil) {
            known, changes, handle in
            guard let known else {
                let state = try tracker.state(handle)
                return .init(state: state, news: .some(nil), isLast: state.isOver)
            }
            let (state, change) = try tracker.advance(known, changes, handle)
            return .init(state: state, news: change.isEmpty ? nil : .some(change), isLast: state.isOver)
        } tell: { event, state, version in
            switch event {
            case .news(let change): tell(change.map { .update($0) } ?? .initial, state, version)
            case .quiet(let silenced): tell(.quiet(silenced: silenced ?? nil), state, version)
            case .failure(let error): tell(.failure(error), state, version)
            }
        }
        hub.add(entry)
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
    init?(_ event: TrackedEvent<CollectionChange>) {
        switch event {
        case .initial: self = .initial
        case .update(let change): self = .update(CollectionChangeSet(change))
        case .quiet: return nil
        case .failure(let error): self = .failure(error)
        }
    }
}
