import ConformanceModels
import MartletTestSupport
import ModelTesting

@testable import Martlet
@testable import MartletEngine

/// Runs the steps of one part of a program on one thread, or on several threads in turn. Checks every state that the
/// Realm shows.
final class PartRunner {
    private let number: Int
    private let part: Program.Part
    private let run: Run
    private var scheduler = ManualScheduler()
    private var realm: Realm?
    /// The context of the Realm that was opened last. Asynchronous writes may keep this Realm open after `close`.
    /// Opening the file then returns the same Realm, which still shows the version from before `close`.
    private weak var context: RealmContext?
    private var watchers: [any CheckedObserver] = []
    /// Objects that are retained across versions, with their codes.
    private var held: [(code: String, object: StringKey)] = []
    /// The number of asynchronous writes that have not ended.
    private var pendingWrites = 0

    init(_ number: Int, _ part: Program.Part, _ run: Run) {
        self.number = number
        self.part = part
        self.run = run
    }

    func perform() {
        let segments = part.steps.split(separator: .switchThread, omittingEmptySubsequences: false)
        if segments.count == 1 { return perform(segments[0], isLast: true) }
        for (number, steps) in segments.enumerated() {
            nonisolated(unsafe) let this = self
            run.threadScheduler.continueOnNewThread { this.perform(steps, isLast: number == segments.count - 1) }
        }
    }

    private func perform(_ steps: ArraySlice<Program.Step>, isLast: Bool) {
        do {
            for step in steps {
                run.threadScheduler.addToTrace("\(step)")
                try execute(step)
            }
            try endWrites()
            if isLast { try finish() } else { abandonRealm() }
        } catch {
            // The other threads then wait for this thread, and the run ends with a deadlock. Only the first failure is
            // reported.
            run.fail("\(error)")
        }
    }

    /// Leaves the Realm open at the end of its thread.
    private func abandonRealm() {
        run.threadScheduler.addToTrace("continues on another thread")
        watchers.forEach { $0.end() }
        watchers = []
        held = []
        if let realm { run.realmsOfEndedThreads.append(realm) }
        (realm, context) = (nil, nil)
        // Work that was scheduled on a thread does not run after the thread has ended.
        scheduler = ManualScheduler()
    }

