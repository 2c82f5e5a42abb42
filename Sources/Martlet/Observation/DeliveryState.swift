/// Decides when the hub of a Realm computes notifications in the background, and when it delivers them.
///
/// This is a value without threads and locks. Its methods start no work; they return what the caller has to do. A run
/// opens a snapshot and computes the notifications for it. A delivery calls the observers on the Realm's executor.
struct DeliveryState<Snapshot> {
    /// What the caller does after a run.
    struct RunOutcome {
        /// The previous result, which the caller releases outside its lock.
        let replaced: Snapshot?
        let schedulesDelivery: Bool
        let startsRun: Bool
    }

    enum RunResult {
        case computed(Snapshot)
        /// The newest version could not be opened.
        case failed(any Error)
    }

    /// The maximum number of runs that are started between two deliveries.
    static var maximumRuns: Int { 8 }

    /// The snapshot for which the last run computed its results.
    private(set) var computedSnapshot: Snapshot?
    /// True if a run is queued or in progress.
    private var isComputing = false
    /// True if a commit occurred that no run has processed.
    private(set) var hasUnprocessedCommit = false
    /// Why the newest version could not be opened.
    private var failure: (any Error)?
    /// Runs since the last delivery. Each run replaces the results of the previous one until they are delivered.
    private var runs = 0
    private var isDeliveryScheduled = false
    /// The snapshot for which the next run computes. If it is nil, the run computes for the newest version or, if
    /// `followsNewest` is false, only opens the newest version.
    private var target: Snapshot?
    /// False while the Realm does not refresh automatically.
    private var followsNewest = true
    /// Whether there is an executor to deliver on. Without one, no run starts.
    private var hasExecutor: Bool

    init(hasExecutor: Bool) { self.hasExecutor = hasExecutor }

    /// True if no run is queued or in progress and no delivery is pending.
    var isIdle: Bool { !isComputing && computedSnapshot == nil && !hasUnprocessedCommit && !isDeliveryScheduled }

    /// True if the next delivery has to wait for a run: one is in progress, or a commit is unprocessed and there is no
    /// result.
    var awaitsRun: Bool { isComputing || (hasUnprocessedCommit && computedSnapshot == nil) }

    // MARK: Starting runs

    // `signal` and `setExecutor` return true if the caller must start a run. If `needsRun` returns true, the caller
    // must call `signal`.

    /// Another commit must be processed.
    mutating func signal() -> Bool {
        hasUnprocessedCommit = true
        return reserveRunIfNeeded()
    }

    /// An executor was found.
    mutating func setExecutor() -> Bool {
        hasExecutor = true
        return reserveRunIfNeeded()
    }

    /// Counts a run if one is needed. Returns true if the caller must start it.
    private mutating func reserveRunIfNeeded() -> Bool {
        guard hasUnprocessedCommit, !isComputing, hasExecutor, computedSnapshot == nil || runs < Self.maximumRuns else {
            return false
        }
        isComputing = true
        runs += 1
        return true
    }

    /// Whether commits that no run has processed, or observers that need the current version, require a run.
    func needsRun(observersAreBehind: Bool) -> Bool {
        !isComputing && computedSnapshot == nil && (hasUnprocessedCommit || observersAreBehind)
    }

    // MARK: Runs

    /// Sets the snapshot of the next run; nil for the newest version. Returns the previously set snapshot, which the
    /// caller releases outside its lock.
    mutating func setTarget(_ target: Snapshot?) -> Snapshot? {
        defer { self.target = target }
        followsNewest = target == nil
        return self.target
    }

    /// A run begins. Returns its snapshot (nil for the newest version) and whether it computes results.
    mutating func beginRun() -> (target: Snapshot?, computes: Bool) {
        defer { target = nil }
        hasUnprocessedCommit = false
        return (target, target != nil || followsNewest)
    }

    mutating func finishRun(_ result: RunResult) -> RunOutcome {
        isComputing = false
        let startsRun = reserveRunIfNeeded()
        let replaced = computedSnapshot
        switch result {
        case .computed(let snapshot): (computedSnapshot, failure) = (snapshot, nil)
        case .failed(let error): failure = error
        }
        let schedulesDelivery = hasExecutor && !isDeliveryScheduled
        if hasExecutor { isDeliveryScheduled = true }
        return RunOutcome(replaced: replaced, schedulesDelivery: schedulesDelivery, startsRun: startsRun)
    }

    // MARK: Delivery

    /// A scheduled delivery begins. Returns what is to be delivered.
    mutating func beginDelivery() -> (computed: Snapshot?, failure: (any Error)?) {
        defer { (computedSnapshot, failure) = (nil, nil) }
        isDeliveryScheduled = false
        runs = 0
        return (computedSnapshot, failure)
    }

    /// The delivery is not possible now. The run that follows the next `signal()` or `needsRun` prepares it again.
    mutating func postponeDelivery() { hasUnprocessedCommit = true }

    /// Removes the result of the last run, because it is not needed. The caller releases it outside its lock.
    mutating func takeComputed() -> Snapshot? {
        defer { computedSnapshot = nil }
        return computedSnapshot
    }

    #if MARTLET_SEEDED_BUGS
        mutating func dropSignal() { hasUnprocessedCommit = false }
    #endif
}
