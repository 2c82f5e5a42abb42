import ConformanceModels
import Foundation
import MartletEngine
import MartletTestSupport
import ModelTesting

@testable import Martlet

/// Runs random changes of objects of random classes, and observers with random key paths. `ModelRunner` does this with
/// generated classes. Here, classes and properties are accessed by name.
final class SchemaModelRunner {
    enum Step {
        case write([Edit], isOnNewThread: Bool, isCancelled: Bool)
        case watch(UInt64)
        case refresh
    }

    struct Program {
        let schema: RandomSchema
        var steps: [Step]

        init(seed: UInt64) {
            var random = SeededRandom(seed: seed ^ 0x5EED)
            schema = RandomSchema(&random)
            steps = [.write((0..<16).map { _ in Edit(&random) }, isOnNewThread: false, isCancelled: false)]
            for _ in 0..<6 { steps.append(.watch(random.next())) }
            for _ in 0..<30 {
                let edits = (0..<Int.random(in: 1...5, using: &random)).map { _ in Edit(&random) }
                switch Int.random(in: 0..<16, using: &random) {
                case 0: steps.append(.watch(random.next()))
                case 1: steps.append(.write(edits, isOnNewThread: false, isCancelled: true))
                case 2: steps.append(.write(edits, isOnNewThread: true, isCancelled: false))
                case 3..<9: steps.append(.refresh)
                default: steps.append(.write(edits, isOnNewThread: false, isCancelled: false))
                }
            }
        }
    }

    let program: Program
    let testRealm: TestRealm
    private(set) var model: ModelState
    private(set) var modelStates: [UInt64: ModelState] = [:]
    private(set) var watchers: [Watcher] = []
    private(set) var failure: String?
    var reported = 0
    private(set) var changes = 0
    /// The number of writes that a deletion rule denied.
    private(set) var denied = 0
    var keyValueWatchers: [SchemaKeyValueWatcher] = []
    // This coordinator keeps the file open with the types of the random schema.
    private let coordinator: StoreCoordinator

    init(_ program: Program) throws {
        self.program = program
        model = ModelState(program.schema.classes)
        var made: StoreCoordinator?
        let testRealm = try TestRealm { configuration in
            let types = program.schema.facts.compactMap(SchemaFactsParser.objectType).map { type in
                TypeDeclaration(type) { TableLayout.zeroRow(type) }
            }
            var options = StoreOptions(path: configuration.fileURL?.path ?? "", types: types)
            options.durability = .off
            made = try? StoreRegistry.coordinator(options)
            configuration.objectTypes = [Scalars.self]
        }
        guard let made else { throw ObserverExecutors.SetupFailed() }
        (self.testRealm, coordinator) = (testRealm, made)
        modelStates[testRealm.realm.context.version] = model
    }

    struct Outcome {
        var failure: String?
        var changes = 0
        var reported = 0
        var denied = 0
    }

    /// Runs a program, up to the first error.
    static func run(_ program: Program) throws -> Outcome {
        let runner = try SchemaModelRunner(program)
        for (position, step) in (program.steps + [.refresh]).enumerated() {
            try runner.perform(step)
            let isRefresh = if case .refresh = step { true } else { false }
            runner.checkKeyValues(isRefresh: isRefresh)
            if let failure = ModelRunner.invalidKeys(runner.testRealm.realm) { runner.fail(failure) }
            if let failure = try ModelRunner.collectionMismatch(runner.testRealm.realm) { runner.fail(failure) }
            if let failure = runner.failure {
                runner.failure = "step \(position): \(failure)"
                break
            }
        }
        runner.watchers.forEach { $0.end() }
        runner.keyValueWatchers.forEach { $0.end() }
        return Outcome(
            failure: runner.failure, changes: runner.changes, reported: runner.reported, denied: runner.denied)
    }

    private func perform(_ step: Step) throws {
        let realm = testRealm.realm
        switch step {
        case .watch(let seed):
            var random = SeededRandom(seed: seed)
            guard let shown = modelStates[realm.context.version] else { return }
            if seed.isMultiple(of: 3) { return watchKeyValues(seed, shown) }
            let builder = SchemaWatcherBuilder(
                schema: program.schema, model: shown, realm: realm, seed: random.next(), onCall: receiveCall)
            if let watcher = builder.make() { watchers.append(watcher) }
        case .refresh:
            realm.refresh()
            check()
        case .write(let edits, false, true):
            try realm.beginWrite()
            let kept = model
            for edit in edits { edit.perform(&model, realm, program.schema) }
            keyValueWatchers.forEach { $0.isRolledBack = true }
            realm.cancelWrite()
            model = kept
            model.denials = []
            keyValueWatchers.forEach { $0.allowNeedlessCalls() }
        case .write(let edits, false, false): try write(edits, realm)
        case .write(let edits, true, _): try testRealm.onNewThread { [self] other in try write(edits, other) }
        }
    }

    /// Writes, and checks that the write is denied if and only if a rule of the model denies a deletion. A denied write
    /// is rolled back.
    private func write(_ edits: [Edit], _ realm: Realm) throws {
        let kept = model
        do {
            try realm.write {
                apply(edits, realm)
                if !model.denials.isEmpty { keyValueWatchers.forEach { $0.isRolledBack = true } }
            }
            if !model.denials.isEmpty { fail("a write is committed in spite of \(model.denials)") }
        } catch let error as Realm.Error where error.code == .deletionDenied {
            if model.denials.isEmpty { fail("a write is denied: \(error.message)") }
            model = kept
            denied += 1
            keyValueWatchers.forEach { $0.allowNeedlessCalls() }
        }
        model.denials = []
        modelStates[realm.context.version] = model
    }

    func fail(_ failure: String) { self.failure = self.failure ?? failure }

    private func apply(_ edits: [Edit], _ realm: Realm) {
        for edit in edits {
            let time = model.time
            edit.perform(&model, realm, program.schema)
            if model.time > time { changes += 1 }
        }
    }

    private func receiveCall(_ watcher: Watcher, _ call: CallRecord, _ findError: (ModelState, ModelState) -> String?) {
        reported += call.size
        guard failure == nil, let now = modelStates[testRealm.realm.context.version] else { return }
        if let known = watcher.known.last, let error = findError(known, now) {
            failure = "\(watcher.name): \(error): \(call.text())"
        }
        watcher.known = [now]
        compare(watcher, now)
    }

    private func check() {
        guard failure == nil, let now = modelStates[testRealm.realm.context.version] else { return }
        for watcher in watchers {
            guard let known = watcher.known.last else {
                failure = "\(watcher.name) has had no first call"
                return
            }
            if let missing = watcher.missing(known, now) { failure = "\(watcher.name): \(missing)" }
            compare(watcher, now)
            watcher.acknowledge(now)
        }
    }

    private func compare(_ watcher: Watcher, _ now: ModelState) {
        guard failure == nil, let (actual, expected) = watcher.live(now), actual != expected else { return }
        failure = "\(watcher.name) shows \(actual) instead of \(expected)"
    }

    /// Returns the program without the steps that are not necessary for its failure.
    static func shortest(_ program: Program) throws -> Program {
        var shortest = program
        shortest.steps = try shrink(program.steps) { steps in
            var candidate = program
            candidate.steps = steps
            return try run(candidate).failure != nil
        }
        return shortest
    }
}
