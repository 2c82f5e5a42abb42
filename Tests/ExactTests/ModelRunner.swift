import ConformanceModels
import Dispatch
import Foundation
import MartletTestSupport

@testable import Martlet
@testable import MartletEngine

/// Runs the steps of a program on a Realm and on the model, and compares every call of every observer with the model.
final class ModelRunner {
    struct Outcome {
        /// The first error; nil if there is none.
        var failure: String?
        /// The number of calls of observers.
        var calls = 0
        /// The number of positions and properties that were reported in these calls.
        var reported = 0
        /// The number of operations that changed something.
        var changes = 0
        /// One line for each event, if a trace is requested.
        var trace: [String] = []
    }

    let testRealm: TestRealm
    let furtherAccessors: FurtherAccessors
    var model = ModelState()
    /// The state of the model at each version.
    var modelStates: [UInt64: ModelState] = [:]
    var watchers: [Watcher] = []
    /// Observers that have ended. They must not be called again.
    private var ended: [Watcher] = []
    var keyValueWatchers: [KeyValueWatcher] = []
    var realmWatchers: [RealmWatcher] = []
    /// Whether the Realm was invalidated and has not written since. It may then show a newer version without a
    /// notification.
    private var wasInvalidated = false
    /// The queue and the actor for observers; nil if all observers are called on the thread of the test.
    let executors: ObserverExecutors?
    let loopExecutor = ManualTaskExecutor()
    private let queue = DispatchQueue(label: "other")
    private var other: Realm?
    private var foreign: Realm?
    /// The times of the writes whose old rows are not in the commit log: writes of other processes, and writes that
    /// began while no observer existed in this process. If such a write lies between two states, the runtime may report
    /// a change although the values are equal (N174).
    private var writesWithoutOldRows: [Int] = []
    var outcome = Outcome()
    private let recordsTrace: Bool
    /// Whether a callback has done something that only the next delivery reports.
    var needsDelivery = false
    /// Whether a callback that was called while a write began has made changes in this write. The Realm then shows an
    /// uncommitted state.
    var showsUncommitted = false
    /// Whether the write that is beginning will be rolled back.
    var willRollBack = false
    /// How the queued asynchronous writes will end, in their order.
    var endings: [Step.Ending] = []

    /// Runs a program, up to the first error.
    static func run(_ program: Program, recordsTrace: Bool = false) throws -> Outcome {
        let runner = try ModelRunner(program, recordsTrace)
        for (position, step) in program.steps.enumerated() {
            try runner.perform(step)
            if let failure = runner.outcome.failure {
                runner.outcome.failure = "step \(position), \(step): \(failure)"
                return runner.end()
            }
        }
        runner.finishWrites()
        try runner.perform(.refresh)
        runner.deliverEverything()
        runner.outcome.failure = runner.outcome.failure.map { "at the end: \($0)" }
        return runner.end()
    }

    private init(_ program: Program, _ recordsTrace: Bool) throws {
        self.recordsTrace = recordsTrace
        testRealm = try TestRealm {
            $0.objectTypes = [
                Node.self, Part.self, Screw.self, ScalarLists.self, ScalarSets.self, ScalarMaps.self, Scalars.self,
                EnumHolder.self,
            ]
            $0.environment.commitPollMilliseconds = 0
            if program.hasShortChunks { $0.environment.chunkLimit = 2 }
            if program.neverScans {
                $0.environment.keysScannedPerSearch = 0
                $0.environment.searchesBeforePositions = 0
            }
        }
        furtherAccessors = FurtherAccessors(testRealm.realm)
        executors = program.usesExecutors ? ObserverExecutors(testRealm.configuration, loopExecutor) : nil
        try testRealm.realm.write {
            testRealm.realm.add([ScalarLists()])
            testRealm.realm.add([ScalarSets()])
            testRealm.realm.add([ScalarMaps()])
        }
        for type in ["ScalarLists", "ScalarSets", "ScalarMaps"] { _ = model.add(type) }
        modelStates[testRealm.realm.context.version] = model
    }

