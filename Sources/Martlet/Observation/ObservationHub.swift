import Dispatch
import Foundation
import MartletEngine

/// The observers of one Realm. The hub computes their notifications in the background and delivers them on the Realm's
/// executor.
///
/// Thread safety: `lock` guards `state` and the mutable properties of its entries. The lock is held only for a short
/// time: no query, callback or deinitializer of user code runs under the lock. `context`, `lastDeliveredVersion`,
/// `lastRequiredVersion`, `isDelivering`, `isNotifyingRealm`, `mayRefresh`, `callbackSnapshot`, `isPredelivering` and
/// `silentBase` are used on the executor only.
final class ObservationHub: @unchecked Sendable {
    private struct State {
        var observers = ObserverIndex()
        var realmObservers = RealmObservers()
        var delivery: DeliveryState<SnapshotHandle>
        /// Nil if the Realm was opened on a thread whose run loop does not run.
        var scheduler: Scheduler?

        init(_ scheduler: Scheduler?) {
            self.scheduler = scheduler
            delivery = DeliveryState(hasExecutor: scheduler != nil)
        }
    }

    @WeakContext private var context: RealmContext?
    private let coordinator: StoreCoordinator
    private let lock = NSLock()
    private var state: State
    private static let queue = DispatchQueue(
        label: "martlet.notifications", qos: .userInitiated, attributes: .concurrent)
    /// The newest version of which the Realm's own observers (those of `Realm.observe`) were notified.
    private var lastDeliveredVersion: Version
    /// The newest version for which the Realm's own observers were notified that a refresh is required.
    private var lastRequiredVersion: Version = 0
    /// True inside callbacks of collection and object observers.
    private(set) var isDelivering = false
    /// True inside callbacks of the Realm's own observers.
    private var isNotifyingRealm = false
    /// True inside a `.refreshRequired` callback, which may call `refresh()`.
    private var mayRefresh = false
    /// The snapshot of the version that the current callback reports. The Realm may show a newer state, because an
    /// earlier callback may have written.
    private(set) var callbackSnapshot: SnapshotHandle?
    /// True while the changes before a silent write are delivered to paused observers, which store them.
    private(set) var isPredelivering = false
    /// A snapshot of the version before the current silent write. Set only if an observer has not yet been notified of
    /// the changes before that write.
    private var silentBase: SnapshotHandle?

    init(_ context: RealmContext, _ scheduler: Scheduler?) {
        self.context = context
        state = State(scheduler)
        coordinator = context.coordinator
        lastDeliveredVersion = context.version
    }

