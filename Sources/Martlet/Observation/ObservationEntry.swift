import MartletEngine

/// One observer of a collection or object: what it was last told, and what it is to be told next.
///
/// Ledger: everything that can change is guarded by the hub's lock, and changed on the executor only, but for `prepared`.
class ObservationEntry {
    typealias Changes = (changes: ChangeSet, oldRows: RowImages)?

    /// Ends with the token.
    let registration: Registration
    let interest: ObserverInterest
    /// The place in the order of all observers of the Realm.
    var number = 0
    /// False while nothing has happened that may concern the observer: then it knows more than `delivered` says.
    var isAwake = false
    /// The version whose state the observer knows.
    fileprivate(set) var delivered: Version {
        didSet { deliveredFailure = nil }
    }
    /// The kind of failure that the observer was last notified of; nil once a version has been delivered after it.
    private var deliveredFailure: String?
    /// Counts how often the observer has come to know a newer state: results that were computed for an older one are void.
    fileprivate(set) var generation = 0
    /// What the background has worked out.
    var prepared: PreparedCall?
    /// Nothing can happen any more, as to a deleted object.
    fileprivate(set) var isOver = false
    /// The newest version at which working out what to tell failed.
    fileprivate var failedVersion: Version = 0
    /// Commits that are not to be told, made before an older change was told.
    var silenced: [SilencedStretch] = []

    init(_ registration: Registration, _ interest: ObserverInterest, delivered: Version) {
        self.registration = registration
        self.interest = interest
        self.delivered = delivered
    }

    /// True while the first call has not been made.
    var isNew: Bool { false }

    /// What the observer knows, for checks.
    var state: Any? { nil }

    var isAlive: Bool { !isOver && !registration.isEnded }

    /// True when commits that are silent for some are silent for this one, once it has had its first call.
    func isSilenced(by registrations: Set<ObjectIdentifier>) -> Bool {
        isAlive && !isNew && registrations.contains(ObjectIdentifier(registration))
    }

    /// The same, where what led to such a commit is still to be told.
    func isSilenced(by registrations: Set<ObjectIdentifier>, before base: Version) -> Bool {
        delivered < base && isSilenced(by: registrations)
    }

    /// True when commits that are not to be told lead to a version, or lie before it.
    func isSilenced(before version: Version) -> Bool { silenced.first.map { $0.start < version } ?? false }

    /// True when there is nothing to tell of any version up to `version`.
    func canSleep(_ version: Version) -> Bool {
        if case .anything = interest { return false }
        return !isNew && delivered >= version && prepared == nil && silenced.isEmpty
    }

    /// Nothing that concerns the observer has happened up to a version.
    func catchUp(to version: Version) { delivered = max(delivered, version) }

    /// True when the state known is older than a version.
    func needs(_ version: Version) -> Bool {
        #if MARTLET_SEEDED_BUGS
            let isPaused = registration.isPaused && !SeededBug.isOn(.busyLoopTold)
        #else
            let isPaused = registration.isPaused
        #endif
        return !isPaused && isBehind(version)
    }

    /// The same, whether somebody wants to be told or not.
    func isBehind(_ version: Version) -> Bool {
        isAlive && delivered <= version && (isNew || delivered < version) && failedVersion < version
    }

    /// Takes out what waits to be told: it is not to be told any more.
    func takeResults() -> (PreparedCall?, [SnapshotHandle]) {
        defer { (prepared, silenced) = (nil, []) }
        return (prepared, silenced.flatMap { [$0.base, $0.handle].compactMap { $0 } })
    }

    /// Takes out what was worked out for somebody who pauses: it will be worked out anew, and would keep a version in use.
    func takeUnwanted() -> PreparedCall? {
        guard registration.isPaused else { return nil }
        defer { prepared = nil }
        return prepared
    }

    /// Takes note of a commit that is not to be told, after an older change that still is.
    ///
    /// - Returns: what is not needed any more, to be released without the lock.
    func silence(_ stretch: SilencedStretch) -> SilencedStretch? {
        guard let last = silenced.last, last.handle.version == stretch.start else {
            silenced.append(stretch)
            return nil
        }
        silenced[silenced.count - 1].handle = stretch.handle
        return SilencedStretch(start: last.start, base: stretch.base, handle: last.handle)
    }

    /// True when there is nothing to be told of a version, or what there is has been worked out.
    func isReady(for version: Version) -> Bool {
        !needs(version) || prepared.map { $0.isValid && $0.version == version } ?? false
    }