    private func end() -> Outcome {
        for watcher in watchers + ended { watcher.end() }
        realmWatchers.forEach { $0.end() }
        loopExecutor.run()
        executors?.close()
        watchers = []
        ended = []
        keyValueWatchers = []
        queue.sync { other = nil }
        foreign = nil
        furtherAccessors.drop()
        return outcome
    }

    func fail(_ failure: String) { outcome.failure = outcome.failure ?? failure }

    /// Adds a line to the trace.
    func addToTrace(_ line: @autoclosure () -> String) {
        guard recordsTrace || Self.isTraced else { return }
        let line = line()
        if Self.isTraced { try? FileHandle.standardError.write(contentsOf: Data("\(line)\n".utf8)) }
        outcome.trace.append(line)
    }

    /// Whether each line is printed immediately, for programs that trap.
    static let isTraced = ProcessInfo.processInfo.environment["MARTLET_EXACT_TRACE"] != nil

    // MARK: Steps

    private func perform(_ step: Step) throws {
        let before = outcome
        addStepToTrace(step)
        try execute(step)
        let isRefresh = if case .refresh = step { outcome.changes == before.changes } else { false }
        checkKeyValues(isRefresh: isRefresh)
        checkRealmWatchers()
        checkFurtherAccessors()
        checkCollections()
        checkKeys()
        if let failure = try Self.collectionMismatch(testRealm.realm) { fail(failure) }
    }

    private func addStepToTrace(_ step: Step) {
        switch step {
        case .watch: break
        case .write(_, .here): addToTrace("write")
        case .write(_, let writer): addToTrace("write \(writer)")
        case .silent(_, let position): addToTrace("write without notifying \(name(position))")
        case .cancelled: addToTrace("begin a write that is cancelled")
        case .end(let position): addToTrace("end \(name(position))")
        case .nested(_, let position): addToTrace("\(name(position)) writes when it is called next")
        case .nestedSilent(_, let position, let silenced):
            addToTrace("\(name(position)) writes without notifying \(name(silenced)) when it is called next")
        case .realmSilent(_, let silenced):
            addToTrace("the observer of the Realm writes without notifying \(name(silenced)) when it is called next")
        case .endDuringCall(let victim, let position):
            addToTrace("\(name(position)) ends \(name(victim)) when it is called next")
        case .watchDuringCall(let plan, let position):
            addToTrace("\(name(position)) registers a watcher of \(plan.kind) when it is called next")
        case .readDuringCalls(let read, let position):
            addToTrace("\(name(position)) reads what \(name(read)) observes in each call")
        case .asyncWrite: addToTrace("an asynchronous write is queued")
        case .nestedAsyncWrite(_, _, let position):
            addToTrace("\(name(position)) queues an asynchronous write when it is called next")
        default: addToTrace("\(step)")
        }
    }

    private func name(_ position: Int) -> String { at(position)?.name ?? "no watcher" }

    private func at(_ position: Int) -> Watcher? {
        watchers.isEmpty ? nil : watchers[position % watchers.count]
    }

