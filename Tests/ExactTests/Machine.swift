import ConformanceModels
import Dispatch
import Foundation
import MartletTestSupport

@testable import Martlet
@testable import MartletEngine

/// Runs the steps of a program on a Realm and on the model, and compares every call of every observer with the model.
final class Machine {
    struct Outcome {
        /// The first error; nil if there is none.
        var failure: String?
        /// Calls of observers.
        var calls = 0
        /// Positions and properties that were reported in these calls.
        var told = 0
        /// Operations that changed something.
        var changes = 0
        /// One line for each event, if requested.
        var story: [String] = []
    }

    let test: TestRealm
    let twins: Twins
    var world = World()
    /// The state of the model at each version.
    var worlds: [UInt64: World] = [:]
    var watchers: [Watcher] = []
    /// Observers that must not be called any more.
    private var ended: [Watcher] = []
    var keyValues: [KeyValueWatcher] = []
    var realmWatchers: [RealmWatcher] = []
    /// Whether the Realm was invalidated. It shows a newer version without having reported it, until it advances again.
    private var wasInvalidated = false
    /// Nil in programs whose observers are all called on this thread.
    let homes: Homes?
    let loops = LoopExecutor()
    private let queue = DispatchQueue(label: "other")
    private var other: Realm?
    private var foreign: Realm?
    /// Whether another process has written.
    private(set) var isLoose = false
    var outcome = Outcome()
    private let tellsStory: Bool
    /// Whether a callback has done something that only the next delivery reports.
    var goesOn = false
    /// Whether a callback has written into the write that was beginning. The Realm then shows an uncommitted state.
    var isAhead = false
    /// Whether the write that is beginning will be rolled back.
    var isVain = false
    /// How the queued asynchronous writes will end, in their order.
    var endings: [Step.Ending] = []

    /// Runs a program, up to the first error.
    static func run(_ program: Program, tellsStory: Bool = false) throws -> Outcome {
        let machine = try Machine(program, tellsStory)
        for (position, step) in program.steps.enumerated() {
            try machine.perform(step)
            if let failure = machine.outcome.failure {
                machine.outcome.failure = "step \(position), \(step): \(failure)"
                return machine.end()
            }
        }
        machine.finishWrites()
        try machine.perform(.refresh)
        machine.drain()
        machine.outcome.failure = machine.outcome.failure.map { "at the end: \($0)" }
        return machine.end()
    }

    private init(_ program: Program, _ tellsStory: Bool) throws {
        self.tellsStory = tellsStory
        test = try TestRealm {
            $0.objectTypes = [
                Node.self, Part.self, Screw.self, ScalarLists.self, ScalarSets.self, ScalarMaps.self, Scalars.self,
                EnumHolder.self,
            ]
            $0.environment.commitPollMilliseconds = 0
            if program.hasShortChunks { $0.environment.chunkLimit = 2 }
            if program.searchesAlways { $0.environment.keysScannedPerSearch = 0 }
        }
        twins = Twins(test.realm)
        homes = program.hasHomes ? Homes(test.configuration, loops) : nil
        try test.realm.write {
            test.realm.add([ScalarLists()])
            test.realm.add([ScalarSets()])
            test.realm.add([ScalarMaps()])
        }
        for type in ["ScalarLists", "ScalarSets", "ScalarMaps"] { _ = world.add(type) }
        worlds[test.realm.context.version] = world
    }

    private func end() -> Outcome {
        for watcher in watchers + ended { watcher.end() }
        realmWatchers.forEach { $0.end() }
        loops.run()
        homes?.close()
        watchers = []
        ended = []
        keyValues = []
        queue.sync { other = nil }
        foreign = nil
        twins.drop()
        return outcome
    }

    func fail(_ failure: String) { outcome.failure = outcome.failure ?? failure }

    /// Adds a line to the trace.
    func note(_ line: @autoclosure () -> String) {
        guard tellsStory || Self.isTraced else { return }
        let line = line()
        if Self.isTraced { try? FileHandle.standardError.write(contentsOf: Data("\(line)\n".utf8)) }
        outcome.story.append(line)
    }

    /// Whether each line is printed immediately, for programs that trap.
    static let isTraced = ProcessInfo.processInfo.environment["MARTLET_EXACT_TRACE"] != nil

    // MARK: Steps

    private func perform(_ step: Step) throws {
        let before = outcome
        noteStep(step)
        try execute(step)
        let isRefresh = if case .refresh = step { outcome.changes == before.changes } else { false }
        checkKeyValues(isRefresh: isRefresh)
        checkRealmWatchers()
        checkTwins()
        checkKeys()
    }

