import Dispatch
import Foundation
import MartletEngine

/// The observers of one Realm: works out in the background what to tell them, and tells them on the Realm's executor.
///
/// Ledger: `state` and what can change in its entries are guarded by `lock`, which is held for moments only: neither
/// queries nor callbacks run under it, and nothing is released under it that a user made. `context`, `told`, `isDelivering`,
/// `isTelling`, `mayRefresh`, `telling`, `isTellingAhead` and `silentBase` are used on the executor only.
// Sendable by the ledger above.
final class ObservationHub: @unchecked Sendable {
    private struct State {
        var observers = ObserverIndex()
        var realmObservers = RealmObservers()
        /// The snapshot that the results of the background lead to.
        var computed: SnapshotHandle?
        /// A background run is queued or under way.
        var isComputing = false
        /// Something happened that no run has seen.
        var isBehind = false
        /// Why the newest version could not be opened.
        var failure: (any Error)?
        /// Runs since the last turn: what they lead to is replaced by the next while no turn is taken.
        var runs = 0
        var isTurnScheduled = false
        /// What the next run works at; nil for the newest version.
        var target: SnapshotHandle?
        /// False while the Realm stays at its version by itself.
        var followsNewest = true
        /// Nil on a thread whose run loop does not run.
        var scheduler: Scheduler?
    }

    @Loose private var context: RealmContext?
    private let coordinator: StoreCoordinator
    private let lock = NSLock()
    private var state = State()
    /// More runs than this are not worth while for an executor that takes no turns.
    private static let greatestRuns = 8
    private static let queue = DispatchQueue(
        label: "martlet.notifications", qos: .userInitiated, attributes: .concurrent)
    /// The newest version that observers of the Realm know of.
    private var told: Version
    private var required: Version = 0
    /// Inside callbacks of collections and objects.
    private(set) var isDelivering = false
    /// Inside callbacks of the Realm's own observers.
    private var isTelling = false
    /// Inside a callback that is notified of a newer version to refresh to.
    private var mayRefresh = false
    /// The version that the callback under way is about; a callback before it may have written since.
    private(set) var telling: SnapshotHandle?
    /// What comes before a silent write is being told to those who pause, to be kept by them.
    private(set) var isTellingAhead = false
    /// The version that the silent write under way begins from, where somebody is still to be told what led to it.
    private var silentBase: SnapshotHandle?

    init(_ context: RealmContext, _ scheduler: Scheduler?) {
        self.context = context
        state.scheduler = scheduler
        coordinator = context.coordinator
        told = context.version
    }