    /// The call that notifies of a failure; nil where the observer pauses, or knows it: each commit of other processes fails in the
    /// same way until the cause is gone.
    func firstFailureCall(_ error: any Error) -> (() -> Void)? {
        let kind = (error as? Realm.Error)?.code.rawValue ?? "\(error)"
        guard isAlive, !registration.isPaused, deliveredFailure != kind else { return nil }
        deliveredFailure = kind
        return failureCall(error)
    }

    /// The call that tells of a failure; made under the lock, called outside of it.
    func failureCall(_ error: any Error) -> (() -> Void)? { nil }

    /// The work that leads to a newer state, to be done without the lock.
    func job() -> ObservationJob {
        ObservationJob(entry: self, generation: generation, start: delivered) { _, _ in { _ in nil } }
    }
}

/// Commits in a row that are not to be told.
struct SilencedStretch {
    /// The version before them.
    let start: Version
    /// That version, to work out what is to be told before; nil where it could not be opened.
    let base: SnapshotHandle?
    /// What they lead to.
    var handle: SnapshotHandle
}

/// Work for the background, or for `refresh()`.
struct ObservationJob {
    let entry: ObservationEntry
    let generation: Int
    let start: Version
    let run: (ObservationEntry.Changes, SnapshotHandle) -> Acceptance

    /// Takes a result over as the known state, under the lock, and returns the call that tells it, or keeps it quiet.
    typealias Acceptance = (_ isSilent: Bool) -> (() -> Void)?

    func prepare(_ changes: ObservationEntry.Changes, _ handle: SnapshotHandle) -> PreparedCall {
        PreparedCall(entry: entry, generation: generation, handle: handle, accept: run(changes, handle))
    }
}

/// A result that waits to be taken over and told.
struct PreparedCall {
    let entry: ObservationEntry
    let generation: Int
    let handle: SnapshotHandle
    let accept: ObservationJob.Acceptance

    var version: Version { handle.version }

    var isValid: Bool {
        #if MARTLET_SEEDED_BUGS
            if SeededBug.isOn(.toldTwice) { return entry.isAlive }
            if SeededBug.isOn(.endedIsCalled) { return entry.generation == generation }
        #endif
        return entry.isAlive && entry.generation == generation
    }
}

/// An entry whose knowledge is a `State`, and who is told `News`.
final class TrackingEntry<State, News>: ObservationEntry {
    /// A newer state, and what to tell of it.
    struct Step {
        let state: State
        var news: News?
        var isLast = false
    }

    enum Event {
        case news(News)
        /// The state is newer and there is nothing to tell, or what there is was silenced.
        case quiet(silenced: News?)
        case failure(any Error)
    }

    private let advance: (State?, Changes, SnapshotHandle) throws -> Step
    private let tell: (Event, State?, Version) -> Void
    private var known: State?

    init(
        _ registration: Registration, _ interest: ObserverInterest = .anything, delivered: Version, known: State?,
        advance: @escaping (State?, Changes, SnapshotHandle) throws -> Step,
        tell: @escaping (Event, State?, Version) -> Void
    ) {
        self.known = known
        self.advance = advance
        self.tell = tell
        super.init(registration, interest, delivered: delivered)
    }

    override var isNew: Bool { known == nil }

    override var state: Any? { known }

    override func job() -> ObservationJob {
        let (known, advance) = (known, advance)
        return ObservationJob(entry: self, generation: generation, start: delivered) { [self] changes, handle in
            do {
                let step = try advance(known, changes, handle)
                return { [self] isSilent in take(step, handle.version, isSilent) }
            } catch {
                let told = Realm.Error.told(error, path: handle.path)
                return { [self] _ in fail(told, handle.version) }
            }
        }
    }

    private func take(_ step: Step, _ version: Version, _ isSilent: Bool) -> (() -> Void)? {
        known = step.state
        delivered = version
        generation += 1
        isOver = step.isLast
        let event = isSilent ? Event.quiet(silenced: step.news) : step.news.map { .news($0) } ?? .quiet(silenced: nil)
        return { [tell] in tell(event, step.state, version) }
    }

    // The state stays, so that what is told later is complete.
    private func fail(_ error: any Error, _ version: Version) -> (() -> Void)? {
        failedVersion = version
        return failureCall(error)
    }

    override func failureCall(_ error: any Error) -> (() -> Void)? {
        { [tell, known, delivered] in tell(.failure(error), known, delivered) }
    }
}
