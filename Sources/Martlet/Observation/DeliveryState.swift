/// Decides when the hub of a Realm computes notifications in the background, and when it delivers them.
///
/// A run opens a snapshot and computes the notifications for it. A delivery calls the observers on the Realm's
/// executor.
///
/// This value uses no threads and no locks. Its methods return which run or delivery the caller must start.
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
    /// True if no run has processed the newest commit yet.
    private(set) var hasUnprocessedCommit = false
    /// Why the newest version could not be opened.
    private var failure: (any Error)?
    /// Runs since the last delivery. Until the results are delivered, each run replaces the results of the previous
    /// run.
    private var runs = 0
    private var isDeliveryScheduled = false
    /// The snapshot for which the next run computes notifications. If it is nil, the run opens the newest version, and
    /// computes notifications for that version only if `followsNewest` is true.
    private var target: Snapshot?
    /// False while the Realm does not refresh automatically.
    private var followsNewest = true
    /// True if the Realm has an executor for deliveries. Without an executor, no run starts.
    private var hasExecutor: Bool

    init(hasExecutor: Bool) { self.hasExecutor = hasExecutor }

    /// True if no run is queued or in progress and no delivery is pending.
    var isIdle: Bool { !isComputing && computedSnapshot == nil && !hasUnprocessedCommit && !isDeliveryScheduled }

    /// True if the next delivery has to wait for a run. This is the case while a run is queued or in progress, or if a
    /// commit is unprocessed and there is no result.
    var awaitsRun: Bool { isComputing || (hasUnprocessedCommit && computedSnapshot == nil) }

    // MARK: Starting runs

    // `signal` and `setExecutor` return true if the caller must start a run. If `needsRun` returns true, the caller
    // must call `signal`.

    /// Records that another commit must be processed.
    mutating func signal() -> Bool {
        hasUnprocessedCommit = true
        return reserveRunIfNeeded()
    }

    /// Records that the Realm has an executor.
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

    /// True if a run is needed, for an unprocessed commit or for observers that do not know the current version yet.
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

    /// Begins a run. Returns its snapshot (nil for the newest version) and whether it computes results.
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

    /// Begins a scheduled delivery. Returns the computed snapshot, and the failure of which the observers must be
    /// notified.
    mutating func beginDelivery() -> (computed: Snapshot?, failure: (any Error)?) {
        defer { (computedSnapshot, failure) = (nil, nil) }
        isDeliveryScheduled = false
        runs = 0
        return (computedSnapshot, failure)
    }

    /// Records that a delivery is not possible now. The run that follows the next call of `signal()` or `needsRun`
    /// prepares the delivery again.
    mutating func postponeDelivery() { hasUnprocessedCommit = true }

    /// Removes and returns the result of the last run, because it is not needed. The caller releases the result outside
    /// its lock.
    mutating func takeComputed() -> Snapshot? {
        defer { computedSnapshot = nil }
        return computedSnapshot
    }

    #if MARTLET_SEEDED_BUGS
        mutating func dropSignal() { hasUnprocessedCommit = false }
    #endif
}
