import ConformanceModels
import Foundation
import Martlet
import MartletSQLite
import MartletTestSupport
import MartletValues
import ModelTesting
import Testing

@testable import ChaosWorker

/// Copies backups over the file of a writing process, after the process was killed or while it has the file open.
/// Afterwards the file must contain the backup, and no later transaction that was committed before the copy. If the
/// test kills a process without copying a backup, the file must contain all acknowledged transactions.
@Suite("crash tests with restores")
struct RestoreChaosTests {
    private struct Backup {
        let path: String
        let state: FileState
    }

    private struct Totals {
        var (kills, restores, restoresWhileOpen, refusals) = (0, 0, 0, 0)
    }

    @Test("a backup replaces the file over which it is copied, whether or not WAL and lock files remain D20")
    func restores() throws {
        let environment = ProcessInfo.processInfo.environment
        let rounds = environment["MARTLET_CHAOS"].flatMap { Int($0) }.map { max(6, $0 / 20) } ?? 6
        let seed = environment["MARTLET_CHAOS_SEED"].flatMap { UInt64($0) } ?? .random(in: 1...999_999)
        let executable = try #require(ChaosTests.worker(), "build the whole package first: swift build --build-tests")
        let folder = FileManager.default.temporaryDirectory.appending(path: "martlet-restores-\(seed)")
        try? FileManager.default.removeItem(at: folder)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var random = SeededRandom(seed: seed)
        var backups: [Backup] = []
        var totals = Totals()
        for round in 1...rounds {
            do {
                let options = WorkerOptions(
                    role: .writer, folder: folder.path, processNumber: round, seed: random.next() | 1)
                let worker = try WorkerProcess(executable, options)
                try run(worker, round, backups, &random, &totals)
                try backups.append(backUp(options.file, round, &random))
            } catch {
                Issue.record("seed \(seed), round \(round): \(error); the files are in \(folder.path)")
                return
            }
        }
        print(
            "chaos with restores: seed \(seed), \(totals.kills) killed, \(totals.restores) restored, "
                + "\(totals.restoresWhileOpen) of them while open, \(totals.refusals) processes refused to write")
        try FileManager.default.removeItem(at: folder)
    }

    private func run(
        _ worker: WorkerProcess, _ round: Int, _ backups: [Backup], _ random: inout SeededRandom, _ totals: inout Totals
    ) throws {
        try wait(worker) { worker.isReady }
        pause(milliseconds: Int.random(in: 20...150, using: &random))
        let backup = Int.random(in: 0..<3, using: &random) == 0 ? nil : backups.randomElement(using: &random)
        let restoresWhileOpen = backup != nil && Bool.random(using: &random) && worker.isRunning
        if restoresWhileOpen, let backup {
            worker.send(command: WorkerOptions.Command.pause)
            try wait(worker) { worker.answer.contains { if case .paused = $0 { true } else { false } } }
            // A checkpoint may still be running. The pause gives the checkpoint time to end.
            pause(milliseconds: 200)
            if worker.isRunning { return try restoreWhileOpen(worker, backup, &totals) }
        }
        worker.signal(SIGKILL)
        guard worker.waitForExit() else { throw Violation("process \(round) did not end") }
        worker.readJournal()
        if let failure = worker.failure { throw Violation("process \(round): \(failure)") }
        totals.kills += 1
        let file = worker.options.file
        if let backup {
            try Data(contentsOf: URL(fileURLWithPath: backup.path)).write(to: URL(fileURLWithPath: file))
            for suffix in ["-wal", "-shm", ".lock"] where Bool.random(using: &random) { unlink(file + suffix) }
            totals.restores += 1
            try expect(file, "the backup") { $0 == backup.state }
        } else {
            let acknowledged = worker.entries.compactMap { entry in
                if case .acknowledged(_, let sequence, _, _, _) = entry { sequence } else { nil }
            }
            let last = acknowledged.max() ?? 0
            try expect(file, "at least \(last) transactions") { $0.sequence >= last }
        }
    }

