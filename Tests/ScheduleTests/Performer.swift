import ConformanceModels
import MartletTestSupport

@testable import Martlet
@testable import MartletEngine

/// Carries out the steps of one part on its thread, and looks at everything that it sees.
final class Performer {
    private let number: Int
    private let part: Program.Part
    private let run: Run
    private var scheduler = ManualScheduler()
    private var realm: Realm?
    /// What asynchronous writes may keep open beyond `close`: opening it again gives the same Realm, as it is.
    private weak var context: RealmContext?
    private var watchers: [any Watching] = []
    /// Objects that are held across versions, by their codes.
    private var held: [(code: String, object: StringKey)] = []
    /// Asynchronous writes that have not ended.
    private var awaited = 0

    init(_ number: Int, _ part: Program.Part, _ run: Run) {
        self.number = number
        self.part = part
        self.run = run
    }

    func perform() {
        let stretches = part.steps.split(separator: .move, omittingEmptySubsequences: false)
        if stretches.count == 1 { return perform(stretches[0], isLast: true) }
        for (number, steps) in stretches.enumerated() {
            nonisolated(unsafe) let this = self
            run.baton.goOnElsewhere { this.perform(steps, isLast: number == stretches.count - 1) }
        }
    }

    private func perform(_ steps: ArraySlice<Program.Step>, isLast: Bool) {
        do {
            for step in steps {
                run.baton.note("\(step)")
                try carryOut(step)
            }
            try endWrites()
            if isLast { try settle() } else { leave() }
        } catch {
            // The others wait for it in vain, and say so.
            run.fail("\(error)")
        }
    }

    /// Leaves the Realm open, whose thread ends.
    private func leave() {
        run.baton.note("goes on in another thread")
        watchers.forEach { $0.end() }
        watchers = []
        held = []
        if let realm { run.orphans.append(realm) }
        (realm, context) = (nil, nil)
        // Turns of a thread that has ended are not taken.
        scheduler = ManualScheduler()
    }

    private func carryOut(_ step: Program.Step) throws {
        switch step {
        case .write(let seed): try write(seed)
        case .cancel(let seed): try cancel(seed)
        case .writeSoon(let seed): try writeSoon(seed)
        case .cancelSoon(let seed): try rollBackSoon(seed, fails: false)
        case .failSoon(let seed): try rollBackSoon(seed, fails: true)
        case .move: break
        case .refresh: try refresh()
        case .turn:
            _ = try opened()
            turn()
        case .invalidate:
            try opened().invalidate()
            held = []
            check()
        case .look: try opened().context.coordinator.pollForCommits()
        case .checkpoint: try opened().context.coordinator.checkpoint()
        case .close: close()
        case .watch: watchers.append(Watcher(try opened(), run))
        case .watchObject:
            let realm = try opened()
            if let object = realm.objects(StringKey.self).first {
                watchers.append(ObjectWatcher(object, realm.version, run))
            }
        case .endWatch: if !watchers.isEmpty { watchers.removeFirst().end() }
        case .freeze: run.frozen.append(try opened().freeze())
        case .readFrozen: run.frozen.forEach(run.check)
        case .dropFrozen: if !run.frozen.isEmpty { run.frozen.removeFirst() }
        }
    }

    // MARK: The Realm

    private func opened() throws -> Realm {
        if let realm { return realm }
        let acknowledged = context == nil ? run.ledger.acknowledged : 0
        var configuration = run.configuration
        configuration.scheduler = scheduler
        let realm =
            if part.process == 0 {
                try Realm(configuration: configuration)
            } else {
                // A coordinator of its own, as another process has.
                Realm(
                    try Realm.context(
                        configuration, StoreCoordinator(configuration.options()), .currentThread()))
            }
        self.realm = realm
        context = realm.context
        run.baton.note("shows version \(realm.version)")
        if run.orphans.contains(realm) { run.fail("is given the Realm of a thread that has ended") }
        if realm.version < acknowledged { run.fail("shows \(realm.version), but \(acknowledged) was stored before") }
        check()
        return realm
    }

    private func close() {
        watchers.forEach { $0.end() }
        watchers = []
        held = []
        realm = nil
    }

    private func check() {
        guard let realm else { return }
        run.check(realm)
        let world = run.ledger.world(realm.version)
        for (code, object) in held {
            if object.isInvalidated != (world[code] == nil) { run.fail("'\(code)' is not as it was written") }
            if !object.isInvalidated, object.content != world[code] { run.fail("'\(code)' has \(object.content)") }
        }
        held.removeAll { $0.object.isInvalidated }
        if held.isEmpty { held = realm.objects(StringKey.self).prefix(2).map { ($0.code, $0) } }
    }

    private func refresh() throws {
        let realm = try opened()
        let acknowledged = run.ledger.acknowledged
        realm.refresh()
        if realm.version < acknowledged { run.fail("refreshed to \(realm.version), but \(acknowledged) was stored") }
        check()
    }

    private func turn() {
        scheduler.run()
        check()
    }

    // MARK: Writing

    private func write(_ seed: UInt64) throws {
        let realm = try opened()
        let acknowledged = run.ledger.acknowledged
        var made: Version = 0
        do {
            try realm.write { made = change(realm, acknowledged, seed) }
        } catch  where run.isLogFull(error) && made == 0 {
            return check()
        }
        if realm.version != made { run.fail("shows \(realm.version) after writing \(made)") }
        stored(made)
        check()
    }

