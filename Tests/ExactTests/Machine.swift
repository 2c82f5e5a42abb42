import ConformanceModels
import Dispatch
import Foundation
import MartletTestSupport

@testable import Martlet
@testable import MartletEngine

/// One step of a run.
enum Step: CustomStringConvertible {
    /// Here, in another Realm of the process, or as another process would.
    enum Place { case here, there, afar }

    case write([Operation], Place)
    /// Without telling the watcher at a position.
    case silent([Operation], Int)
    case cancelled([Operation])
    case turn
    case settle
    case invalidate
    case autorefresh(Bool)
    case refresh
    case watch(WatcherPlan)
    case end(Int)
    /// The watcher at a position writes when it is called next.
    case nested([Operation], Int)

    var description: String {
        switch self {
        case .write(let operations, let place): "write \(place) \(operations)"
        case .silent(let operations, let watcher): "write silencing \(watcher) \(operations)"
        case .cancelled(let operations): "cancel \(operations)"
        case .turn: "turn"
        case .invalidate: "invalidate"
        case .autorefresh(let isOn): "autorefresh \(isOn)"
        case .settle: "settle"
        case .refresh: "refresh"
        case .watch(let plan): "watch \(plan)"
        case .end(let watcher): "end \(watcher)"
        case .nested(let operations, let watcher): "\(watcher) writes \(operations)"
        }
    }

    var operations: [Operation]? {
        switch self {
        case .write(let operations, _), .silent(let operations, _), .cancelled(let operations),
            .nested(let operations, _):
            operations
        default: nil
        }
    }

    func with(_ operations: [Operation]) -> Step {
        switch self {
        case .write(_, let place): .write(operations, place)
        case .silent(_, let watcher): .silent(operations, watcher)
        case .cancelled: .cancelled(operations)
        case .nested(_, let watcher): .nested(operations, watcher)
        default: self
        }
    }
}

/// Runs steps on a Realm and on the model, and holds every call of every observer against the model.
final class Machine {
    private let test: TestRealm
    private var world = World()
    /// The world of every version.
    private var worlds: [UInt64: World] = [:]
    private var watchers: [Watcher] = []
    private let queue = DispatchQueue(label: "there")
    private var other: Realm?
    private var afar: Realm?
    private var isLoose = false
    /// What was wrong first.
    private(set) var failure: String?
    private(set) var calls = 0
    private(set) var changes = 0
    /// A callback has written: those after it may be told of an older version than the Realm shows.
    private var hasNested = false
    private var hasWritten = false

    /// Runs until something is wrong; nil when all was exact.
    static func run(_ steps: [Step]) throws -> (failure: String?, calls: Int, changes: Int) {
        let machine = try Machine()
        for (position, step) in steps.enumerated() {
            try machine.perform(step)
            if let failure = machine.failure {
                machine.end()
                return ("step \(position), \(step): \(failure)", machine.calls, machine.changes)
            }
        }
        try machine.perform(.refresh)
        machine.end()
        return (machine.failure.map { "at the end: \($0)" }, machine.calls, machine.changes)
    }

    private init() throws {
        test = try TestRealm { $0.environment.externalCommitMilliseconds = 0 }
        try test.realm.write {
            test.realm.add([ScalarLists()])
            test.realm.add([ScalarSets()])
            test.realm.add([ScalarMaps()])
        }
        for type in ["ScalarLists", "ScalarSets", "ScalarMaps"] { _ = world.add(type) }
        worlds[test.realm.context.version] = world
    }

    private func end() {
        watchers = []
        queue.sync { other = nil }
        afar = nil
    }

    private func perform(_ step: Step) throws {
        let realm = test.realm
        switch step {
        case .write(let operations, .here): try write(operations)
        case .write(let operations, .there): try writeThere(operations)
        case .write(let operations, .afar): try writeAfar(operations)
        case .silent(let operations, let position):
            guard !watchers.isEmpty else { return try write(operations) }
            let watcher = watchers[position % watchers.count]
            try write(operations, silencing: watcher)
        case .cancelled(let operations):
            try realm.beginWrite()
            var vain = world
            for operation in operations { operation.perform(&vain, realm) }
            realm.cancelWrite()
        case .turn: _ = test.scheduler.turn()
        case .settle: settle()
        case .invalidate: realm.invalidate()
        case .autorefresh(let isOn): realm.autorefresh = isOn
        case .refresh:
            // What callbacks write is told by the next one.
            repeat {
                hasWritten = false
                realm.refresh()
            } while hasWritten
            check()
        case .watch(let plan):
            guard watchers.count < 14 else { return }
            // What the Realm shows now is where objects begin.
            guard let shown = worlds[realm.context.version] else { return }
            if let watcher = Watcher.make(plan, shown, realm, hear: { [unowned self] in hear($0, $1) }) {
                watchers.append(watcher)
            }
        case .end(let position):
            if !watchers.isEmpty { watchers.remove(at: position % watchers.count) }
        case .nested(let operations, let position):
            if !watchers.isEmpty { watchers[position % watchers.count].nested = operations }
        }
    }