    private func noteStep(_ step: Step) {
        switch step {
        case .watch: break
        case .write(_, .here): note("write")
        case .write(_, let place): note("write \(place)")
        case .silent(_, let position): note("write without notifying \(name(position))")
        case .cancelled: note("begin a write that is cancelled")
        case .end(let position): note("end \(name(position))")
        case .nested(_, let position): note("\(name(position)) writes when it is called next")
        case .nestedSilent(_, let position, let silenced):
            note("\(name(position)) writes without notifying \(name(silenced)) when it is called next")
        case .realmSilent(_, let silenced):
            note("the observer of the Realm writes without notifying \(name(silenced)) when it is called next")
        case .endInside(let victim, let position):
            note("\(name(position)) ends \(name(victim)) when it is called next")
        case .watchInside(let plan, let position):
            note("\(name(position)) registers a watcher of \(plan.kind) when it is called next")
        case .later: note("an asynchronous write is queued")
        case .nestedLater(_, _, let position):
            note("\(name(position)) queues an asynchronous write when it is called next")
        default: note("\(step)")
        }
    }

    private func name(_ position: Int) -> String { at(position)?.name ?? "no watcher" }

    private func at(_ position: Int) -> Watcher? {
        watchers.isEmpty ? nil : watchers[position % watchers.count]
    }

    private func execute(_ step: Step) throws {
        let realm = test.realm
        switch step {
        case .write(let operations, .here): try write(operations)
        case .write(let operations, .there): try writeOnOtherQueue(operations)
        case .write(let operations, .afar): try writeFromOtherProcess(operations)
        case .silent(let operations, let position):
            try write(operations, silencing: at(position), silencesRealm: position.isMultiple(of: 3))
        case .cancelled(let operations): try cancel(operations)
        case .turn: _ = test.scheduler.run()
        case .ripen: waitUntilComputed()
        case .settle: deliverAll()
        case .loops: runLoops()
        case .invalidate:
            realm.invalidate()
            twins.drop()
            wasInvalidated = true
            realmWatchers.forEach { $0.excuse() }
        case .autorefresh(let isOn): realm.autorefresh = isOn
        case .refresh:
            refresh()
            check()
        case .watch(let plan): watch(plan)
        case .end(let position): if let watcher = at(position) { end(watcher) }
        case .nested(let operations, let position): at(position)?.deeds.append(.write(operations, silencing: nil))
        case .nestedSilent(let operations, let position, let silenced):
            at(position)?.deeds.append(.write(operations, silencing: at(silenced)))
        case .realmSilent(let operations, let silenced):
            // The last observer of the Realm: the others are notified of this version before it.
            realmWatchers.last?.deed = { [unowned self] in
                let realm = test.realm
                // The commit that the observer is notified of is not finished yet.
                if worlds[realm.context.version] == nil { worlds[realm.context.version] = world }
                writeInside(operations, silencing: at(silenced))
                realmWatchers.forEach { $0.miss(realm.context.version) }
            }
        case .endInside(let victim, let position):
            if let victim = at(victim) { at(position)?.deeds.append(.end(victim)) }
        case .watchInside(let plan, let position): at(position)?.deeds.append(.watch(plan))
        case .later(let operations, let ending): writeLater(operations, ending)
        case .nestedLater(let operations, let ending, let position):
            at(position)?.deeds.append(.writeLater(operations, ending))
        }
    }

    // The next delivery reports what callbacks write.
    func refresh() {
        repeat {
            goesOn = false
            test.realm.refresh()
        } while goesOn
    }

    /// - Parameter isInside: Whether a callback registers the watcher. Loops do not begin in callbacks.
    func watch(_ plan: WatcherPlan, isInside: Bool = false) {
        let realm = test.realm
        // Observers of objects report the changes since the version that the Realm shows now.
        guard watchers.count < 14, let shown = worlds[realm.context.version] else { return }
        if plan.kind == .keyValue {
            guard keyValues.count < 8, let watcher = KeyValueWatcher.make(plan, shown, realm, twins) else { return }
            keyValues.append(watcher)
            note("watch \(watcher.name)")
            return
        }
        if plan.kind == .realm {
            guard realmWatchers.count < 2 else { return }
            let watcher = RealmWatcher(realm, refreshes: plan.base.isMultiple(of: 2))
            if wasInvalidated { watcher.excuse() }
            watcher.deed = realmWatchers.last?.deed
            realmWatchers.last?.deed = nil
            realmWatchers.append(watcher)
            note("watch the Realm")
            return
        }
        var plan = plan
        plan.isLoop = plan.isLoop && !isInside
        if isInside { plan.place = nil }
        let made = Watcher.make(plan, shown, realm, twins, loops, homes) { [unowned self] in
            worlds.sorted { $0.key < $1.key }.map(\.value) + [world]
        } hear: { [unowned self] in
            hear($0, $1, $2)
        }
        guard let made else { return }
        watchers.append(made)
        made.name = "watcher \(watchers.count + ended.count), \(made.name)"
        note("\(made.name), begins")
        if made.isLate { runLoops() }
        if let place = made.place, made.known.isEmpty, let version = homes?.version(place), made.isOfObject,
            let world = worlds[version]
        {
            made.known = [world]
        }
    }