    private func execute(_ step: Step) throws {
        let realm = testRealm.realm
        switch step {
        case .write(let operations, .here): try write(operations)
        case .write(let operations, .otherThread): try writeOnOtherQueue(operations)
        case .write(let operations, .otherProcess): try writeFromOtherProcess(operations)
        case .silent(let operations, let position):
            try write(operations, silencing: at(position), silencesRealm: position.isMultiple(of: 3))
        case .cancelled(let operations): try cancel(operations)
        case .runScheduler: _ = testRealm.scheduler.run()
        case .waitUntilComputed: waitUntilComputed()
        case .deliverAll: deliverAll()
        case .loops: runLoops()
        case .invalidate:
            realm.invalidate()
            furtherAccessors.drop()
            wasInvalidated = true
            realmWatchers.forEach { $0.allowJump() }
        case .autorefresh(let isOn): realm.autorefresh = isOn
        case .refresh:
            refresh()
            check()
        case .watch(let plan): watch(plan)
        case .end(let position): if let watcher = at(position) { end(watcher) }
        case .nested(let operations, let position): at(position)?.actions.append(.write(operations, silencing: nil))
        case .nestedSilent(let operations, let position, let silenced):
            at(position)?.actions.append(.write(operations, silencing: at(silenced)))
        case .realmSilent(let operations, let silenced):
            // The last observer of the Realm writes. When it is called, the other observers of the Realm have already
            // been notified of the same version.
            realmWatchers.last?.action = { [unowned self] in
                let realm = testRealm.realm
                // The write that made the commit has not returned yet, so the test has not recorded its version.
                if modelStates[realm.context.version] == nil { modelStates[realm.context.version] = model }
                writeInside(operations, silencing: at(silenced))
                realmWatchers.forEach { $0.skipNestedCommit(realm.context.version) }
            }
        case .endDuringCall(let victim, let position):
            if let victim = at(victim) { at(position)?.actions.append(.end(victim)) }
        case .watchDuringCall(let plan, let position): at(position)?.actions.append(.watch(plan))
        case .readDuringCalls(let read, let position):
            if let watcher = at(position), let read = at(read), read !== watcher { watcher.readsInCalls = read }
        case .asyncWrite(let operations, let ending): queueWrite(operations, ending)
        case .nestedAsyncWrite(let operations, let ending, let position):
            at(position)?.actions.append(.queueWrite(operations, ending))
        }
    }

    // Refreshes again if callbacks have written, because only the next delivery reports these writes.
    func refresh() {
        repeat {
            needsDelivery = false
            testRealm.realm.refresh()
        } while needsDelivery
    }

    /// - Parameter isInside: Whether a callback registers the watcher. Such a watcher is not an asynchronous loop.
    func watch(_ plan: WatcherPlan, isInside: Bool = false) {
        let realm = testRealm.realm
        // Observers of objects report the changes since the version that the Realm shows now.
        guard watchers.count < 14, let shown = modelStates[realm.context.version] else { return }
        if plan.kind == .keyValue {
            guard keyValueWatchers.count < 8,
                let watcher = KeyValueWatcher.make(plan, shown, realm, furtherAccessors)
            else { return }
            keyValueWatchers.append(watcher)
            addToTrace("watch \(watcher.name)")
            return
        }
        if plan.kind == .realm {
            guard realmWatchers.count < 2 else { return }
            let watcher = RealmWatcher(realm, refreshes: plan.base.isMultiple(of: 2))
            if wasInvalidated { watcher.allowJump() }
            watcher.action = realmWatchers.last?.action
            realmWatchers.last?.action = nil
            realmWatchers.append(watcher)
            addToTrace("watch the Realm")
            return
        }
        var plan = plan
        plan.isLoop = plan.isLoop && !isInside
        if isInside { plan.executor = nil }
        let made = Watcher.make(plan, shown, realm, furtherAccessors, loopExecutor, executors) { [unowned self] in
            modelStates.sorted { $0.key < $1.key }.map(\.value) + [model]
        } onCall: { [unowned self] in
            receiveCall($0, $1, $2)
        }
        guard let made else { return }
        watchers.append(made)
        made.name = "watcher \(watchers.count + ended.count), \(made.name)"
        addToTrace("\(made.name), begins")
        if made.isLate { runLoops() }
        if let executor = made.executor, made.known.isEmpty, let version = executors?.version(executor),
            made.isOfObject, let model = modelStates[version]
        {
            made.known = [model]
        }
    }

    func end(_ watcher: Watcher) {
        watcher.end()
        watchers.removeAll { $0 === watcher }
        ended.append(watcher)
    }

    private func waitUntilComputed() {
        let deadline = Date(timeIntervalSinceNow: 60)
        while testRealm.realm.context.hub.awaitsRun {
            if Date() > deadline { return fail("the changes are never computed") }
            sched_yield()
        }
    }

    private func deliverAll() {
        // A run of the scheduler may schedule more work, but must not do so forever.
        for _ in 0..<200 {
            if testRealm.realm.context.hub.isIdle { return }
            guard testRealm.scheduler.waitForWork() else { return fail("no work was scheduled") }
            _ = testRealm.scheduler.run()
        }
        fail("the deliveries do not end")
    }

