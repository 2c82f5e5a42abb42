import ConformanceModels
import Dispatch
import Foundation
import MartletTestSupport

@testable import Martlet
@testable import MartletEngine

/// Runs steps on a Realm and on the model, and holds every call of every observer against the model.
final class Machine {
    struct Outcome {
        /// What was wrong first; nil when all was exact.
        var failure: String?
        /// Calls of observers, and positions and properties that were told in them.
        var calls = 0
        var told = 0
        /// Operations that were carried out.
        var changes = 0
        /// What happened, line by line, if that was wanted.
        var story: [String] = []
    }

    let test: TestRealm
    let twins: Twins
    var world = World()
    /// The world of every version.
    var worlds: [UInt64: World] = [:]
    var watchers: [Watcher] = []
    /// They are not to be called any more.
    private var ended: [Watcher] = []
    var keyValues: [KeyValueWatcher] = []
    var realmWatchers: [RealmWatcher] = []
    /// The Realm was invalidated: what it shows now it has not moved to, and will tell of when it moves again.
    private var hasShownNothing = false
    /// Nil in programs where all live here.
    let homes: Homes?
    let loops = LoopExecutor()
    private let queue = DispatchQueue(label: "there")
    private var other: Realm?
    private var afar: Realm?
    /// Another process has written.
    private(set) var isLoose = false
    var outcome = Outcome()
    private let tellsStory: Bool
    /// A callback has done something that the next delivery tells of.
    var goesOn = false
    /// A callback has written into the write that was beginning: the Realm shows what has no version yet.
    var isAhead = false
    /// The write that is beginning will be taken back.
    var isVain = false
    /// How the asynchronous writes that wait will end, in their order.
    var endings: [Step.Ending] = []

    /// Runs until something is wrong.
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
        afar = nil
        twins.drop()
        return outcome
    }

    func fail(_ failure: String) { outcome.failure = outcome.failure ?? failure }

    /// Adds a line to the story.
    func note(_ line: @autoclosure () -> String) {
        guard tellsStory || Self.isTraced else { return }
        let line = line()
        if Self.isTraced { try? FileHandle.standardError.write(contentsOf: Data("\(line)\n".utf8)) }
        outcome.story.append(line)
    }

    /// Says everything at once, for programs that trap.
    static let isTraced = ProcessInfo.processInfo.environment["MARTLET_EXACT_TRACE"] != nil

    // MARK: Steps

    private func perform(_ step: Step) throws {
        let before = outcome
        noteStep(step)
        try carryOut(step)
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
        case .silent(_, let position): note("write without telling \(name(position))")
        case .cancelled: note("begin a write that is cancelled")
        case .end(let position): note("end \(name(position))")
        case .nested(_, let position): note("\(name(position)) is to write when it is called")
        case .nestedSilent(_, let position, let silenced):
            note("\(name(position)) is to write without telling \(name(silenced)) when it is called")
        case .realmSilent(_, let silenced):
            note("the observer of the Realm is to write without telling \(name(silenced)) when it is called")
        case .endInside(let victim, let position):
            note("\(name(position)) is to end \(name(victim)) when it is called")
        case .watchInside(let plan, let position):
            note("\(name(position)) is to register a watcher of \(plan.kind) when it is called")
        case .later: note("a write is asked for")
        case .nestedLater(_, _, let position): note("\(name(position)) is to ask for a write when it is called")
        default: note("\(step)")
        }
    }

    private func name(_ position: Int) -> String { at(position)?.name ?? "nobody" }

    private func at(_ position: Int) -> Watcher? {
        watchers.isEmpty ? nil : watchers[position % watchers.count]
    }

    private func carryOut(_ step: Step) throws {
        let realm = test.realm
        switch step {
        case .write(let operations, .here): try write(operations)
        case .write(let operations, .there): try writeThere(operations)
        case .write(let operations, .afar): try writeAfar(operations)
        case .silent(let operations, let position):
            try write(operations, silencing: at(position), silencesRealm: position.isMultiple(of: 3))
        case .cancelled(let operations): try cancel(operations)
        case .turn: _ = test.scheduler.run()
        case .ripen: ripen()
        case .settle: settle()
        case .loops: runLoops()
        case .invalidate:
            realm.invalidate()
            twins.drop()
            hasShownNothing = true
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
            // The last one: those before it are told of the version that it is told of.
            realmWatchers.last?.deed = { [unowned self] in
                let realm = test.realm
                // In the middle of the commit that it is told of.
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

    // What callbacks write is told by the next delivery.
    func refresh() {
        repeat {
            goesOn = false
            test.realm.refresh()
        } while goesOn
    }

    /// - Parameter isInside: in a callback, where no loop begins.
    func watch(_ plan: WatcherPlan, isInside: Bool = false) {
        let realm = test.realm
        // What the Realm shows now is where objects begin.
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
            if hasShownNothing { watcher.excuse() }
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

    private func ripen() {
        let deadline = Date(timeIntervalSinceNow: 60)
        while !test.realm.context.hub.isReady {
            if Date() > deadline { return fail("what is to be told is never ready") }
            sched_yield()
        }
    }

    private func settle() {
        // Each turn may find that more has happened, but nothing happens for ever.
        for _ in 0..<200 {
            if test.realm.context.hub.isIdle { return }
            guard test.scheduler.waitForWork() else { return fail("no turn came") }
            _ = test.scheduler.run()
        }
        fail("turns never come to an end")
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
            // A callback on the way into the write may have written.
            if !isAhead { base = world }
            apply(operations, realm)
            // Observers of the Realm may write before this one has returned.
            if let watcher, watcher.token != nil { watcher.silence(base, world, isLate: isAhead) }
        }
        isAhead = false
        hasShownNothing = false
        worlds[realm.context.version] = world
        silencedRealms.forEach { $0.skip(realm.context.version) }
    }

    /// Into the write that is beginning.
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
        if let wrong = held.lazy.compactMap({ $0.wrong(kept) }).first { fail(wrong) }
    }

    private func writeThere(_ operations: [Operation]) throws {
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

    private func writeAfar(_ operations: [Operation]) throws {
        let afar = try self.afar ?? test.foreignRealm()
        self.afar = afar
        // Old rows are not handed over: what rests on them is told once too often rather than not at all.
        isLoose = true
        afar.refresh()
        try afar.write { apply(operations, afar) }
        worlds[afar.context.version] = world
        test.realm.context.coordinator.pollForCommits()
    }
}

extension TestRealm {
    /// A Realm that shares nothing with this one but the file, as one of another process would.
    fileprivate func foreignRealm() throws -> Realm {
        var others = configuration
        others.scheduler = nil
        let coordinator = try StoreCoordinator(others.options())
        let context = RealmContext(coordinator, others, others.models, .readWrite, .currentThread(), nil)
        context.replaceSnapshot(try coordinator.openSnapshot())
        return Realm(context)
    }
}