    private func locked<R>(_ body: (inout State) throws -> R) rethrows -> R {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state)
    }

    var isInCallback: Bool { isDelivering || isTelling }

    /// True when nothing is under way, queued or waiting for its turn.
    var isIdle: Bool {
        locked { !$0.isComputing && $0.computed == nil && !$0.isBehind && !$0.isTurnScheduled }
    }

    /// True when all that is under way has been computed, or waits for a turn.
    var isRipe: Bool { locked { !$0.isComputing && ($0.isBehind == false || $0.computed != nil) } }

    /// True while somebody observes the Realm itself.
    var isObserved: Bool { locked { !$0.realmObservers.isEmpty } }

    /// Observers of collections and objects that go on.
    var observerCount: Int { locked { $0.observers.all.count { $0.isAlive } } }

    /// True when turns can be taken: a Realm may have been opened before its thread began to run its run loop.
    func canDeliver() -> Bool {
        guard let scheduler = locked({ $0.scheduler }) ?? Scheduler.currentRunLoop() else { return false }
        let starts = locked { state in
            state.scheduler = scheduler
            return startsRun(&state)
        }
        scheduler.stay()
        if starts { startRun() }
        return true
    }

    /// What the observers know, for checks.
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
        let number = locked { $0.realmObservers.add(registration, context, block) }
        registration.whenEnded { [self] in
            let removed = locked { $0.realmObservers.remove(number) }
            withExtendedLifetime(removed) {}
        }
    }

    // On any thread. What was removed is released after the lock.
    private func remove(_ number: Int) {
        let removed = locked { state in
            let entry = state.observers.remove(number)
            // What was worked out for it leads back to it and keeps a version in use: nobody else would let go of it.
            let removed = (entry, entry?.takeResults())
            if state.observers.isEmpty { coordinator.setObserving(self, false) }
            return removed
        }
        withExtendedLifetime(removed) {}
    }

    /// Wakes the observers whom something concerns that was committed up to a version.
    private func wake(through version: Version, _ handle: SnapshotHandle) {
        let start = locked { state -> Version? in
            if state.observers.hasSleepers, state.observers.settled < version { return state.observers.settled }
            state.observers.wake(nil, through: version)
            return nil
        }
        guard let start else { return }
        let changes = try? coordinator.changes(after: start, through: version, handle)?.changes
        coordinator.environment.yield(.duringWake)
        locked { $0.observers.wake(changes, through: version) }
    }

    private func rest() {
        let (unwanted, over) = locked { state in
            let unwanted = state.observers.awake.compactMap { $0.takeUnwanted() }
            return (unwanted, state.observers.rest().map { ($0, $0.takeResults()) })
        }
        withExtendedLifetime((unwanted, over)) {}
    }

    // MARK: The background

    /// Something was committed by another Realm: a hint, on any thread.
    func signal() {
        let starts = locked { state in
            state.isBehind = true
            return startsRun(&state)
        }
        if starts { startRun() }
    }

    private func startRun() { coordinator.environment.run(.notifier, on: Self.queue) { [self] in compute() } }

    private func startsRun(_ state: inout State) -> Bool {
        guard state.isBehind, !state.isComputing, state.scheduler != nil else { return false }
        guard state.computed == nil || state.runs < Self.greatestRuns else { return false }
        state.isComputing = true
        state.runs += 1
        return true
    }

    /// The same on the executor. A Realm that does not refresh by itself is told of its own version.
    private func signal(from context: RealmContext) {
        let stays = !context.autorefresh && context.hasSnapshot
        let target = stays ? context.handle : nil
        let dropped = locked { state in
            defer { state.target = target }
            state.followsNewest = !stays
            return state.target
        }
        withExtendedLifetime(dropped) {}
        signal()
    }

    private func compute() {
        coordinator.environment.yield(.beforeCompute)
        let (target, follows) = locked { state in
            defer { state.target = nil }
            state.isBehind = false
            return (state.target, state.followsNewest)
        }
        let handle: SnapshotHandle
        do {
            handle = try target ?? coordinator.openSnapshot()
        } catch {
            return finishRun { $0.failure = error }
        }
        #if MARTLET_SEEDED_BUGS
            if SeededRace.isOn(.signalSwallowed) { locked { $0.isBehind = false } }
        #endif
        if target != nil || follows {
            keep(handle)
        }
        coordinator.environment.yield(.afterCompute)
        finishRun { state in
            state.computed = handle
            state.failure = nil
        }
    }

    /// Works out what is to be told of the newest version, for a refresh that follows: it finds everything ready as long as
    /// the version is kept.
    func prepareNewest() async -> SnapshotHandle? {
        await withCheckedContinuation { continuation in
            coordinator.environment.run(.notifier, on: Self.queue) { [self] in
                let handle = try? coordinator.openSnapshot()
                if let handle { keep(handle) }
                continuation.resume(returning: handle)
            }
        }
    }

    // Results that are void or unwanted by now are dropped, and others that they replace are released after the lock.
    private func keep(_ handle: SnapshotHandle) {
        wake(through: handle.version, handle)
        let jobs = locked { state in state.observers.awake.filter { $0.needs(handle.version) }.map { $0.job() } }
        let calls = prepare(jobs, handle)
        coordinator.environment.yield(.duringCompute)
        let dropped = locked { _ in
            calls.map { call in
                #if MARTLET_SEEDED_BUGS
                    let isValid = call.isValid || SeededRace.isOn(.keptForEnded)
                #else
                    let isValid = call.isValid
                #endif
                defer { if isValid, !call.entry.registration.isPaused { call.entry.prepared = call } }
                return call.entry.prepared
            }
        }
        withExtendedLifetime(dropped) {}
    }

    private func finishRun(_ keep: (inout State) -> Void) {
        let (old, scheduler, startsAgain) = locked { state in
            state.isComputing = false
            let startsAgain = startsRun(&state)
            let old = state.computed
            keep(&state)
            let scheduler = state.isTurnScheduled ? nil : state.scheduler
            state.isTurnScheduled = state.scheduler != nil
            return (old, scheduler, startsAgain)
        }
        withExtendedLifetime(old) {}
        scheduler?.schedule { [weak self] in self?.turn() }
        if startsAgain { startRun() }
    }

    /// Works out what is to be told at `handle`, without the lock.
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

    // MARK: Turns, on the executor

    /// The scheduler's turn: moves to the newest version already computed, and tells. Never waits for a query.
    private func turn() {
        let (computed, failure) = locked { state in
            state.isTurnScheduled = false
            state.runs = 0
            defer {
                state.computed = nil
                state.failure = nil
            }
            return (state.computed, state.failure)
        }
        guard let context else { return }
        if let failure, !context.isInWrite, !isInCallback { tell(failure) }
        guard let computed else { return }
        if context.isInWrite || isInCallback {
            // What ends the write or the callbacks goes on from here.
            return locked { $0.isBehind = true }
        }
        coordinator.environment.yield(.beforeDeliver)
        deliver(computed, context)
        resume(context)
    }

    /// Starts the background again when there is something that it has not seen.
    private func resume(_ context: RealmContext) {
        guard !context.isInWrite, !isInCallback else { return }
        let isBehind = locked { state in
            if state.isComputing || state.computed != nil { return false }
            return state.isBehind || (context.hasSnapshot && state.observers.need(context.version))
        }
        if isBehind { signal(from: context) }
    }

    /// An observer that waited goes on.
    func wake(_ context: RealmContext) { resume(context) }

    /// Runs `body` in a turn of the executor; not at all where none can be taken. On any thread.
    func schedule(_ body: @escaping @Sendable () -> Void) { locked { $0.scheduler }?.schedule(body) }

    private func deliver(_ computed: SnapshotHandle, _ context: RealmContext) {
        // After a local commit a later run leads to what the Realm shows now.
        let shown = context.hasSnapshot ? context.version : told
        guard computed.version >= shown else { return }
        if !context.autorefresh, computed.version > shown, !isFirstCallDue(context) {
            return requireRefresh(computed.version, context)
        }
        // Some were told of an older version while this was worked out, which made theirs void. All are told together, or the
        // others would show what they were not told of.
        guard locked({ state in state.observers.areReady(for: computed.version) }) else {
            return locked { $0.isBehind = true }
        }
        move(to: computed, context)
        let calls = locked { state in
            state.observers.awake.compactMap { $0.prepared }.filter { $0.isValid && $0.version == computed.version }
        }
        deliver(calls, context)
    }

    // Nothing is lost: what is delivered later leads on from what was delivered before.
    private func tell(_ failure: any Error) {
        isDelivering = true
        defer { isDelivering = false }
        let error = Realm.Error.told(failure, path: coordinator.path)
        for entry in locked({ $0.observers.all }) { locked { _ in entry.firstFailureCall(error) }?() }
    }

    /// A Realm without a version of its own, as after `invalidate()`, moves to one for the first call of an observer.
    private func isFirstCallDue(_ context: RealmContext) -> Bool {
        !context.hasSnapshot && locked { $0.observers.awake.contains { $0.isNew && $0.isAlive } }
    }

    private func requireRefresh(_ version: Version, _ context: RealmContext) {
        guard version > required else { return }
        required = version
        tellRealm(.refreshRequired, context)
    }

    private func move(to handle: SnapshotHandle, _ context: RealmContext) {
        if context.hasSnapshot {
            context.advance(to: handle)
        } else {
            context.replaceSnapshot(handle)
            context.touch()
        }
        guard handle.version > told else { return }
        told = handle.version
        tellRealm(.didChange, context)
    }

    /// Moves to the newest version and tells; false when there was nothing new.
    func refresh(_ context: RealmContext) -> Bool {
        guard !isDelivering, !isTelling || mayRefresh, !context.isInWrite,
            let newest = try? coordinator.openSnapshot()
        else { return false }
        let shown = context.hasSnapshot ? context.version : told
        let hasNews = newest.version > shown
        if hasNews || !context.hasSnapshot { move(to: newest, context) }
        deliverInPlace(context)
        resume(context)
        return hasNews
    }

    /// Computes at what the Realm shows now, and tells.
    private func deliverInPlace(_ context: RealmContext) {
        // What an open write has changed has no version yet.
        guard !context.isInWrite || context.showsVersion else { return }
        let handle = context.handle
        wake(through: handle.version, handle)
        let (ready, jobs) = locked { state in
            let entries = state.observers.awake.filter { $0.needs(handle.version) }
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

    /// Releases the version that the background has opened, where it leads to no call.
    func releaseUnneeded() {
        let opened = locked { $0.computed }
        guard let opened, opened.version <= told else { return }
        locked { if $0.observers.isEmpty, $0.computed === opened { $0.computed = nil } }
    }

    /// Before a write: everything up to the version it starts from. In a callback, too: the observers later in the round
    /// are called now, or they would be told of a version that the Realm no longer shows.
    func deliverBeforeWrite(_ context: RealmContext) {
        if context.version > told {
            told = context.version
            tellRealm(.didChange, context)
        }
        if locked({ !$0.observers.isEmpty }) { deliverInPlace(context) }
    }

    /// Before a commit of this Realm that is silent for some. Those who pause are told now what led to it, and keep it until
    /// they ask for it: later it could not be told apart from the silent part.
    func willCommit(_ context: RealmContext, silencing tokens: Set<ObjectIdentifier>) {
        silentBase = nil
        guard !tokens.isEmpty else { return }
        let base = context.version
        wake(through: base, context.handle)
        let isAnyBehind = locked { state in state.observers.awake.contains { $0.isSilenced(by: tokens, before: base) } }
        // While the write is open nobody else can commit: what is newest is what it began from.
        guard isAnyBehind, let handle = try? coordinator.openSnapshot(), handle.version == base else { return }
        silentBase = handle
        let jobs = locked { state in
            state.observers.awake.filter { $0.isSilenced(by: tokens, before: base) && $0.registration.isPaused }
                .map { $0.job() }
        }
        let (wasDelivering, wasAhead) = (isDelivering, isTellingAhead)
        // Also to those who have asked for more meanwhile: nothing of the user is called in a write.
        (isDelivering, isTellingAhead) = (true, true)
        defer { (isDelivering, isTellingAhead) = (wasDelivering, wasAhead) }
        for call in prepare(jobs, handle) { tell(call) }
    }

    /// After a commit of this Realm: silenced observers count it as known.
    func committed(_ context: RealmContext, silencing tokens: Set<ObjectIdentifier>) {
        told = context.version
        if !tokens.isEmpty { silence(tokens, context.handle) }
        tellRealm(.didChange, context, except: tokens)
        if locked({ !$0.observers.isEmpty || $0.isBehind }) { signal(from: context) }
    }

    /// After a write was taken back.
    func cancelled(_ context: RealmContext) {
        silentBase = nil
        resume(context)
    }

    private func silence(_ registrations: Set<ObjectIdentifier>, _ handle: SnapshotHandle) {
        let base = handle.version - 1
        wake(through: base, handle)
        wake(through: handle.version, handle)
        let stretch = SilencedStretch(start: base, base: silentBase, handle: handle)
        silentBase = nil
        let (jobs, dropped) = locked { state -> ([ObservationJob], [SilencedStretch?]) in
            let entries = state.observers.awake.filter { $0.isSilenced(by: registrations) }
            // Those that are still to be told of an older change skip this one after that.
            let dropped = entries.filter { $0.delivered < base }.map { $0.silence(stretch) }
            #if MARTLET_SEEDED_BUGS
                if SeededBug.isOn(.olderSilenced) { return (entries.map { $0.job() }, dropped) }
            #endif
            return (entries.filter { $0.delivered == base }.map { $0.job() }, dropped)
        }
        withExtendedLifetime(dropped) {}
        for call in prepare(jobs, handle) { accept(call, isSilent: true) }
        rest()
    }

    // MARK: Telling

    private func deliver(_ calls: [PreparedCall], _ context: RealmContext) {
        let wasDelivering = isDelivering
        isDelivering = true
        defer { isDelivering = wasDelivering }
        // A callback may have changed something in the write that begins, or committed a newer version: the observers after
        // it are told later, from what they know on.
        for call in calls where isShown(call.version, context) { tell(call) }
        rest()
    }

    private func isShown(_ version: Version, _ context: RealmContext) -> Bool {
        #if MARTLET_SEEDED_BUGS
            if SeededBug.isOn(.changedRoundGoesOn) { return true }
        #endif
        if context.isInWrite { return context.shows(version) }
        return !context.hasSnapshot || context.version == version
    }

    /// Tells what a call leads to, but for what was committed silently.
    private func tell(_ call: PreparedCall) {
        guard let call = beyondSilence(call), accept(call, isSilent: false) else { return }
        skipSilenced(call.entry)
    }

    /// The call, or, where it leads over silent commits, one that begins after them: what is to be told before is told now.
    ///
    /// Silent commits can come before the round that tells of an older one: an observer of the Realm itself makes them, or
    /// they were made while a publisher that had paused was asked for more.
    private func beyondSilence(_ call: PreparedCall) -> PreparedCall? {
        let entry = call.entry
        guard locked({ _ in call.isValid && entry.isSilenced(before: call.version) && isWanted(entry) }) else {
            return call
        }
        skipSilenced(entry)
        // A callback may have written into the transaction that begins with this version: it is read elsewhere.
        guard let job = locked({ _ in entry.isBehind(call.version) && isWanted(entry) ? entry.job() : nil }),
            let handle = RealmContext.kept(call.handle, coordinator)
        else { return nil }
        return prepare([job], handle).first
    }

    /// One that pauses is told later, from what it knows on.
    private func isWanted(_ entry: ObservationEntry) -> Bool { isTellingAhead || !entry.registration.isPaused }

    /// Takes a result over and tells it; false when it is void.
    @discardableResult
    private func accept(_ call: PreparedCall, isSilent: Bool) -> Bool {
        let (tell, dropped) = locked { _ -> ((() -> Void)?, PreparedCall?) in
            let dropped = call.entry.prepared
            guard call.isValid, isSilent || isWanted(call.entry) else { return (nil, call.entry.takeUnwanted()) }
            call.entry.prepared = nil
            return (call.accept(isSilent), dropped)
        }
        let outer = telling
        telling = call.handle
        defer { telling = outer }
        withExtendedLifetime(dropped) { tell?() }
        return tell != nil
    }

    // Ahead of being asked for it keeps what it is told, so that nothing of the user is called.
    private func accept(_ call: PreparedCall, ahead: Bool) {
        let wasAhead = isTellingAhead
        isTellingAhead = wasAhead || ahead
        defer { isTellingAhead = wasAhead }
        accept(call, isSilent: false)
    }

    /// Passes over what was committed silently since; what was committed between, and is to be told, is told now.
    private func skipSilenced(_ entry: ObservationEntry) {
        while let next = locked({ _ in entry.silenced.first }) {
            if let base = next.base, let job = locked({ _ in entry.isBehind(next.start) ? entry.job() : nil }) {
                for call in prepare([job], base) { accept(call, ahead: entry.registration.isPaused) }
            }
            let (isReached, job) = locked { _ -> (Bool, ObservationJob?) in
                // What the callback did may have ended the observation.
                guard next.start <= entry.delivered, entry.silenced.first?.start == next.start else {
                    return (false, nil)
                }
                entry.silenced.removeFirst()
                return (true, entry.delivered == next.start && entry.isAlive ? entry.job() : nil)
            }
            guard isReached else { return }
            for call in prepare(job.map { [$0] } ?? [], next.handle) { accept(call, isSilent: true) }
        }
    }

    private func tellRealm(
        _ notification: Realm.Notification, _ context: RealmContext, except silenced: Set<ObjectIdentifier> = []
    ) {
        guard !isTelling || mayRefresh else { return }
        let observers = locked { $0.realmObservers.all }
        guard !observers.isEmpty else { return }
        let outer = (isTelling, mayRefresh)
        (isTelling, mayRefresh) = (true, notification == .refreshRequired)
        defer { (isTelling, mayRefresh) = outer }
        for observer in observers
        where !observer.registration.isEnded && !silenced.contains(ObjectIdentifier(observer.registration)) {
            // One before may have refreshed.
            if mayRefresh, told >= required { return }
            observer.block(notification, Realm(context))
        }
    }
}
