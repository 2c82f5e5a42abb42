import MartletEngine

/// One observer of a collection or object: the state that it knows, and the call that is prepared for it.
///
/// Thread safety: the hub's lock guards all mutable properties. The known state, `generation`, `hasEnded` and
/// `failedVersion` are changed on the executor only.
class ObservationEntry {
    typealias Changes = (changes: ChangeSet, oldRows: RowImages)?

    /// Ended by the notification token.
    let registration: Registration
    let interest: ObserverInterest
    /// The position among all observers of the Realm, in the order of registration.
    var number = 0
    /// False while no commit affects the observer. Its state is then also valid for versions after `deliveredVersion`.
    var isActive = false
    /// The version whose state the observer knows.
    fileprivate(set) var deliveredVersion: Version {
        didSet { deliveredFailure = nil }
    }
    /// The kind of the last failure that the observer was notified of; nil after the next delivered version.
    private var deliveredFailure: String?
    /// Incremented when the observer gets a newer state. Results that were computed from an older state are then
    /// invalid.
    fileprivate(set) var generation = 0
    /// The call that a background computation has prepared.
    var prepared: PreparedCall?
    /// True if no further change is possible, for example after the object was deleted.
    fileprivate(set) var hasEnded = false
    /// The newest version for which the computation failed.
    fileprivate var failedVersion: Version = 0
    /// Silent commits that were made before an older change was delivered.
    var pendingSilentCommits: [SilentCommits] = []

    init(_ registration: Registration, _ interest: ObserverInterest, deliveredVersion: Version) {
        self.registration = registration
        self.interest = interest
        self.deliveredVersion = deliveredVersion
    }

    /// True before the first call.
    var isNew: Bool { false }

    /// The state that the observer knows, for tests.
    var state: Any? { nil }

    var isAlive: Bool { !hasEnded && !registration.isEnded }

    /// True if this observer is one of `registrations`, the observers that a silent commit excludes. False before the
    /// first call of the observer.
    func isSilenced(by registrations: Set<ObjectIdentifier>) -> Bool {
        isAlive && !isNew && registrations.contains(ObjectIdentifier(registration))
    }

    /// True if a silent commit excludes this observer, and the observer has not been notified of all versions up to
    /// `base` yet.
    func isSilenced(by registrations: Set<ObjectIdentifier>, before base: Version) -> Bool {
        deliveredVersion < base && isSilenced(by: registrations)
    }

    /// True if the observer still has to skip a silent commit that starts before `version`.
    func isSilenced(before version: Version) -> Bool { pendingSilentCommits.first.map { $0.start < version } ?? false }

    /// True if the observer has no pending change up to `version`.
    func canSuspend(_ version: Version) -> Bool {
        if case .anything = interest { return false }
        return !isNew && deliveredVersion >= version && prepared == nil && pendingSilentCommits.isEmpty
    }

    /// Marks the versions up to `version` as delivered. They do not affect the observer.
    func catchUp(to version: Version) { deliveredVersion = max(deliveredVersion, version) }

    /// Called when the versions after `version` were rolled back, because a group of writes failed. Has an effect only
    /// on an observer that was registered between these writes.
    func rollBack(to version: Version) { deliveredVersion = min(deliveredVersion, version) }

    /// True if the observer has to be notified of the changes up to `version`. False while the observer is paused.
    func needs(_ version: Version) -> Bool {
        #if MARTLET_SEEDED_BUGS
            let isPaused = registration.isPaused && !SeededBug.isOn(.busyLoopNotified)
        #else
            let isPaused = registration.isPaused
        #endif
        return !isPaused && isBehind(version)
    }

    /// True if the observer does not know the state at `version` yet, even if the observer is paused.
    func isBehind(_ version: Version) -> Bool {
        isAlive && deliveredVersion <= version && (isNew || deliveredVersion < version) && failedVersion < version
    }

    /// Removes and returns the pending results. They will not be delivered.
    func takePendingResults() -> (PreparedCall?, [SnapshotHandle]) {
        defer { (prepared, pendingSilentCommits) = (nil, []) }
        return (prepared, pendingSilentCommits.flatMap { [$0.base, $0.handle].compactMap { $0 } })
    }

    /// Removes and returns the prepared call if the observer is paused, because the call would keep a version pinned.
    /// The call is computed again later.
    func takePausedCall() -> PreparedCall? {
        guard registration.isPaused else { return nil }
        defer { prepared = nil }
        return prepared
    }

    /// Records a silent commit that follows an older undelivered change.
    ///
    /// - Returns: a value that is no longer needed. The caller releases it without holding the lock.
    func appendSilent(_ commits: SilentCommits) -> SilentCommits? {
        guard let last = pendingSilentCommits.last, last.handle.version == commits.start else {
            pendingSilentCommits.append(commits)
            return nil
        }
        pendingSilentCommits[pendingSilentCommits.count - 1].handle = commits.handle
        return SilentCommits(start: last.start, base: commits.base, handle: last.handle)
    }

