import ConformanceModels
import Foundation
import Martlet
import MartletEngine
import ModelTesting

/// The options of one process, passed as its arguments.
struct WorkerOptions {
    /// Whether the process writes, observes, or both.
    enum Role: String, CaseIterable {
        case writer, observer, both

        var writes: Bool { self != .observer }
        var observes: Bool { self != .writer }
    }

    let role: Role
    let folder: String
    /// The number of the process, unique within a run.
    let processNumber: Int
    let seed: UInt64

    var file: String { "\(folder)/crash.realm" }
    /// The number of commits whose change sets the file keeps. The number is small, so that change sets are deleted
    /// while a process is suspended.
    static let changeRetention: UInt64 = 24
    static func journal(_ folder: String, _ processNumber: Int) -> String { "\(folder)/\(processNumber).journal" }

    var arguments: [String] { [role.rawValue, folder, "\(processNumber)", "\(seed)"] }

    init(role: Role, folder: String, processNumber: Int, seed: UInt64) {
        (self.role, self.folder, self.processNumber, self.seed) = (role, folder, processNumber, seed)
    }

    init?(_ arguments: [String]) {
        guard arguments.count == 4, let role = Role(rawValue: arguments[0]), let processNumber = Int(arguments[2]),
            let seed = UInt64(arguments[3])
        else { return nil }
        self.init(role: role, folder: arguments[1], processNumber: processNumber, seed: seed)
    }

    /// The signals that the test sends as commands.
    enum Command {
        // Of several pending signals, the system delivers the one with the lowest number first. 'go' has a lower number
        // than 'pause', so a pending 'go' is delivered before a 'pause' that is sent later.
        static let go = SIGUSR1
        static let pause = SIGUSR2
        /// The command to compare the copies of the observers with the contents of the file.
        static let check = SIGHUP
        static let quit = SIGTERM
        static let all = [pause, go, check, quit]
    }
}

extension Realm.Configuration {
    /// The configuration with which all processes open the file.
    static func crashTest(_ file: String) -> Realm.Configuration {
        var configuration = Realm.Configuration(
            fileURL: URL(fileURLWithPath: file), objectTypes: [Node.self, Part.self, Screw.self, IntKey.self])
        configuration.durability = .normal
        configuration.environment.writeTimeoutMilliseconds = 120_000
        configuration.environment.changeRetention = WorkerOptions.changeRetention
        configuration.environment.checkpointFrames = 80
        // The engine does not poll for commits: if a process does not signal a commit to the other processes, the test
        // fails.
        configuration.environment.missedCommitPollMilliseconds = 0
        return configuration
    }
}

/// Performs the role of one process: opens the file, writes to it or observes it, and executes the commands of the
/// test.
///
/// Thread safety: everything except `options` and `journal` is used only on `queue`.
// Sendable for the reason above.
final class Worker: @unchecked Sendable {
    private let options: WorkerOptions
    private let journal: Journal
    private let queue = DispatchQueue(label: "worker")
    private let crashInjector: CrashInjector
    private let configuration: Realm.Configuration
    private var random: SeededRandom
    private var realm: Realm?
    private var observers: Observers?
    /// The number of transactions that this process has created.
    private var transactionCount = 0
    /// The position of the newest committed transaction of this process among the transactions of all processes.
    private var newestPosition = 0
    private var isPaused = false
    private var shouldPause = false
    private let parent = getppid()

    init(_ options: WorkerOptions) {
        self.options = options
        journal = Journal(WorkerOptions.journal(options.folder, options.processNumber))
        random = SeededRandom(seed: options.seed)
        let crashInjector = CrashInjector(options.seed ^ 1, odds: 1_500)
        self.crashInjector = crashInjector
        var configuration = Realm.Configuration.crashTest(options.file)
        configuration.environment.onYield = { _ in crashInjector.yieldPointReached() }
        if options.seed.isMultiple(of: 5) { configuration.durability = .full }
        self.configuration = configuration
    }

    func begin() {
        queue.async { [self] in
            open()
            journal.write(.ready)
            if options.role.writes { scheduleNextWrite() }
            exitWithParent()
        }
    }

    // Ends this process if the test process has ended.
    private func exitWithParent() {
        if getppid() != parent { exit(4) }
        queue.asyncAfter(deadline: .now() + 1) { [self] in exitWithParent() }
    }

