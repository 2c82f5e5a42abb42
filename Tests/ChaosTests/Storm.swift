import Foundation
import MartletTestSupport

@testable import ChaosWorker

/// What was found to be wrong in a storm.
struct Wreck: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Four processes on one file, which are stopped and killed at random until enough have died.
final class Storm {
    struct Totals {
        var kills = 0
        var stops = 0
        var calms = 0
        /// How often the lock file was deleted or replaced.
        var lockLosses = 0

        static func += (left: inout Totals, right: Totals) {
            left.kills += right.kills
            left.stops += right.stops
            left.calms += right.calms
            left.lockLosses += right.lockLosses
        }
    }

    private let executable: URL
    private let folder: String
    private var random: Seeded
    private var living: [WorkerProcess] = []
    private(set) var past: [WorkerProcess] = []
    private(set) var totals = Totals()
    private var incarnations = 0
    /// Waits for nobody but the clock.
    private let nobody = DispatchSemaphore(value: 0)

    init(_ executable: URL, _ folder: String, _ seed: UInt64) {
        (self.executable, self.folder) = (executable, folder)
        random = Seeded(state: seed)
    }

    deinit { for worker in living { worker.signal(SIGKILL) } }

    /// Runs until so many processes were killed, and then to a quiet end.
    func run(kills: Int) throws {
        for place in 0..<4 { living.append(try start(place)) }
        var nextCalm = Int.random(in: 5...20, using: &random)
        while totals.kills < kills {
            pause(milliseconds: Int.random(in: 5...70, using: &random))
            try replaceDead()
            continueStopped()
            let victim = living[Int.random(in: 0..<4, using: &random)]
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<3: victim.signal(SIGKILL)
            case 3..<6:
                victim.signal(SIGSTOP)
                victim.stoppedUntil = Self.now + UInt64.random(in: 10_000_000...700_000_000, using: &random)
                totals.stops += 1
            case 6: try loseLock()
            default: break
            }
            if totals.kills >= nextCalm {
                try calm()
                nextCalm += Int.random(in: 10...25, using: &random)
            }
        }
        // Nobody goes on after the last one, to be ended by its own fate before it is told to quit.
        try calm(isLast: true)
        for worker in living {
            worker.signal(Assignment.Order.quit)
            guard worker.ends(), worker.outcome == "status 0" else { throw wreck(worker, "did not end in peace") }
            worker.listen()
        }
        past += living
        living = []
    }

    // As a program does that cleans up, or that restores a backup with all files beside it.
    private func loseLock() throws {
        let lock = "\(folder)/storm.realm.lock"
        if Bool.random(using: &random) {
            unlink(lock)
        } else {
            try Data().write(to: URL(fileURLWithPath: lock + ".new"))
            rename(lock + ".new", lock)
        }
        totals.lockLosses += 1
    }

    private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    private func pause(milliseconds: Int) { _ = nobody.wait(timeout: .now() + .milliseconds(milliseconds)) }

    private func start(_ place: Int) throws -> WorkerProcess {
        incarnations += 1
        let role: Assignment.Role =
            switch place {
            case 0: .writer
            case 1: .both
            case 2: .observer
            default: Assignment.Role.allCases[Int.random(in: 0..<3, using: &random)]
            }
        return try WorkerProcess(
            executable, Assignment(role: role, folder: folder, incarnation: incarnations, seed: random.next()))
    }

    // Some stop by themselves, so everybody is continued who is not to be stopped.
    private func continueStopped() {
        for worker in living where worker.stoppedUntil < Self.now { worker.signal(SIGCONT) }
    }

    private func replaceDead() throws {
        for place in living.indices {
            let worker = living[place]
            worker.listen()
            if worker.failure != nil { throw wreck(worker, "found something wrong") }
            guard !worker.isRunning else { continue }
            guard worker.ends(), worker.wasKilled else { throw wreck(worker, "ended by itself") }
            worker.listen()
            totals.kills += 1
            past.append(worker)
            living[place] = try start(place)
        }
    }

    private func wreck(_ worker: WorkerProcess, _ what: String) -> Wreck {
        worker.listen()
        let errors = try? String(contentsOfFile: "\(folder)/\(worker.assignment.incarnation).errors", encoding: .utf8)
        let said = worker.failure ?? errors.map { String($0.prefix(2_000)) } ?? ""
        return Wreck(
            "process \(worker.assignment.incarnation) (\(worker.assignment.role)) \(what), \(worker.outcomeIfEnded): \(said)"
        )
    }

    // MARK: Calm

    /// Waits for something that is late only when it never comes.
    private func wait(_ what: String, until isDone: (WorkerProcess) -> Bool, whileDead: () throws -> Void) throws {
        let deadline = Self.now + 60_000_000_000
        while true {
            try replaceDead()
            try whileDead()
            guard let last = living.first(where: { !isDone($0) }) else { return }
            guard Self.now < deadline else { throw wreck(last, "was waited for in vain, to \(what)") }
            pause(milliseconds: 5)
        }
    }

    /// Lets everybody come to rest: then each observer must have been told of the last transaction, by nothing but the signals
    /// of those who commit, since nobody opens or closes the file any more.
    private func calm(isLast: Bool = false) throws {
        totals.calms += 1
        try pauseAll()
        let newest = living.map(\.pausedSequence).max() ?? 0
        try wait("hear of transaction \(newest)") { worker in
            !worker.assignment.role.observes || worker.sequenceSeen == newest
        } whileDead: {
        }
        for worker in living { worker.order(Assignment.Order.check) }
        try wait("check") { worker in
            worker.answer.contains { if case .checked = $0 { true } else { false } }
        } whileDead: {
        }
        if isLast { return }
        for worker in living { worker.order(Assignment.Order.go) }
    }

    /// Waits until every process has paused. A process that is killed meanwhile may have committed without a signal after others
    /// had paused: then the last transaction is written once more.
    private func pauseAll() throws {
        var ordered: Set<Int> = []
        var known: Int
        repeat {
            known = incarnations
            try wait("pause") { worker in
                worker.answer.contains { if case .paused = $0 { true } else { false } }
                    && ordered.contains(worker.assignment.incarnation)
            } whileDead: {
                for worker in living {
                    worker.stoppedUntil = 0
                    worker.signal(SIGCONT)
                    guard worker.isReady, ordered.insert(worker.assignment.incarnation).inserted else { continue }
                    worker.order(Assignment.Order.pause)
                }
            }
            // The first is a writer: it writes again before it answers.
            if incarnations != known { living[0].order(Assignment.Order.pause) }
        } while incarnations != known
    }
}

extension WorkerProcess {
    fileprivate var pausedSequence: Int {
        for case .paused(let sequence) in entries.reversed() { return sequence }
        return 0
    }

    fileprivate var outcomeIfEnded: String { isRunning ? "and lives" : outcome }
}