    /// True if the observer has no pending change at `version`, or if its call is prepared.
    func isReady(for version: Version) -> Bool {
        !needs(version) || prepared.map { $0.isValid && $0.version == version } ?? false
    }

    /// The call that notifies the observer of a failure. Nil if the observer is paused, or if it was already notified
    /// of this kind of failure. Until the cause is removed, the failure repeats after each commit of another process.
    func firstFailureCall(_ error: any Error) -> (() -> Void)? {
        let kind = (error as? Realm.Error)?.code.rawValue ?? "\(error)"
        guard isAlive, !registration.isPaused, deliveredFailure != kind else { return nil }
        deliveredFailure = kind
        return failureCall(error)
    }

    /// The call that notifies the observer of a failure. The closure is created under the lock and called without it.
    func failureCall(_ error: any Error) -> (() -> Void)? { nil }

    /// The work that computes a newer state. It is done without the lock.
    func job() -> ObservationJob {
        ObservationJob(entry: self, generation: generation, start: deliveredVersion) { _, _ in { _ in nil } }
    }
}

/// Consecutive silent commits.
struct SilentCommits {
    /// The version before the commits.
    let start: Version
    /// A snapshot of the version `start`, with which earlier changes are computed; nil if it could not be opened.
    let base: SnapshotHandle?
    /// The snapshot after the commits.
    var handle: SnapshotHandle
}

/// A computation for one observer, done in the background or in `refresh()`.
struct ObservationJob {
    let entry: ObservationEntry
    let generation: Int
    let start: Version
    let run: (ObservationEntry.Changes, SnapshotHandle) -> Acceptance

    /// Installs a result as the known state, under the lock, and returns the call that notifies the observer. If
    /// `isSilent` is true, the call updates the state of the observation, but the observer is not notified.
    typealias Acceptance = (_ isSilent: Bool) -> (() -> Void)?

    func prepare(_ changes: ObservationEntry.Changes, _ handle: SnapshotHandle) -> PreparedCall {
        PreparedCall(entry: entry, generation: generation, handle: handle, accept: run(changes, handle))
    }
}

/// A computed result that has not been delivered yet.
struct PreparedCall {
    let entry: ObservationEntry
    let generation: Int
    let handle: SnapshotHandle
    let accept: ObservationJob.Acceptance

    var version: Version { handle.version }

    var isValid: Bool {
        #if MARTLET_SEEDED_BUGS
            if SeededBug.isOn(.notifiedTwice) { return entry.isAlive }
            if SeededBug.isOn(.invalidatedObserverCalled) { return entry.generation == generation }
        #endif
        return entry.isAlive && entry.generation == generation
    }
}

/// An entry that tracks a `State` and reports changes of type `Change`.
final class TrackingEntry<State, Change>: ObservationEntry {
    /// A newer state, and the change that led to it.
    struct Step {
        let state: State
        var change: Change?
        var isLast = false
    }

    enum Event {
        case change(Change)
        /// The state is newer, but the observer is not notified: nothing changed, or the change was silenced.
        case stateOnly(silenced: Change?)
        case failure(any Error)
    }

    private let advance: (State?, Changes, SnapshotHandle) throws -> Step
    private let notify: (Event, State?, Version) -> Void
    private var known: State?

    init(
        _ registration: Registration, _ interest: ObserverInterest = .anything, deliveredVersion: Version,
        known: State?,
        advance: @escaping (State?, Changes, SnapshotHandle) throws -> Step,
        notify: @escaping (Event, State?, Version) -> Void
    ) {
        self.known = known
        self.advance = advance
        self.notify = notify
        super.init(registration, interest, deliveredVersion: deliveredVersion)
    }

    override var isNew: Bool { known == nil }

    override var state: Any? { known }

    override func job() -> ObservationJob {
        let (known, advance) = (known, advance)
        return ObservationJob(entry: self, generation: generation, start: deliveredVersion) { [self] changes, handle in
            do {
                let step = try advance(known, changes, handle)
                return { [self] isSilent in install(step, handle.version, isSilent) }
            } catch {
                let failure = Realm.Error.translated(error, path: handle.path)
                return { [self] _ in fail(failure, handle.version) }
            }
        }
    }

    private func install(_ step: Step, _ version: Version, _ isSilent: Bool) -> (() -> Void)? {
        known = step.state
        deliveredVersion = version
        generation += 1
        hasEnded = step.isLast
        let event: Event =
            isSilent ? .stateOnly(silenced: step.change) : step.change.map { .change($0) } ?? .stateOnly(silenced: nil)
        return { [notify, registration] in
            notify(event, step.state, version)
            if step.isLast { registration.noChangeCanFollow() }
        }
    }

    // The known state does not change. The next change is computed from this state, so no change is lost.
    private func fail(_ error: any Error, _ version: Version) -> (() -> Void)? {
        failedVersion = version
        return firstFailureCall(error)
    }

    override func failureCall(_ error: any Error) -> (() -> Void)? {
        { [notify, known, deliveredVersion] in notify(.failure(error), known, deliveredVersion) }
    }
}