    private func execute(_ step: Program.Step) throws {
        switch step {
        case .write(let seed): try write(seed)
        case .cancel(let seed): try cancel(seed)
        case .writeAsync(let seed): try writeAsync(seed)
        case .cancelAsync(let seed): try rollBackAsync(seed, fails: false)
        case .failAsync(let seed): try rollBackAsync(seed, fails: true)
        case .switchThread: break
        case .refresh: try refresh()
        case .runScheduler:
            _ = try opened()
            runScheduler()
        case .invalidate:
            try opened().invalidate()
            held = []
            check()
        case .pollForCommits: try opened().context.coordinator.pollForCommits()
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
        let acknowledged = context == nil ? run.history.acknowledged : 0
        var configuration = run.configuration
        configuration.scheduler = scheduler
        let realm =
            if part.process == 0 {
                try Realm(configuration: configuration)
            } else {
                // Uses a separate coordinator, as another process does.
                Realm(
                    try Realm.context(
                        configuration, StoreCoordinator(configuration.options()), .currentThread()))
            }
        self.realm = realm
        context = realm.context
        run.threadScheduler.addToTrace("shows version \(realm.version)")
        if run.realmsOfEndedThreads.contains(realm) {
            run.fail("opening returned the Realm of a thread that has ended")
        }
        if realm.version < acknowledged { run.fail("shows \(realm.version), but \(acknowledged) was committed before") }
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
        let contents = run.history.contents(at: realm.version)
        for (code, object) in held {
            if object.isInvalidated != (contents[code] == nil) { run.fail("isInvalidated of '\(code)' is wrong") }
            if !object.isInvalidated, object.content != contents[code] { run.fail("'\(code)' has \(object.content)") }
        }
        held.removeAll { $0.object.isInvalidated }
        if held.isEmpty { held = realm.objects(StringKey.self).prefix(2).map { ($0.code, $0) } }
    }

    private func refresh() throws {
        let realm = try opened()
        let acknowledged = run.history.acknowledged
        realm.refresh()
        if realm.version < acknowledged { run.fail("refreshed to \(realm.version), but \(acknowledged) was committed") }
        check()
    }

    private func runScheduler() {
        scheduler.run()
        check()
    }

    // MARK: Writing

    private func write(_ seed: UInt64) throws {
        let realm = try opened()
        let acknowledged = run.history.acknowledged
        var newVersion: Version = 0
        do {
            try realm.write { newVersion = change(realm, acknowledged, seed) }
        } catch  where run.isLogFull(error) && newVersion == 0 {
            return check()
        }
        if realm.version != newVersion { run.fail("shows \(realm.version) after writing \(newVersion)") }
        recordCommit(newVersion)
        check()
    }

    private func recordCommit(_ version: Version) {
        run.history.acknowledge(version)
        run.writes += 1
    }

    private func cancel(_ seed: UInt64) throws {
        let realm = try opened()
        do { try realm.beginWrite() } catch  where run.isLogFull(error) { return check() }
        // No other thread sees the recorded version, because this thread holds the write lock.
        let newVersion = change(realm, run.history.acknowledged, seed)
        run.history.discard(newVersion)
        realm.cancelWrite()
        if realm.version != newVersion - 1 { run.fail("shows \(realm.version) after the rollback of \(newVersion)") }
        check()
    }

    private func writeAsync(_ seed: UInt64) throws {
        let realm = try opened()
        let acknowledged = run.history.acknowledged
        pendingWrites += 1
        var newVersion: Version = 0
        realm.writeAsync { [self] in
            newVersion = change(realm, acknowledged, seed)
        } onComplete: { [self] error in
            pendingWrites -= 1
            switch error {
            case nil: recordCommit(newVersion)
            case let error? where run.isLogFull(error) && newVersion == 0: check()
            case let error?: run.fail("an asynchronous write ends with \(error)")
            }
        }
    }

    private struct Failed: Error {}

    /// Queues an asynchronous write whose block cancels the write or, if `fails` is true, throws an error. Only a block
    /// of the `async` method `asyncWrite` can throw. So if `fails` is true, this function queues the write in the same
    /// way as `asyncWrite` does.
    private func rollBackAsync(_ seed: UInt64, fails: Bool) throws {
        let realm = try opened()
        let acknowledged = run.history.acknowledged
        pendingWrites += 1
        let complete = { [self] (error: (any Error)?) in
            pendingWrites -= 1
            if let error, run.isLogFull(error) { return }
            if (error is Failed) != fails {
                run.fail("a write that is rolled back ends with \(String(describing: error))")
            }
        }
        if !fails {
            realm.writeAsync(
                { [self] in
                    let newVersion = change(realm, acknowledged, seed)
                    run.history.discard(newVersion)
                    realm.cancelWrite()
                    if realm.version != newVersion - 1 {
                        run.fail("shows \(realm.version) after the rollback of \(newVersion)")
                    }
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
                    run.history.discard(change(realm, acknowledged, seed))
                    throw Failed()
                }, isCommittedByBody: false, complete: complete, refuse: complete, context: realm.context, actor: nil))
    }

    /// Changes one to three objects in the open write. Returns the version that the write will create.
    private func change(_ realm: Realm, _ acknowledged: Version, _ seed: UInt64) -> Version {
        let base = realm.version
        run.threadScheduler.addToTrace("writes version \(base + 1)")
        if base < max(acknowledged, run.history.newest) {
            run.fail("writes on version \(base), but the newest is \(max(acknowledged, run.history.newest))")
        }
        run.check(realm)
        var contents = run.history.contents(at: base)
        var random = SeededRandom(seed: seed)
        for place in 0..<Int.random(in: 1...3, using: &random) {
            // Every committed value is used only once, so a wrong state never equals the expected state.
            let value = Int(base) * 100 + number * 10 + place
            let code = contents.keys.sorted().randomElement(using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                if let object = code.flatMap({ realm.object(ofType: StringKey.self, forPrimaryKey: $0) }) {
                    object.content = value
                    contents[object.code] = value
                    continue
                }
            case 2:
                if let object = code.flatMap({ realm.object(ofType: StringKey.self, forPrimaryKey: $0) }) {
                    contents[object.code] = nil
                    realm.delete(object)
                    continue
                }
            default: break
            }
            realm.add(StringKey(code: "k\(value)", content: value))
            contents["k\(value)"] = value
        }
        run.history.record(base + 1, contents)
        return base + 1
    }

    // MARK: The end

    private func endWrites() throws {
        while pendingWrites > 0 {
            run.threadScheduler.wait("work on the scheduler of its Realm") { [scheduler] in scheduler.count > 0 }
            runScheduler()
        }
    }

    // After the first barrier, all writes have ended, and no Realm is refreshed. So only notifications can deliver the
    // newest version.
    private func finish() throws {
        run.barrier("the end of all steps")
        // The first thread that reaches this point releases these Realms for all threads.
        run.frozen = []
        run.realmsOfEndedThreads = []
        let coordinator = realm?.context.coordinator
        coordinator?.pollForCommits()
        repeat {
            run.threadScheduler.wait(CooperativeScheduler.idle) { [scheduler, threadScheduler = run.threadScheduler] in
                scheduler.count > 0 || threadScheduler.isIdle
            }
            runScheduler()
        } while !run.threadScheduler.isIdle || scheduler.count > 0
        if let realm {
            if realm.version < run.history.newest {
                run.fail("stays at version \(realm.version) of \(run.history.newest)")
            }
            if !realm.context.hub.isIdle { run.fail("the hub is not idle") }
            watchers.forEach { $0.checkFinal(run.history.contents(at: run.history.newest)) }
        }
        run.threadScheduler.isFinishing = true
        run.barrier("the end of all deliveries")
        if let coordinator { run.checkPins(coordinator, isInUse: true) }
        run.barrier("the end of all checks")
        close()
        run.barrier("the end of all Realms")
        if let coordinator { run.checkPins(coordinator, isInUse: false) }
        run.barrier("the end")
    }
}
