import Foundation
import ModelTesting

@testable import ChaosWorker

/// An error that a crash test has found.
struct Violation: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Runs four processes on one file, and suspends and kills them at random. Every killed process is replaced by a new
/// one.
final class CrashTest {
    struct Totals {
        var kills = 0
        var suspensions = 0
        /// How often the test checked the processes while none of them wrote.
        var quietChecks = 0
        /// How often the test deleted or replaced the lock file.
        var lockFileChanges = 0

        static func += (left: inout Totals, right: Totals) {
            left.kills += right.kills
            left.suspensions += right.suspensions
            left.quietChecks += right.quietChecks
            left.lockFileChanges += right.lockFileChanges
        }
    }

    private let executable: URL
    private let folder: String
    private var random: SeededRandom
    private var running: [WorkerProcess] = []
    private(set) var endedWorkers: [WorkerProcess] = []
    private(set) var totals = Totals()
    private var startedProcesses = 0
    /// A semaphore that is never signaled. Waiting for it with a timeout pauses the thread.
    private let never = DispatchSemaphore(value: 0)

    init(_ executable: URL, _ folder: String, _ seed: UInt64) {
        (self.executable, self.folder) = (executable, folder)
        random = SeededRandom(seed: seed)
    }

    deinit { for worker in running { worker.signal(SIGKILL) } }

    /// Runs until at least the given number of processes have been killed. Then checks the remaining processes and ends
    /// them.
    func run(kills: Int) throws {
        for slot in 0..<4 { running.append(try start(slot)) }
        var nextCheck = Int.random(in: 5...20, using: &random)
        while totals.kills < kills {
            pause(milliseconds: Int.random(in: 5...70, using: &random))
            try replaceDead()
            resumeSuspended()
            let victim = running[Int.random(in: 0..<4, using: &random)]
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<3: victim.signal(SIGKILL)
            case 3..<6:
                victim.signal(SIGSTOP)
                victim.suspendedUntil = Self.now + UInt64.random(in: 10_000_000...700_000_000, using: &random)
                totals.suspensions += 1
            case 6: try deleteOrReplaceLockFile()
            default: break
            }
            if totals.kills >= nextCheck {
                try quiesce()
                nextCheck += Int.random(in: 10...25, using: &random)
            }
        }
        // The processes do not continue after the last check: a process that continued could kill itself before it
        // received the command to quit.
        try quiesce(isLast: true)
        for worker in running {
            worker.signal(WorkerOptions.Command.quit)
            guard worker.waitForExit(), worker.outcome == "status 0" else {
                throw violation(worker, "did not end normally")
            }
            worker.readJournal()
        }
        endedWorkers += running
        running = []
    }

    // Imitates a program that deletes temporary files, or a program that restores a backup of all files.
    private func deleteOrReplaceLockFile() throws {
        let lock = "\(folder)/crash.realm.lock"
        if Bool.random(using: &random) {
            unlink(lock)
        } else {
            try Data().write(to: URL(fileURLWithPath: lock + ".new"))
            rename(lock + ".new", lock)
        }
        totals.lockFileChanges += 1
    }

    private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    private func pause(milliseconds: Int) { _ = never.wait(timeout: .now() + .milliseconds(milliseconds)) }

    private func start(_ slot: Int) throws -> WorkerProcess {
        startedProcesses += 1
        let role: WorkerOptions.Role =
            switch slot {
            case 0: .writer
            case 1: .both
            case 2: .observer
            default: WorkerOptions.Role.allCases[Int.random(in: 0..<3, using: &random)]
            }
        return try WorkerProcess(
            executable, WorkerOptions(role: role, folder: folder, processNumber: startedProcesses, seed: random.next()))
    }

    // Processes also suspend themselves. So this function resumes every process that the test does not keep suspended.
    private func resumeSuspended() {
        for worker in running where worker.suspendedUntil < Self.now { worker.signal(SIGCONT) }
    }

    private func replaceDead() throws {
        for slot in running.indices {
            let worker = running[slot]
            worker.readJournal()
            if worker.failure != nil { throw violation(worker, "found an error") }
            guard !worker.isRunning else { continue }
            guard worker.waitForExit(), worker.wasKilled else { throw violation(worker, "ended without being killed") }
            worker.readJournal()
            totals.kills += 1
            endedWorkers.append(worker)
            running[slot] = try start(slot)
        }
    }

    private func violation(_ worker: WorkerProcess, _ what: String) -> Violation {
        worker.readJournal()
        let errors = try? String(contentsOfFile: "\(folder)/\(worker.options.processNumber).errors", encoding: .utf8)
        let details = worker.failure ?? errors.map { String($0.prefix(2_000)) } ?? ""
        return Violation(
            "process \(worker.options.processNumber) (\(worker.options.role)) \(what), \(worker.outcomeIfEnded): \(details)"
        )
    }

    // MARK: Checks without writes

    /// Waits until all processes satisfy a condition, and meanwhile replaces killed processes. Throws after 60 s.
    private func wait(_ what: String, until isDone: (WorkerProcess) -> Bool, onEachPass: () throws -> Void) throws {
        let deadline = Self.now + 60_000_000_000
        while true {
            try replaceDead()
            try onEachPass()
            guard let unfinished = running.first(where: { !isDone($0) }) else { return }
            guard Self.now < deadline else { throw violation(unfinished, "did not \(what)") }
            pause(milliseconds: 5)
        }
    }

    /// Pauses all processes, and checks that each observer is notified of the last transaction. No process opens or
    /// closes the file during this check. So the only possible cause of the notification is the signal that a writer
    /// sends to the other processes after a commit.
    private func quiesce(isLast: Bool = false) throws {
        totals.quietChecks += 1
        try pauseAll()
        let newest = running.map(\.pausedSequence).max() ?? 0
        try wait("receive transaction \(newest)") { worker in
            !worker.options.role.observes || worker.sequenceSeen == newest
        } onEachPass: {
        }
        for worker in running { worker.send(command: WorkerOptions.Command.check) }
        try wait("check") { worker in
            worker.answer.contains { if case .checked = $0 { true } else { false } }
        } onEachPass: {
        }
        if isLast { return }
        for worker in running { worker.send(command: WorkerOptions.Command.go) }
    }

    /// Pauses every process, and waits until all have paused. A process that is killed during the wait may have
    /// committed a transaction without signaling the commit to the other processes. In this case the first process
    /// writes further transactions, and signals them to the observers.
    private func pauseAll() throws {
        var commanded: Set<Int> = []
        var known: Int
        repeat {
            known = startedProcesses
            try wait("pause") { worker in
                worker.answer.contains { if case .paused = $0 { true } else { false } }
                    && commanded.contains(worker.options.processNumber)
            } onEachPass: {
                for worker in running {
                    worker.suspendedUntil = 0
                    worker.signal(SIGCONT)
                    guard worker.isReady, commanded.insert(worker.options.processNumber).inserted else { continue }
                    worker.send(command: WorkerOptions.Command.pause)
                }
            }
            // The first process is a writer. When it gets the command to pause again, it writes again before it
            // answers.
            if startedProcesses != known { running[0].send(command: WorkerOptions.Command.pause) }
        } while startedProcesses != known
    }
}

extension WorkerProcess {
    fileprivate var pausedSequence: Int {
        for case .paused(let sequence) in entries.reversed() { return sequence }
        return 0
    }

    fileprivate var outcomeIfEnded: String { isRunning ? "and is still running" : outcome }
}