    private func stored(_ version: Version) {
        run.ledger.acknowledge(version)
        run.writes += 1
    }

    private func cancel(_ seed: UInt64) throws {
        let realm = try opened()
        do { try realm.beginWrite() } catch  where run.isLogFull(error) { return check() }
        // Nobody else can see what it enters, because it holds the lock.
        let made = change(realm, run.ledger.acknowledged, seed)
        run.ledger.takeBack(made)
        realm.cancelWrite()
        if realm.version != made - 1 { run.fail("shows \(realm.version) after taking back \(made)") }
        // What was deleted is there again, in other objects.
        held.removeAll { $0.object.isInvalidated }
        check()
    }

    private func writeSoon(_ seed: UInt64) throws {
        let realm = try opened()
        let acknowledged = run.ledger.acknowledged
        awaited += 1
        var made: Version = 0
        realm.writeAsync { [self] in
            made = change(realm, acknowledged, seed)
        } onComplete: { [self] error in
            awaited -= 1
            switch error {
            case nil: stored(made)
            case let error? where run.isLogFull(error) && made == 0: check()
            case let error?: run.fail("an asynchronous write ends with \(error)")
            }
        }
    }

    private struct Failed: Error {}

    /// An asynchronous write whose block cancels it, or throws an error as that of 'asyncWrite' may.
    private func rollBackSoon(_ seed: UInt64, fails: Bool) throws {
        let realm = try opened()
        let acknowledged = run.ledger.acknowledged
        awaited += 1
        let complete = { [self] (error: (any Error)?) in
            awaited -= 1
            if let error, run.isLogFull(error) { return }
            if (error is Failed) != fails {
                run.fail("a write that is rolled back ends with \(String(describing: error))")
            }
        }
        if !fails {
            realm.writeAsync(
                { [self] in
                    let made = change(realm, acknowledged, seed)
                    run.ledger.takeBack(made)
                    realm.cancelWrite()
                    if realm.version != made - 1 { run.fail("shows \(realm.version) after the rollback of \(made)") }
                    held.removeAll { $0.object.isInvalidated }
                    check()
                }, onComplete: complete)
            return
        }
        let writes = realm.context.asyncWrites ?? AsyncWrites(realm.context)
        realm.context.asyncWrites = writes
        _ = writes.canRun()
        writes.add(
            AsyncWrite(
                id: writes.nextID(),
                body: { [self] in
                    run.ledger.takeBack(change(realm, acknowledged, seed))
                    held = []
                    throw Failed()
                }, commitsItself: false, complete: complete, context: realm.context, actor: nil))
    }

    /// Changes one to three objects in the open write; returns the version that it will be.
    private func change(_ realm: Realm, _ acknowledged: Version, _ seed: UInt64) -> Version {
        let base = realm.version
        run.baton.note("writes version \(base + 1)")
        if base < max(acknowledged, run.ledger.newest) {
            run.fail("writes on version \(base), but there is \(max(acknowledged, run.ledger.newest))")
        }
        run.check(realm)
        var world = run.ledger.world(base)
        var random = Seeded(state: seed)
        for place in 0..<Int.random(in: 1...3, using: &random) {
            // No value comes twice, so that nothing can seem right by accident.
            let value = Int(base) * 100 + number * 10 + place
            let code = world.keys.sorted().randomElement(using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                if let object = code.flatMap({ realm.object(ofType: StringKey.self, forPrimaryKey: $0) }) {
                    object.content = value
                    world[object.code] = value
                    continue
                }
            case 2:
                if let object = code.flatMap({ realm.object(ofType: StringKey.self, forPrimaryKey: $0) }) {
                    world[object.code] = nil
                    realm.delete(object)
                    continue
                }
            default: break
            }
            realm.add(StringKey(code: "k\(value)", content: value))
            world["k\(value)"] = value
        }
        run.ledger.enter(base + 1, world)
        return base + 1
    }

    // MARK: The end

    private func endWrites() throws {
        while awaited > 0 {
            run.baton.wait("a turn") { [scheduler] in scheduler.count > 0 }
            turn()
        }
    }

    // Nobody writes any more, and nobody asks for what is newest: it must come by itself.
    private func settle() throws {
        run.meet("the end of all steps")
        // Whoever is first.
        run.frozen = []
        run.orphans = []
        let coordinator = realm?.context.coordinator
        coordinator?.pollForCommits()
        repeat {
            run.baton.wait(Baton.rest) { [scheduler, baton = run.baton] in scheduler.count > 0 || baton.isQuiet }
            turn()
        } while !run.baton.isQuiet || scheduler.count > 0
        if let realm {
            if realm.version < run.ledger.newest {
                run.fail("stays at version \(realm.version) of \(run.ledger.newest)")
            }
            if !realm.context.hub.isIdle { run.fail("the hub is not at rest") }
            watchers.forEach { $0.checkEnd(run.ledger.world(run.ledger.newest)) }
        }
        run.baton.isEnding = true
        run.meet("rest")
        if let coordinator { run.checkPins(coordinator, isInUse: true) }
        run.meet("the end of looking")
        close()
        run.meet("the end of all Realms")
        if let coordinator { run.checkPins(coordinator, isInUse: false) }
        run.meet("the end")
    }
}