    func execute(command: Int32) {
        queue.async { [self] in
            switch command {
            case WorkerOptions.Command.pause:
                crashInjector.setEnabled(false)
                shouldPause = true
                observers?.isQuiet = true
                if !options.role.writes {
                    pause()
                } else if isPaused {
                    isPaused = false
                    writeAndPause()
                }
            case WorkerOptions.Command.go:
                crashInjector.setEnabled(true)
                (shouldPause, isPaused) = (false, false)
                observers?.isQuiet = false
                if options.role.writes { scheduleNextWrite() }
            case WorkerOptions.Command.check:
                check(tries: options.role.writes ? 200 : 0)
            default:
                (observers, realm) = (nil, nil)
                exit(0)
            }
        }
    }

    // Compares the copies of the observers with the file. A process that writes may not have been notified of its last
    // commits yet, so it compares again every 100 ms, at most `tries` times. A process that only observes has been
    // notified of all changes before it gets this command. An observer that was added in a callback may still wait for
    // its initial call.
    private func check(tries: Int) {
        if observers?.awaitsFirstCall == true {
            // The test fails if this process does not answer within 60 s.
            queue.asyncAfter(deadline: .now() + .milliseconds(10)) { [self] in check(tries: tries) }
            return
        }
        if let difference = observers?.difference {
            if tries == 0 { journal.fail(difference) }
            queue.asyncAfter(deadline: .now() + .milliseconds(100)) { [self] in check(tries: tries - 1) }
        } else {
            journal.write(.checked(sequence: observers?.sequence ?? newestPosition))
        }
    }

    private func open() {
        do {
            let realm = try Realm(configuration: configuration, queue: queue)
            self.realm = realm
            if options.role.observes { observers = Observers(realm, queue, journal, options.seed) }
        } catch {
            journal.fail("the file could not be opened: \(error)")
        }
    }

    // MARK: Writing

    private func scheduleNextWrite() {
        if shouldPause { return writeAndPause() }
        queue.asyncAfter(deadline: .now() + .microseconds(Int.random(in: 0..<6_000, using: &random))) { [self] in
            if shouldPause { return writeAndPause() }
            switch Int.random(in: 0..<40, using: &random) {
            case 0 where observers == nil:
                // The last process that closes the file runs a checkpoint and truncates the log.
                realm = nil
                open()
                scheduleNextWrite()
            case 1..<9: writeGroup(Int.random(in: 2...4, using: &random))
            default:
                for _ in 0..<Int.random(in: 1...3, using: &random) { write() }
                scheduleNextWrite()
            }
        }
    }

    /// Commits two more transactions and pauses. If a process was killed while the processes paused, the test sends the
    /// command `pause` again to the first process of `CrashTest.running`, which is a writer. This function then runs
    /// again in that process. So the last transaction is always committed after the last kill.
    private func writeAndPause() {
        guard !isPaused else { return }
        for _ in 0..<2 { write() }
        pause()
    }

    private func pause() {
        isPaused = true
        journal.write(.paused(sequence: newestPosition))
    }

    private func write() {
        guard let realm else { return }
        let (transaction, origin) = nextTransaction()
        let begun = Journal.now
        do {
            // After the write, the Realm may show a version that is newer than its own commit: if the lock file was
            // deleted during the write, another process may also have committed.
            let (sequence, version) = try realm.write { (transaction.perform(realm, origin), realm.version + 1) }
            if realm.version < version {
                journal.fail("version \(realm.version) after the commit of version \(version)")
            }
            acknowledge(origin, sequence, begun, version: version)
        } catch {
            journal.fail("a write was refused: \(error)")
        }
    }

    private func writeGroup(_ count: Int) {
        guard let realm else { return }
        for position in 1...count {
            let (transaction, origin) = nextTransaction()
            let begun = Journal.now
            var sequence = 0
            realm.writeAsync {
                sequence = transaction.perform(realm, origin)
            } onComplete: { [self] error in
                if let error { journal.fail("an asynchronous write was refused: \(error)") }
                // The version is unknown: the Realm may already show the last write of the group.
                acknowledge(origin, sequence, begun, version: 0)
                if position == count { scheduleNextWrite() }
            }
        }
    }

    private func nextTransaction() -> (Transaction, TransactionOrigin) {
        transactionCount += 1
        let origin = TransactionOrigin(processNumber: options.processNumber, number: transactionCount)
        return (Transaction(random.next()), origin)
    }

    private func acknowledge(_ origin: TransactionOrigin, _ sequence: Int, _ begun: UInt64, version: UInt64) {
        newestPosition = max(newestPosition, sequence)
        journal.write(
            .acknowledged(
                number: origin.number, sequence: sequence, version: version, begun: begun, done: Journal.now))
    }
}