    // MARK: Writing

    func apply(_ operations: [Operation], _ realm: Realm) {
        for operation in operations {
            let time = model.time
            addToTrace("    \(operation.text(model))")
            operation.perform(&model, realm, furtherAccessors)
            if model.time > time { outcome.changes += 1 }
        }
    }

    func applyInWrite(_ operations: [Operation], _ realm: Realm) {
        apply(operations, realm)
        if realm.context.transaction?.keepsOldRows == false { writesWithoutOldRows.append(model.time) }
    }

    /// Whether a change between two states may be reported although the values are equal.
    func allowsExtraChanges(after old: Int, through new: Int) -> Bool {
        writesWithoutOldRows.contains { old < $0 && $0 <= new }
    }

    func write(_ operations: [Operation], silencing watcher: Watcher? = nil, silencesRealm: Bool = false) throws {
        let realm = testRealm.realm
        let silentRealms = silencesRealm ? realmWatchers : []
        let tokens = [watcher?.token].compactMap { $0 } + silentRealms.compactMap(\.token)
        var base = model
        if !silencesRealm { realmWatchers.forEach { $0.expectCommit() } }
        try realm.write(withoutNotifying: tokens) {
            // Callbacks may have changed the model while the write began.
            if !showsUncommitted { base = model }
            // An asynchronous write without changes creates no version, but has recorded a state for this version.
            if let version = realm.context.transaction?.baseVersion { modelStates[version + 1] = nil }
            applyInWrite(operations, realm)
            // This call is inside the block, because observers of the Realm may write before `write` returns.
            if let watcher, watcher.token != nil { watcher.silence(base, model, deliversBaseLate: showsUncommitted) }
        }
        showsUncommitted = false
        wasInvalidated = false
        modelStates[realm.context.version] = model
        silentRealms.forEach { $0.skipSilentCommits(realm.context.version) }
    }

    /// Writes into the write transaction that is beginning.
    func writeIntoOpenWrite(_ operations: [Operation]) {
        showsUncommitted = true
        apply(operations, testRealm.realm)
    }

    private func cancel(_ operations: [Operation]) throws {
        let realm = testRealm.realm
        willRollBack = true
        try realm.beginWrite()
        willRollBack = false
        let (kept, count) = (model, furtherAccessors.count)
        let held = RetainedNode.all(model, realm)
        apply(operations, realm)
        keyValueWatchers.forEach { $0.isRolledBack = true }
        realm.cancelWrite()
        keyValueWatchers.forEach { $0.isRolledBack = false }
        model = kept
        furtherAccessors.drop(after: count, kept)
        keyValueWatchers.forEach { $0.allowNeedlessCalls() }
        if let failure = held.lazy.compactMap({ $0.mismatch(kept) }).first { fail(failure) }
    }

    private func writeOnOtherQueue(_ operations: [Operation]) throws {
        var configuration = testRealm.configuration
        configuration.scheduler = nil
        nonisolated(unsafe) let this = self
        let settings = configuration
        try queue.sync {
            if this.other == nil { this.other = try Realm(configuration: settings, queue: this.queue) }
            guard let other = this.other else { return }
            try other.write { this.applyInWrite(operations, other) }
            this.modelStates[other.context.version] = this.model
        }
    }

    private func writeFromOtherProcess(_ operations: [Operation]) throws {
        let foreign = try self.foreign ?? testRealm.foreignRealm()
        self.foreign = foreign
        foreign.refresh()
        try foreign.write { apply(operations, foreign) }
        writesWithoutOldRows.append(model.time)
        modelStates[foreign.context.version] = model
        testRealm.realm.context.coordinator.pollForCommits()
    }
}

extension TestRealm {
    /// A Realm that shares only the file with `realm`, like a Realm of another process.
    fileprivate func foreignRealm() throws -> Realm {
        var others = configuration
        others.scheduler = nil
        let coordinator = try StoreCoordinator(others.options())
        let context = RealmContext(coordinator, others, others.models, .readWrite, .currentThread(), nil)
        context.replaceSnapshot(try coordinator.openSnapshot())
        return Realm(context)
    }
}
