import Dispatch
import Foundation
import MartletEngine

/// The observers of one Realm: computes what to tell them in the background, and tells them on the Realm's executor.
///
/// Ledger: `state` and the entries in it are guarded by `lock`; `context` and callbacks are used on the executor only.
/// The hub never calls a user's closure while it holds the lock.
// Sendable by the ledger above.
final class ObservationHub: @unchecked Sendable {
    private struct State {
        var entries: [ObservationEntry] = []
        /// How many of them the coordinator knows of.
        var counted = 0
        var realmObservers: [(token: WeakToken, block: (Realm.Notification, Realm) -> Void)] = []
        /// The snapshot that pending results of the background lead to.
        var computed: SnapshotHandle?
        /// A background run is queued or under way.
        var isComputing = false
        /// Something was committed that no run has seen.
        var isBehind = false
        var isTurnScheduled = false
    }

    private struct WeakToken {
        weak var token: NotificationToken?
    }

    private weak var context: RealmContext?
    private let contextID: ObjectIdentifier
    private let coordinator: StoreCoordinator
    private let scheduler: Scheduler?
    private let lock = NSLock()
    private var state = State()
    private static let queue = DispatchQueue(label: "martlet.notifications", qos: .userInitiated, attributes: .concurrent)
    // Used on the executor only.
    private var isDelivering = false

    init(_ context: RealmContext) {
        self.context = context
        contextID = ObjectIdentifier(context)
        coordinator = context.coordinator
        scheduler = context.scheduler
    }

    private func locked<R>(_ body: (inout State) throws -> R) rethrows -> R {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state)
    }

    // MARK: Registration

    var hasEntries: Bool { locked { !$0.entries.isEmpty } }

    func add(_ entry: ObservationEntry) {
        locked { state in
            state.entries.append(entry)
            dropEnded(&state)
        }
        signal()
    }

    func add(_ token: NotificationToken, _ block: @escaping (Realm.Notification, Realm) -> Void) {
        locked { state in
            state.realmObservers.removeAll { $0.token.token == nil }
            state.realmObservers.append((WeakToken(token: token), block))
        }
    }

    private func dropEnded(_ state: inout State) {
        state.entries.removeAll { !$0.isAlive }
        coordinator.addObservers(state.entries.count - state.counted)
        state.counted = state.entries.count
    }

    deinit { coordinator.addObservers(-state.counted) }

    // MARK: Signals

    /// Something was committed by whoever; a hint, on any thread.
    func signal() {
        let starts = locked { state in
            if state.isComputing || state.computed != nil {
                state.isBehind = true
                return false
            }
            state.isComputing = true
            return true
        }
        if starts { Self.queue.async { [self] in compute() } }
    }

    private func compute() {
        // Registered by hand only, or not at all: nobody waits for a turn.
        guard scheduler != nil, let handle = try? coordinator.openSnapshot() else {
            locked { $0.isComputing = false }
            return
        }
        locked { state in
            state.isBehind = false
            prepare(&state, handle)
            state.isComputing = false
            state.computed = handle
        }
        scheduleTurn()
    }

    private func scheduleTurn() {
        let schedules = locked { state in
            defer { state.isTurnScheduled = true }
            return !state.isTurnScheduled
        }
        guard schedules else { return }
        scheduler?.schedule { [weak self] in self?.turn() }
    }

    /// Works out what every observer is to be told at `handle`.
    private func prepare(_ state: inout State, _ handle: SnapshotHandle) {
        dropEnded(&state)
        var known: [Version: ObservationEntry.Changes] = [:]
        for entry in state.entries where entry.pending != handle.version && entry.delivered <= handle.version {
            if entry.delivered == handle.version && !entry.isNew { continue }
            let changes: ObservationEntry.Changes
            if let found = known[entry.delivered] {
                changes = found
            } else {
                changes = try? coordinator.changes(after: entry.delivered, through: handle.version, handle)
                known[entry.delivered] = changes
            }
            entry.prepare(changes, handle)
        }
    }

    // MARK: Delivery, on the executor

    /// The scheduler's turn: moves to the newest version already computed, and tells.
    private func turn() {
        let computed = locked { state in
            state.isTurnScheduled = false
            defer { state.computed = nil }
            return state.computed
        }
        defer { if locked({ $0.isBehind }) { signal() } }
        guard let context, let computed, !context.isInWrite, !isDelivering else { return }
        guard context.hasSnapshot || context.autorefresh else { return deliverInPlace(context) }
        let before = context.version
        if computed.version < before { return deliverInPlace(context) }
        if computed.version > before {
            guard context.autorefresh else {
                tellRealm(.refreshRequired, context)
                return deliverInPlace(context)
            }
            context.advance(to: computed)
            tellRealm(.didChange, context)
        }
        deliver(context)
    }

    /// Computes at what the Realm shows now, and tells.
    private func deliverInPlace(_ context: RealmContext) {
        let handle = context.handle
        locked { prepare(&$0, handle) }
        deliver(context)
    }

    /// Moves to the newest version and tells; false when there was nothing new.
    func refresh(_ context: RealmContext) -> Bool {
        guard !isDelivering, !context.isInWrite else { return false }
        let before = context.version
        guard let newest = try? coordinator.openSnapshot() else { return false }
        let hadNews = newest.version > before
        if hadNews {
            context.advance(to: newest)
            tellRealm(.didChange, context)
        }
        deliverInPlace(context)
        return hadNews
    }

    /// Before a write: everything up to the version it starts from.
    func deliverBeforeWrite(_ context: RealmContext, movedFrom before: Version?) {
        if let before, before != context.version { tellRealm(.didChange, context) }
        guard hasEntries else { return }
        let wasDelivering = isDelivering
        isDelivering = false
        deliverInPlace(context)
        isDelivering = wasDelivering
    }

    /// After a commit of this Realm: silenced observers count it as known.
    func committed(_ context: RealmContext, silencing tokens: Set<ObjectIdentifier>) {
        if !tokens.isEmpty {
            let handle = context.handle
            locked { state in
                for entry in state.entries {
                    guard let token = entry.token, tokens.contains(ObjectIdentifier(token)), !entry.isNew else { continue }
                    let changes = try? coordinator.changes(after: entry.delivered, through: handle.version, handle)
                    entry.prepare(changes, handle)
                    entry.skip()
                }
            }
        }
        tellRealm(.didChange, context, except: tokens)
        if hasEntries { signal() }
    }

    private func deliver(_ context: RealmContext) {
        isDelivering = true
        defer { isDelivering = false }
        let entries = locked { $0.entries }
        for entry in entries {
            let call = locked { _ in entry.isAlive ? entry.take() : nil }
            // Held for the call, so that ending oneself inside it is safe.
            let token = entry.token
            withExtendedLifetime(token) { call?() }
        }
    }

    private func tellRealm(_ notification: Realm.Notification, _ context: RealmContext, except silenced: Set<ObjectIdentifier> = []) {
        let observers = locked { $0.realmObservers }
        for (weak, block) in observers {
            guard let token = weak.token, !token.isInvalidated, !silenced.contains(ObjectIdentifier(token)) else { continue }
            block(notification, Realm(context))
        }
    }
}

extension Realm {
    /// What happened to a Realm.
    public enum Notification: Sendable {
        /// It shows something else than before.
        case didChange
        /// There is a newer version, and `autorefresh` is off: call `refresh()`.
        case refreshRequired
    }
}