    // If the process still has the file open, its next write must fail and change nothing. If the process has reopened
    // the file after the copy, it continues with the contents of the backup.
    private func restoreWhileOpen(_ worker: WorkerProcess, _ backup: Backup, _ totals: inout Totals) throws {
        let file = worker.options.file
        try Data(contentsOf: URL(fileURLWithPath: backup.path)).write(to: URL(fileURLWithPath: file))
        totals.restores += 1
        totals.restoresWhileOpen += 1
        let before = worker.entries
        worker.send(command: WorkerOptions.Command.go)
        pause(milliseconds: 500)
        worker.signal(SIGKILL)
        guard worker.waitForExit() else { throw Violation("the process did not end") }
        worker.readJournal()
        if let failure = worker.failure {
            guard failure.contains("fileReplaced") else {
                throw Violation("the process failed with another error: \(failure)")
            }
            totals.refusals += 1
            return try expect(file, "the backup, because the process refused to write") { $0 == backup.state }
        }
        let added = try addedTransactions(file, backup, worker.options.processNumber, after: before.lastNumber)
        let acknowledged = worker.entries.lastNumber
        guard acknowledged == before.lastNumber || added.last ?? 0 >= acknowledged else {
            throw Violation("transaction \(acknowledged) was acknowledged, but only \(added) follow the backup")
        }
        let expected = try added.isEmpty ? backup.state : replayed(file, on: backup.state)
        try expect(file, "the backup, and transactions \(added) of the process") { $0 == expected }
    }

    /// The numbers of the transactions in the file that follow the transactions of the backup. Throws if one of them is
    /// not of this process, or was committed before the backup was copied over the file.
    private func addedTransactions(
        _ file: String, _ backup: Backup, _ processNumber: Int, after number: Int
    ) throws -> [Int] {
        let realm = try Realm(configuration: .crashTest(file))
        return try realm.objects(IntKey.self).where { $0.id > backup.state.sequence }.sorted(byKeyPath: "id").map {
            row in
            let words = row.content.split(separator: " ").compactMap { Int($0) }
            guard words.count >= 2, words[0] == processNumber, words[1] > number else {
                throw Violation("the backup is followed by the transaction '\(row.content)'")
            }
            return words[1]
        }
    }

    /// Applies the transactions that follow `state` in the file, and returns the resulting state.
    private func replayed(_ file: String, on state: FileState) throws -> FileState {
        let realm = try Realm(configuration: .crashTest(file))
        var state = state
        for row in realm.objects(IntKey.self).where({ $0.id > state.sequence }).sorted(byKeyPath: "id") {
            guard let seed = row.content.split(separator: " ").last.flatMap({ UInt64($0) }) else { continue }
            state.apply(Transaction(seed))
        }
        return state
    }

    private func backUp(_ file: String, _ round: Int, _ random: inout SeededRandom) throws -> Backup {
        let path = "\(file).backup-\(round)"
        let usesWriteCopy = Bool.random(using: &random)
        let state = try {
            let realm = try Realm(configuration: .crashTest(file))
            if usesWriteCopy { try realm.writeCopy(toFile: URL(fileURLWithPath: path)) }
            return FileState(realm)
        }()
        // After the Realm is closed, the database file is complete without its WAL.
        if !usesWriteCopy { try FileManager.default.copyItem(atPath: file, toPath: path) }
        return Backup(path: path, state: state)
    }

    private func expect(_ file: String, _ contents: String, _ condition: (FileState) -> Bool) throws {
        do {
            let state = try FileState(Realm(configuration: .crashTest(file)))
            guard condition(state) else {
                throw Violation(
                    "the file does not have the expected contents (\(contents)) after \(state.sequence) transactions")
            }
        }
        let connection = try Connection(ConnectionOptions(path: file))
        defer { connection.close() }
        let integrity = try connection.value("PRAGMA integrity_check")
        guard integrity == .text("ok") else { throw Violation("the file is damaged: \(String(describing: integrity))") }
    }

    /// A semaphore that is never signaled. Waiting for it with a timeout pauses the thread.
    private let never = DispatchSemaphore(value: 0)

    private func pause(milliseconds: Int) { _ = never.wait(timeout: .now() + .milliseconds(milliseconds)) }

    // The process may suspend or kill itself at any time. So the loop resumes the process with SIGCONT, and stops
    // waiting when the process has ended.
    private func wait(_ worker: WorkerProcess, until isDone: () -> Bool) throws {
        let deadline = DispatchTime.now().uptimeNanoseconds + 60_000_000_000
        while worker.isRunning && !isDone() {
            guard DispatchTime.now().uptimeNanoseconds < deadline else {
                throw Violation("the process does not answer")
            }
            worker.signal(SIGCONT)
            pause(milliseconds: 5)
            worker.readJournal()
        }
    }
}

extension [Entry] {
    /// The greatest number of an acknowledged transaction of the process; 0 if there is none.
    fileprivate var lastNumber: Int {
        map { if case .acknowledged(let number, _, _, _, _) = $0 { number } else { 0 } }.max() ?? 0
    }
}