    // MARK: Writing

    private func write(_ operations: [Operation], silencing watcher: Watcher? = nil) throws {
        let realm = test.realm
        changes += operations.count
        let tokens = [watcher?.token].compactMap { $0 }
        try realm.write(withoutNotifying: tokens) {
            // A callback on the way into the write may have written.
            for operation in operations { operation.perform(&world, realm) }
        }
        worlds[realm.context.version] = world
        if let watcher, !watcher.known.isEmpty { watcher.known = [world] }
    }

    private func writeThere(_ operations: [Operation]) throws {
        changes += operations.count
        var configuration = test.configuration
        configuration.scheduler = nil
        nonisolated(unsafe) let this = self
        let settings = configuration
        try queue.sync {
            if this.other == nil { this.other = try Realm(configuration: settings, queue: this.queue) }
            guard let other = this.other else { return }
            try other.write { for operation in operations { operation.perform(&this.world, other) } }
            this.worlds[other.context.version] = this.world
        }
    }

    private func writeAfar(_ operations: [Operation]) throws {
        changes += operations.count
        let afar = try self.afar ?? test.foreignRealm()
        self.afar = afar
        // Old rows are not handed over: what rests on them is told once too often rather than not at all.
        isLoose = true
        afar.refresh()
        try afar.write { for operation in operations { operation.perform(&world, afar) } }
        worlds[afar.context.version] = world
        test.realm.context.coordinator.lookForExternalCommits()
    }

    private func settle() {
        while !test.realm.context.hub.isIdle {
            guard test.scheduler.waitForTurn() else {
                failure = failure ?? "no turn came"
                return
            }
            _ = test.scheduler.turn()
        }
    }

    // MARK: Hearing

    private func hear(_ watcher: Watcher, _ judge: (World, World) -> String?) {
        calls += 1
        guard failure == nil else { return }
        let shown = test.realm.context.version
        guard let now = worlds[shown] else {
            failure = "\(watcher.name) is called at a version that nobody wrote"
            return
        }
        let oldest = watcher.known.map(\.time).min() ?? 0
        let candidates =
            hasNested ? worlds.filter { $0.key <= shown && $0.value.time >= oldest }.map(\.value) : [now]
        if watcher.known.isEmpty {
            watcher.known = candidates
        } else {
            let told = Item.$isLoose.withValue(isLoose) {
                candidates.filter { new in watcher.known.contains { judge($0, new) == nil } }
            }
            if told.isEmpty, let known = watcher.known.last {
                failure = "\(watcher.name): \(judge(known, now) ?? "")"
                return
            }
            watcher.known = told
        }
        compare(watcher, now)
        write(in: watcher)
    }

    private func compare(_ watcher: Watcher, _ now: World) {
        if let (actual, expected) = watcher.live(now), actual != expected {
            failure = failure ?? "\(watcher.name) shows \(actual) instead of \(expected)"
        }
    }

    private func write(in watcher: Watcher) {
        guard !watcher.nested.isEmpty, !test.realm.isInWriteTransaction else { return }
        let operations = watcher.nested
        watcher.nested = []
        hasNested = true
        hasWritten = true
        do {
            // Others may have written more: then this call becomes a nested round.
            try write(operations)
        } catch {
            failure = failure ?? "\(error)"
        }
    }

    /// After everything was delivered nothing may be missing.
    private func check() {
        guard failure == nil else { return }
        guard let now = worlds[test.realm.context.version] else {
            failure = "the Realm shows a version that nobody wrote"
            return
        }
        for watcher in watchers {
            guard let known = watcher.known.last else {
                failure = failure ?? "\(watcher.name) has had no first call"
                return
            }
            if watcher.known.allSatisfy({ watcher.missing($0, now) != nil }), let missing = watcher.missing(known, now)
            {
                failure = failure ?? "\(watcher.name): \(missing)"
            }
            compare(watcher, now)
            watcher.known = [now]
        }
        hasNested = false
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