    func end(_ watcher: Watcher) {
        watcher.end()
        watchers.removeAll { $0 === watcher }
        ended.append(watcher)
    }

    private func waitUntilComputed() {
        let deadline = Date(timeIntervalSinceNow: 60)
        while !test.realm.context.hub.isReady {
            if Date() > deadline { return fail("the changes are never computed") }
            sched_yield()
        }
    }

    private func deliverAll() {
        // A turn may make more work, but not without end.
        for _ in 0..<200 {
            if test.realm.context.hub.isIdle { return }
            guard test.scheduler.waitForWork() else { return fail("no turn was scheduled") }
            _ = test.scheduler.run()
        }
        fail("the deliveries do not end")
    }

    // MARK: Writing

    func apply(_ operations: [Operation], _ realm: Realm) {
        for operation in operations {
            let time = world.time
            note("    \(operation.text(world))")
            operation.perform(&world, realm, twins)
            if world.time > time { outcome.changes += 1 }
        }
    }

    func write(_ operations: [Operation], silencing watcher: Watcher? = nil, silencesRealm: Bool = false) throws {
        let realm = test.realm
        let silencedRealms = silencesRealm ? realmWatchers : []
        let tokens = [watcher?.token].compactMap { $0 } + silencedRealms.compactMap(\.token)
        var base = world
        if !silencesRealm { realmWatchers.forEach { $0.expect() } }
        try realm.write(withoutNotifying: tokens) {
            // A callback may have written while the write began.
            if !isAhead { base = world }
            apply(operations, realm)
            // Observers of the Realm may write before this write has returned.
            if let watcher, watcher.token != nil { watcher.silence(base, world, isLate: isAhead) }
        }
        isAhead = false
        wasInvalidated = false
        worlds[realm.context.version] = world
        silencedRealms.forEach { $0.skip(realm.context.version) }
    }

    /// Writes into the write transaction that is beginning.
    func writeAlong(_ operations: [Operation]) {
        isAhead = true
        apply(operations, test.realm)
    }

    private func cancel(_ operations: [Operation]) throws {
        let realm = test.realm
        isVain = true
        try realm.beginWrite()
        isVain = false
        let (kept, count) = (world, twins.count)
        let held = HeldNode.all(world, realm)
        apply(operations, realm)
        keyValues.forEach { $0.isTakenBack = true }
        realm.cancelWrite()
        keyValues.forEach { $0.isTakenBack = false }
        world = kept
        twins.drop(after: count, kept)
        keyValues.forEach { $0.forgive() }
        if let failure = held.lazy.compactMap({ $0.wrong(kept) }).first { fail(failure) }
    }

    private func writeOnOtherQueue(_ operations: [Operation]) throws {
        var configuration = test.configuration
        configuration.scheduler = nil
        nonisolated(unsafe) let this = self
        let settings = configuration
        try queue.sync {
            if this.other == nil { this.other = try Realm(configuration: settings, queue: this.queue) }
            guard let other = this.other else { return }
            try other.write { this.apply(operations, other) }
            this.worlds[other.context.version] = this.world
        }
    }

    private func writeFromOtherProcess(_ operations: [Operation]) throws {
        let foreign = try self.foreign ?? test.foreignRealm()
        self.foreign = foreign
        // Commits of other processes come without the old rows. Changes that depend on those may be reported needlessly.
        isLoose = true
        foreign.refresh()
        try foreign.write { apply(operations, foreign) }
        worlds[foreign.context.version] = world
        test.realm.context.coordinator.pollForCommits()
    }
}

extension TestRealm {
    /// A Realm that shares only the file with this one, like a Realm of another process.
    fileprivate func foreignRealm() throws -> Realm {
        var others = configuration
        others.scheduler = nil
        let coordinator = try StoreCoordinator(others.options())
        let context = RealmContext(coordinator, others, others.models, .readWrite, .currentThread(), nil)
        context.replaceSnapshot(try coordinator.openSnapshot())
        return Realm(context)
    }
}