    private func locked<R>(_ body: (inout State) throws -> R) rethrows -> R {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state)
    }

    var isInCallback: Bool { isDelivering || isNotifyingRealm }

    /// True if no computation is running or queued and no delivery is pending.
    var isIdle: Bool { locked { $0.delivery.isIdle } }

    /// True if the next delivery has to wait for a computation.
    var awaitsRun: Bool { locked { $0.delivery.awaitsRun } }

    /// True if the Realm itself has observers.
    var isObserved: Bool { locked { !$0.realmObservers.isEmpty } }

    /// The number of living observers of collections and objects.
    var observerCount: Int { locked { $0.observers.all.count { $0.isAlive } } }

    /// True if the hub has an executor for deliveries. The thread of the Realm may have started its run loop after it
    /// opened the Realm, so this method looks for a run loop again.
    func findExecutor() -> Bool {
        guard let scheduler = locked({ $0.scheduler }) ?? Scheduler.currentRunLoop() else { return false }
        let starts = locked { state in
            state.scheduler = scheduler
            return state.delivery.setExecutor()
        }
        scheduler.keepRunning()
        if starts { startRun() }
        return true
    }

    /// The states of all observers, for tests.
    var states: [Any] { locked { $0.observers.all.compactMap(\.state) } }

    // MARK: Registration

    func add(_ entry: ObservationEntry) {
        let number = locked { state in
            state.observers.add(entry)
            return entry.number
        }
        coordinator.setObserving(self, true)
        coordinator.environment.yield(.afterRegistration)
        entry.registration.whenEnded { [self] in remove(number) }
        if let context, !context.isInWrite { signal(from: context) }
    }

    func add(
        _ registration: Registration, _ context: RealmContext, _ block: @escaping (Realm.Notification, Realm) -> Void
    ) {
        // The Realm may show writes of a group that is not durable yet. When the group is durable, this observer must
        // not be notified of these writes, because they precede its registration. If the Realm has neither a snapshot
        // nor a transaction, it shows no such writes, so 0 is sufficient.
        let version = context.hasSnapshot || context.transaction != nil ? context.version : 0
        let number = locked { $0.realmObservers.add(registration, context, since: version, block) }
        registration.whenEnded { [self] in
            let removed = locked { $0.realmObservers.remove(number) }
            withExtendedLifetime(removed) {}
        }
    }

    // Called on any thread. The removed entry is released after the lock is released.
    private func remove(_ number: Int) {
        let removed = locked { state in
            let entry = state.observers.remove(number)
            // A prepared call retains its entry, and the entry retains the call. Taking the call breaks this reference
            // cycle and releases the pinned version.
            let removed = (entry, entry?.takePendingResults())
            if state.observers.isEmpty { coordinator.setObserving(self, false) }
            return removed
        }
        withExtendedLifetime(removed) {}
    }

    /// Activates the observers that may be affected by commits up to `version`.
    private func activate(through version: Version, _ handle: SnapshotHandle) {
        let start = locked { state -> Version? in
            if state.observers.hasSuspended, state.observers.examinedVersion < version {
                return state.observers.examinedVersion
            }
            state.observers.activate(nil, through: version)
            return nil
        }
        guard let start else { return }
        let changes = try? coordinator.changes(after: start, through: version, handle)?.changes
        coordinator.environment.yield(.duringActivation)
        locked { $0.observers.activate(changes, through: version) }
    }

    private func suspendCurrent() {
        let (paused, finished) = locked { state in
            let paused = state.observers.active.compactMap { $0.takePausedCall() }
            return (paused, state.observers.suspendCurrent().map { ($0, $0.takePendingResults()) })
        }
        withExtendedLifetime((paused, finished)) {}
    }

    // MARK: The background

    /// Called, on any thread, when there may be a newer version to process.
    func signal() {
        if locked({ $0.delivery.signal() }) { startRun() }
    }

    private func startRun() { coordinator.environment.run(.notifier, on: Self.queue) { [self] in compute() } }

    /// Signals from the executor. For a Realm that does not refresh automatically, the next run computes for the
    /// version that the Realm shows.
    private func signal(from context: RealmContext) {
        let stays = !context.autorefresh && context.hasSnapshot
        let target = stays ? context.handle : nil
        let dropped = locked { $0.delivery.setTarget(target) }
        withExtendedLifetime(dropped) {}
        signal()
    }

    private func compute() {
        coordinator.environment.yield(.beforeCompute)
        let (target, computes) = locked { $0.delivery.beginRun() }
        let handle: SnapshotHandle
        do {
            handle = try target ?? coordinator.openSnapshot()
        } catch {
            return finishRun(.failed(error))
        }
        #if MARTLET_SEEDED_BUGS
            if SeededRace.isOn(.signalSwallowed) { locked { $0.delivery.dropSignal() } }
        #endif
        if computes { prepareCalls(handle) }
        coordinator.environment.yield(.afterCompute)
        finishRun(.computed(handle))
    }

    /// Prepares the notifications for the newest version before a refresh. They remain valid while the returned
    /// snapshot is retained.
    func prepareNewest() async -> SnapshotHandle? {
        await withCheckedContinuation { continuation in
            coordinator.environment.run(.notifier, on: Self.queue) { [self] in
                let handle = try? coordinator.openSnapshot()
                if let handle { prepareCalls(handle) }
                continuation.resume(returning: handle)
            }
        }
    }

    // Results that are invalid, or whose observer is paused, are dropped. Replaced results are released after the lock
    // is released.
    private func prepareCalls(_ handle: SnapshotHandle) {
        activate(through: handle.version, handle)
        let jobs = locked { state in state.observers.active.filter { $0.needs(handle.version) }.map { $0.job() } }
        let calls = prepare(jobs, handle)
        coordinator.environment.yield(.duringCompute)
        let dropped = locked { _ in
            calls.map { call in
                #if MARTLET_SEEDED_BUGS
                    let isValid = call.isValid || SeededRace.isOn(.changeSetOfInvalidatedKept)
                #else
                    let isValid = call.isValid
                #endif
                defer { if isValid, !call.entry.registration.isPaused { call.entry.prepared = call } }
                return call.entry.prepared
            }
        }
        withExtendedLifetime(dropped) {}
    }

    private func finishRun(_ result: DeliveryState<SnapshotHandle>.RunResult) {
        let (outcome, scheduler) = locked { ($0.delivery.finishRun(result), $0.scheduler) }
        withExtendedLifetime(outcome.replaced) {}
        if outcome.schedulesDelivery { scheduler?.schedule { [weak self] in self?.deliverPending() } }
        if outcome.startsRun { startRun() }
    }

    /// Prepares the calls for the version of `handle`. Called without holding the lock.
    private func prepare(_ jobs: [ObservationJob], _ handle: SnapshotHandle) -> [PreparedCall] {
        var known: [Version: ObservationEntry.Changes] = [:]
        return jobs.map { job in
            let changes: ObservationEntry.Changes
            if let found = known[job.start] {
                changes = found
            } else {
                changes = try? coordinator.changes(after: job.start, through: handle.version, handle)
                known[job.start] = .some(changes)
            }
            return job.prepare(changes, handle)
        }
    }

    // MARK: Delivery, on the executor

    /// Called by the scheduler: moves to the newest computed version and delivers the prepared calls. Most calls were
    /// computed in the background. A call for an observer that must skip a silent commit is computed during the
    /// delivery.
    private func deliverPending() {
        let (computed, failure) = locked { $0.delivery.beginDelivery() }
        guard let context else { return }
        if let failure, canDeliver(context) { notify(failure) }
        guard canDeliver(context) else {
            // The end of the write, of the callback, or of the move to another version starts the next run. If that run
            // fails too, its failure is delivered.
            return locked { $0.delivery.postponeDelivery() }
        }
        guard let computed else {
            // A run that has failed is not repeated, unless a callback above has postponed a delivery.
            if locked({ $0.delivery.needsRun(observersAreBehind: false) }) { signal(from: context) }
            return
        }
        coordinator.environment.yield(.beforeDeliver)
        deliver(computed, context)
        startRunIfNeeded(context)
    }

    private func canDeliver(_ context: RealmContext) -> Bool {
        context.transaction == nil && !isInCallback && context.keyValue.phase == .none
    }

    /// Starts a run if no run has processed the last commit, or if an observer does not know the version of the Realm
    /// yet. Also called when a paused observer was resumed.
    func startRunIfNeeded(_ context: RealmContext) {
        guard !context.isInWrite, !isInCallback else { return }
        let isBehind = locked { state in
            let areBehind = context.hasSnapshot && state.observers.needsDelivery(of: context.version)
            return state.delivery.needsRun(observersAreBehind: areBehind)
        }
        if isBehind { signal(from: context) }
    }

    /// Called when the Realm begins to refresh automatically.
    func followNewest(_ context: RealmContext) { signal(from: context) }

    /// Runs `body` on the executor; does nothing if there is no scheduler. Called on any thread.
    func schedule(_ body: @escaping @Sendable () -> Void) { locked { $0.scheduler }?.schedule(body) }

    private func deliver(_ computed: SnapshotHandle, _ context: RealmContext) {
        // After a local commit, the Realm may show a newer version. A later run prepares the calls for that version.
        let shown = context.hasSnapshot ? context.version : lastDeliveredVersion
        guard computed.version >= shown else { return }
        if !context.autorefresh, computed.version > shown, !isFirstCallDue(context) {
            return requireRefresh(computed.version, context)
        }
        // If an observer was notified of an older version after its results were computed, the results are invalid. The
        // delivery to all observers then waits for new results. Otherwise, a callback could read changes in a
        // collection before the observers of that collection are notified.
        guard locked({ state in state.observers.areReady(for: computed.version) }) else {
            return locked { $0.delivery.postponeDelivery() }
        }
        move(to: computed, context)
        let calls = locked { state in
            state.observers.active.compactMap { $0.prepared }.filter { $0.isValid && $0.version == computed.version }
        }
        deliver(calls, context)
    }

    // A failure loses no change, because the next delivery starts from the state that was delivered last.
    private func notify(_ failure: any Error) {
        isDelivering = true
        defer { isDelivering = false }
        let error = Realm.Error.translated(failure, path: coordinator.path)
        for entry in locked({ $0.observers.all }) { locked { _ in entry.firstFailureCall(error) }?() }
    }

    /// True if the Realm has no snapshot, for example after `invalidate()`, and must open one for the first call of an
    /// observer.
    private func isFirstCallDue(_ context: RealmContext) -> Bool {
        !context.hasSnapshot && locked { $0.observers.active.contains { $0.isNew && $0.isAlive } }
    }

    private func requireRefresh(_ version: Version, _ context: RealmContext) {
        guard version > lastRequiredVersion else { return }
        lastRequiredVersion = version
        notifyRealmObservers(.refreshRequired, context, [.max])
    }

    private func move(to handle: SnapshotHandle, _ context: RealmContext) {
        if context.hasSnapshot {
            context.advance(to: handle)
        } else {
            context.replaceSnapshot(handle)
            context.bumpChangeCount()
        }
        guard handle.version > lastDeliveredVersion else { return }
        lastDeliveredVersion = handle.version
        notifyRealmObservers(.didChange, context, [handle.version])
    }

    /// Moves to the newest version and notifies the observers. Returns false if there was no newer version.
    func refresh(_ context: RealmContext) -> Bool {
        guard !isDelivering, !isNotifyingRealm || mayRefresh, !context.isInWrite,
            let newest = try? coordinator.openSnapshot()
        else { return false }
        let shown = context.hasSnapshot ? context.version : lastDeliveredVersion
        let isNewer = newest.version > shown
        if isNewer || !context.hasSnapshot { move(to: newest, context) }
        // If a `.refreshRequired` callback calls `refresh()`, the Realm's observers are also notified of writes that
        // other callbacks make during the refresh.
        let wasNotifyingRealm = isNotifyingRealm
        isNotifyingRealm = false
        deliverInPlace(context)
        isNotifyingRealm = wasNotifyingRealm
        startRunIfNeeded(context)
        return isNewer
    }

    /// Prepares the calls for the version that the Realm shows, and delivers them.
    private func deliverInPlace(_ context: RealmContext) {
        // Changes of an open write have no version yet.
        guard !context.isInWrite || context.hasNoOpenChanges else { return }
        let handle = context.handle
        activate(through: handle.version, handle)
        let (ready, jobs) = locked { state in
            let entries = state.observers.active.filter { $0.needs(handle.version) }
            let ready = entries.map { entry in
                entry.prepared.flatMap { $0.isValid && $0.version == handle.version ? $0 : nil }
            }
            return (ready, zip(entries, ready).filter { $0.1 == nil }.map { $0.0.job() })
        }
        var computed = prepare(jobs, handle)[...]
        #if MARTLET_SEEDED_BUGS
            if SeededBug.isOn(.readyForgotten), !computed.isEmpty { return deliver(Array(computed), context) }
        #endif
        deliver(ready.compactMap { $0 ?? computed.popFirst() }, context)
    }

    // MARK: Writes

    /// Releases the snapshot of the last run, if it is not needed for a call.
    func releaseUnneeded() {
        let dropped = locked { state -> SnapshotHandle? in
            guard state.observers.isEmpty, let opened = state.delivery.computedSnapshot,
                opened.version <= lastDeliveredVersion
            else { return nil }
            return state.delivery.takeComputed()
        }
        withExtendedLifetime(dropped) {}
    }

    /// Called before a write: delivers all changes up to the version from which the write starts. If the write begins
    /// inside a callback, the remaining observers of that delivery are called before the write. After the write, the
    /// Realm would no longer show the version of their calls.
    func deliverBeforeWrite(_ context: RealmContext) {
        if context.version > lastDeliveredVersion {
            lastDeliveredVersion = context.version
            notifyRealmObservers(.didChange, context, [context.version])
        }
        if locked({ !$0.observers.isEmpty }) { deliverInPlace(context) }
    }

    /// Called before a commit of this Realm that is silent for some observers. Paused observers receive the preceding
    /// changes now, and store them until they resume. After the commit, these changes could not be separated from the
    /// silent changes.
    func willCommit(_ context: RealmContext, silencing tokens: Set<ObjectIdentifier>) {
        silentBase = nil
        guard !tokens.isEmpty else { return }
        let base = context.version
        activate(through: base, context.handle)
        let isAnyBehind = locked { $0.observers.active.contains { $0.isSilenced(by: tokens, before: base) } }
        // While the write is open, no other writer can commit. The newest version is therefore the base version.
        guard isAnyBehind, let handle = try? coordinator.openSnapshot(), handle.version == base else { return }
        silentBase = handle
        let jobs = locked { state in
            state.observers.active.filter { $0.isSilenced(by: tokens, before: base) && $0.registration.isPaused }
                .map { $0.job() }
        }
        let (wasDelivering, wasPredelivering) = (isDelivering, isPredelivering)
        // An observer may have resumed in the meantime. Because of `isPredelivering`, it stores the change too, so that
        // no user code runs inside the write.
        (isDelivering, isPredelivering) = (true, true)
        defer { (isDelivering, isPredelivering) = (wasDelivering, wasPredelivering) }
        for call in prepare(jobs, handle) { notify(call) }
    }

    /// Called after writes of this Realm were committed, with their versions in ascending order. Silenced observers
    /// treat the last write as known.
    ///
    /// The Realm may already show a later commit of another process: see `RealmContext.moveToCommitted`. The state
    /// between the two commits cannot be read. No observer is silenced then, because it would miss the other commit.
    func committed(_ context: RealmContext, silencing tokens: Set<ObjectIdentifier>, _ versions: [Version]) {
        lastDeliveredVersion = context.version
        let tokens = versions.last == context.version ? tokens : []
        if !tokens.isEmpty { silence(tokens, context.handle) }
        silentBase = nil
        notifyRealmObservers(.didChange, context, versions, except: tokens, isOwnCommit: true)
        if locked({ !$0.observers.isEmpty || $0.delivery.hasUnprocessedCommit }) { signal(from: context) }
    }

    /// Called after a write of this Realm has ended without changes and without a new version.
    func endedUnchanged(_ context: RealmContext, silencing tokens: Set<ObjectIdentifier>) {
        silentBase = nil
        // These observers were added before the end of the write, so the write concerns all of them.
        notifyRealmObservers(.didChange, context, [.max], except: tokens, isOwnCommit: true)
        startRunIfNeeded(context)
    }

    /// Called after a write was cancelled.
    func cancelled(_ context: RealmContext) {
        silentBase = nil
        if context.hasSnapshot {
            let version = context.version
            locked { state in
                state.observers.all.forEach { $0.rollBack(to: version) }
                state.realmObservers.rollBack(to: version)
            }
        }
        startRunIfNeeded(context)
    }

    private func silence(_ registrations: Set<ObjectIdentifier>, _ handle: SnapshotHandle) {
        let base = handle.version - 1
        activate(through: base, handle)
        activate(through: handle.version, handle)
        let commits = SilentCommits(start: base, base: silentBase, handle: handle)
        let (jobs, dropped) = locked { state -> ([ObservationJob], [SilentCommits?]) in
            let entries = state.observers.active.filter { $0.isSilenced(by: registrations) }
            // Observers with an older undelivered change skip this commit after that change is delivered.
            let dropped = entries.filter { $0.deliveredVersion < base }.map { $0.appendSilent(commits) }
            #if MARTLET_SEEDED_BUGS
                if SeededBug.isOn(.olderSilenced) { return (entries.map { $0.job() }, dropped) }
            #endif
            return (entries.filter { $0.deliveredVersion == base }.map { $0.job() }, dropped)
        }
        withExtendedLifetime(dropped) {}
        for call in prepare(jobs, handle) { installAndNotify(call, isSilent: true) }
        suspendCurrent()
    }

    // MARK: Calls

    private func deliver(_ calls: [PreparedCall], _ context: RealmContext) {
        let wasDelivering = isDelivering
        isDelivering = true
        defer { isDelivering = wasDelivering }
        // A callback may have changed objects in an open write, or committed a newer version. The remaining observers
        // are then notified later, with the changes since their known states.
        for call in calls where isShown(call.version, context) { notify(call) }
        suspendCurrent()
    }

    private func isShown(_ version: Version, _ context: RealmContext) -> Bool {
        #if MARTLET_SEEDED_BUGS
            if SeededBug.isOn(.deliveryContinuesAfterChange) { return true }
        #endif
        if context.isInWrite { return context.shows(version) }
        return !context.hasSnapshot || context.version == version
    }

    /// Delivers a call, except the changes that were committed silently.
    private func notify(_ call: PreparedCall) {
        guard let call = splitAtSilentCommits(call), installAndNotify(call, isSilent: false) else { return }
        skipSilenced(call.entry)
    }

    /// Splits a call that spans silent commits: delivers the changes before these commits, and returns a call for the
    /// changes after them. Returns a call that spans no silent commit unchanged.
    ///
    /// There are two cases in which a silent commit is made before an older change is delivered. An observer of the
    /// Realm itself makes the silent commit, or the program makes it while a paused Combine publisher has new demand.
    private func splitAtSilentCommits(_ call: PreparedCall) -> PreparedCall? {
        let entry = call.entry
        guard locked({ _ in call.isValid && entry.isSilenced(before: call.version) && acceptsCalls(entry) }) else {
            return call
        }
        skipSilenced(entry)
        // If a callback has written, the observer is notified later. A paused observer stores the change.
        guard isPredelivering || context.map({ isShown(call.version, $0) }) ?? false,
            let job = locked({ _ in entry.isBehind(call.version) && acceptsCalls(entry) ? entry.job() : nil }),
            let handle = RealmContext.separateSnapshot(call.handle, coordinator)
        else { return nil }
        return prepare([job], handle).first
    }

    /// True if the observer can be called now. A paused observer is called later, with all changes since its known
    /// state.
    private func acceptsCalls(_ entry: ObservationEntry) -> Bool { isPredelivering || !entry.registration.isPaused }

    /// Installs the result of a call as the known state and calls the observer. Returns false if the result is invalid,
    /// or if the observer is paused.
    @discardableResult
    private func installAndNotify(_ call: PreparedCall, isSilent: Bool) -> Bool {
        let (notifyObserver, dropped) = locked { _ -> ((() -> Void)?, PreparedCall?) in
            let dropped = call.entry.prepared
            guard call.isValid, isSilent || acceptsCalls(call.entry) else { return (nil, call.entry.takePausedCall()) }
            call.entry.prepared = nil
            return (call.accept(isSilent), dropped)
        }
        let outer = callbackSnapshot
        callbackSnapshot = call.handle
        defer { callbackSnapshot = outer }
        withExtendedLifetime(dropped) { notifyObserver?() }
        return notifyObserver != nil
    }

    // With `isPredelivered`, the observer stores the change, so that no user code runs.
    private func installAndNotify(_ call: PreparedCall, isPredelivered: Bool) {
        let wasPredelivering = isPredelivering
        isPredelivering = wasPredelivering || isPredelivered
        defer { isPredelivering = wasPredelivering }
        installAndNotify(call, isSilent: false)
    }

    /// Skips the silent commits of an observer, and delivers the changes between these commits.
    private func skipSilenced(_ entry: ObservationEntry) {
        while let next = locked({ _ in entry.pendingSilentCommits.first }) {
            if let base = next.base, let job = locked({ _ in entry.isBehind(next.start) ? entry.job() : nil }) {
                for call in prepare([job], base) { installAndNotify(call, isPredelivered: entry.registration.isPaused) }
            }
            let (isReached, job) = locked { _ -> (Bool, ObservationJob?) in
                // The callback may have ended the observation.
                let isNext =
                    next.start <= entry.deliveredVersion && entry.pendingSilentCommits.first?.start == next.start
                guard isNext else { return (false, nil) }
                entry.pendingSilentCommits.removeFirst()
                return (true, entry.deliveredVersion == next.start && entry.isAlive ? entry.job() : nil)
            }
            guard isReached else { return }
            for call in prepare(job.map { [$0] } ?? [], next.handle) { installAndNotify(call, isSilent: true) }
        }
    }

    /// Notifies the Realm's own observers of writes. Silenced observers are not notified of the last write.
    ///
    /// - Parameter versions: the version of each write, in ascending order. Observers that were added at this version
    ///   or later are not notified of the write. `.max` stands for an event that concerns all observers.
    private func notifyRealmObservers(
        _ notification: Realm.Notification, _ context: RealmContext, _ versions: [Version],
        except silenced: Set<ObjectIdentifier> = [], isOwnCommit: Bool = false
    ) {
        guard !isNotifyingRealm || mayRefresh && !isOwnCommit else { return }
        // Observers that a callback adds are not notified, because they were added after all of these writes.
        let observers = locked { $0.realmObservers.all }
        let outer = (isNotifyingRealm, mayRefresh)
        (isNotifyingRealm, mayRefresh) = (true, notification == .refreshRequired)
        defer { (isNotifyingRealm, mayRefresh) = outer }
        for version in versions {
            for observer in observers where !observer.registration.isEnded && observer.since < version {
                if version == versions.last, silenced.contains(ObjectIdentifier(observer.registration)) { continue }
                // If the previous observer has called `refresh()`, no refresh is required any more.
                if mayRefresh, lastDeliveredVersion >= lastRequiredVersion { return }
                observer.block(notification, Realm(context))
            }
        }
    }
}
